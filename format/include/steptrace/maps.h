/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records read as others (STEP paper, section 2: the attribute group `map`).
 *
 * An attribute `<map:"to=TARGET,field=source,...">` of a record says how one of it, or of a record
 * that inherits the attribute, reads as a TARGET (docs/formats/step-dl.md).  Nothing is converted
 * but where a reader asks for it, here or through a selection (steptrace/records.h).
 */
#ifndef STEPTRACE_MAPS_H
#define STEPTRACE_MAPS_H

#include "steptrace/definition.h"
#include "steptrace/reader.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)

struct step_maps;

/* Called for each map that is at fault: the record that declares it, and why. */
typedef void (*step_map_report)(void *user, const char *record,
                                const struct step_attribute *attribute, const char *message);

/* The maps of a definition, which is borrowed for their life.  Those at fault are reported
 * (`report` may be NULL) and left out.  LIMIT where they would take more than 64 MiB. */
enum step_status step_maps_create(const struct step_definition *definition, step_map_report report,
                                  void *user, struct step_maps **out, struct step_error *error);
void step_maps_destroy(struct step_maps *maps);

/* The record type that one of type `from` is read as where `to` is asked for: itself if it is or
 * extends `to`; else what its last map makes of it that is or extends `to`; else STEP_NO_RECORD. */
uint32_t step_maps_target(const struct step_maps *maps, uint32_t from, uint32_t to);

/* Reads a record as `to`, or one that extends it.  False if it cannot be.  `out->slots` live as
 * long as those of `view`, and until the next call for the same maps. */
bool step_maps_convert(struct step_maps *maps, const struct step_record_view *view, uint32_t to,
                       struct step_record_view *out);

#pragma GCC visibility pop

#endif
