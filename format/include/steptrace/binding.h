/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding of a compiled definition to that of a file: a program built with one version of a
 * definition reads files of older and newer ones as far as it knows them.
 *
 * Records are matched by absolute name.  A record type that the program does not know is read as
 * its nearest ancestor that it does know.  Fields are matched by name and type: one that the file
 * does not have reads as 0 or empty, one that the program does not know is passed over.  An
 * identifier of another dictionary than ours is another type.
 *
 * A variant (`type=variable`) is a record of its own: it holds the file's number of its type and
 * the file's slots, whatever the two definitions are.  As a view, {variant.record, variant.slots},
 * it is read like any record.  Where the file has no such field its record is STEP_NO_RECORD, which
 * reads as no record at all.
 *
 * The functions that `stepc --c` generates wrap these; use them directly for generic programs.
 */
#ifndef STEPTRACE_BINDING_H
#define STEPTRACE_BINDING_H

#include "steptrace/definition.h"
#include "steptrace/reader.h"
#include "steptrace/value.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define STEP_NO_SLOT UINT32_MAX

/* How one record type of the file is read. */
struct step_bound_record {
    uint32_t record;       /* ours, or STEP_NO_RECORD */
    bool same;             /* the file's slots start with ours, in place */
    const uint32_t *slots; /* for each slot of ours the file's, or STEP_NO_SLOT */
    size_t slot_count;     /* of ours */
};

struct step_binding {
    const struct step_definition *ours;
    const struct step_definition *file;
    struct step_bound_record *records; /* one for each of the file's */
    uint32_t *file_records;            /* for each of ours the file's of that name */
};

/* Both definitions are borrowed for the binding's life.  INVALID for tables in which the slots of a
 * record do not begin with its parent's (no parsed definition is so). */
enum step_status step_binding_create(const struct step_definition *file,
                                     const struct step_definition *ours, struct step_binding **out,
                                     struct step_error *error);
void step_binding_destroy(struct step_binding *binding);

/* The slow path of step_binding_slots. */
const uint64_t *step_binding_gather(const struct step_binding *binding,
                                    const struct step_record_view *view, uint32_t record,
                                    size_t slot_count, uint64_t *values);

/* The record's slots in the order of our record type `record`, which has `slot_count` slots; NULL
 * if it is not of that type.  `values` is room for them, used where the layouts differ. */
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

/* The slots of entry `id` of the dictionary of our record type, as above; NULL if there is none. */
const uint64_t *step_binding_entry(const struct step_binding *binding,
                                   const struct step_reader *reader, uint32_t record, uint64_t id,
                                   size_t slot_count, uint64_t *values);

/* Our record type for a record type of the file, or -1 (of STEP_NO_RECORD, too). */
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
