/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of records to other record types (STEP paper, section 2: the attribute group `map`).
 *
 * An attribute `<map:"to=TARGET,field=source,...">` of a record says how that record, or one that
 * inherits the attribute, is read as a TARGET (docs/formats/step-dl.md).  Records are converted
 * only on request, here or through a selection (steptrace/records.h).
 */
#ifndef STEPTRACE_MAPS_H
#define STEPTRACE_MAPS_H

#include "steptrace/definition.h"
#include "steptrace/reader.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct step_maps;

/* Called for each faulty map with the record that declares it, and the reason. */
typedef void (*step_map_report)(void *user, const char *record,
                                const struct step_attribute *attribute, const char *message);

/* Builds the maps of a definition, which is borrowed for their life.  Faulty maps are reported
 * (`report` may be NULL) and ignored.  LIMIT: the maps would need more than 64 MiB.  Used by one
 * thread at a time. */
enum step_status step_maps_create(const struct step_definition *definition, step_map_report report,
                                  void *user, struct step_maps **out, struct step_error *error);
void step_maps_destroy(struct step_maps *maps);

/* Returns the record type as which a record of type `from` is read if `to` is wanted: `from` if it
 * is or extends `to`, else the target of its last map that is or extends `to`, else
 * STEP_NO_RECORD. */
uint32_t step_maps_target(const struct step_maps *maps, uint32_t from, uint32_t to);

/* Reads a record as `to`, or as a type that extends it.  Returns false if that is not possible.
 * `out->slots` live as long as those of `view`, and until the next call for the same maps. */
bool step_maps_convert(struct step_maps *maps, const struct step_record_view *view, uint32_t to,
                       struct step_record_view *out);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
