/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding of a compiled definition to the definition of a file: a program built with one version of
 * a definition can read files of older and newer versions.
 *
 * Records are matched by absolute name.  A record type that the program does not know is read as
 * its nearest known ancestor.  Fields are matched by name and type: a field that the file lacks
 * reads as 0 or empty; a field that the program does not know is skipped.  An identifier of a
 * different dictionary is a different type.
 *
 * A variant (`type=variable`) is a separate record: it holds the file's type number and the file's
 * slots, whatever the two definitions are.  As a view, {variant.record, variant.slots}, it is read
 * like any record.  If the file lacks the field, its record is STEP_NO_RECORD, which reads as no
 * record.
 *
 * The functions that `stepc --c` generates wrap these; use them directly for generic programs.
 */
#ifndef STEPTRACE_BINDING_H
#define STEPTRACE_BINDING_H

#include "steptrace/definition.h"
#include "steptrace/reader.h"
#include "steptrace/value.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define STEP_NO_SLOT UINT32_MAX

/* How one record type of the file is read. */
struct step_bound_record {
    uint32_t record;       /* our record type, or STEP_NO_RECORD */
    bool same;             /* the file's slots start with ours, in the same order */
    const uint32_t *slots; /* for each of our slots the file's slot, or STEP_NO_SLOT */
    size_t slot_count;     /* number of our slots */
};

struct step_binding {
    const struct step_definition *ours;
    const struct step_definition *file;
    struct step_bound_record *records; /* one for each of the file's records */
    uint32_t *file_records;            /* for each of our records the file's of that name */
};

/* Creates a binding.  Both definitions are borrowed for its life.  INVALID: the slots of a record
 * do not begin with its parent's; this cannot happen with parsed definitions. */
enum step_status step_binding_create(const struct step_definition *file,
                                     const struct step_definition *ours, struct step_binding **out,
                                     struct step_error *error);
void step_binding_destroy(struct step_binding *binding);

/* Slow path of step_binding_slots(). */
const uint64_t *step_binding_gather(const struct step_binding *binding,
                                    const struct step_record_view *view, uint32_t record,
                                    size_t slot_count, uint64_t *values);

/* Returns the record's slots in the order of our record type `record`, or NULL if the record is not
 * of that type.  `values` has room for `slot_count` slots and is used if the layouts differ. */
static inline const uint64_t *step_binding_slots(const struct step_binding *binding,
                                                 const struct step_record_view *view,
                                                 uint32_t record, size_t slot_count,
                                                 uint64_t *values)
{
    if (view->record >= binding->file->record_count)
        return NULL;
    const struct step_bound_record *bound = &binding->records[view->record];
    if (bound->same && bound->record == record)
        return view->slots;
    return step_binding_gather(binding, view, record, slot_count, values);
}

/* Returns the slots of entry `id` in the dictionary of our record type, like step_binding_slots(),
 * or NULL if there is no such entry. */
const uint64_t *step_binding_entry(const struct step_binding *binding,
                                   const struct step_reader *reader, uint32_t record, uint64_t id,
                                   size_t slot_count, uint64_t *values);

/* Returns our record type for a record type of the file, or -1 if there is none. */
static inline int step_binding_record(const struct step_binding *binding, uint32_t file_record)
{
    uint32_t record = file_record < binding->file->record_count
                          ? binding->records[file_record].record
                          : STEP_NO_RECORD;
    return record == STEP_NO_RECORD ? -1 : (int) record;
}

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
