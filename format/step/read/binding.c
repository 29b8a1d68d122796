/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches two definitions, record by record and slot by slot.
 *
 * A program is compiled with one version of a definition and reads files of others.  Records and
 * fields are matched by name, so that a later version may add fields and records, and put them in
 * another order.  A record that the program does not know is read as its nearest ancestor that it
 * knows, which the paper's inheritance is for (section 2). Where both have the same slots in the
 * same places, which is the usual case, a view of the file's record is used as it is.
 *
 * All names are compared when the binding is made, once for a file.  For each record there remains
 * a table from our slots to those of the file; a slot that the file lacks has the empty value of
 * its type.
 *
 * The invariant that makes ancestors cheap: a record's slots begin with those of its parent.  It is
 * checked for both definitions (inherits_slots()), since one may come from a compiled table.  So
 * one table serves a record and all of its ancestors, which use the first part of it.
 */
#include "steptrace/binding.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/language/dl_tree.h"

static bool same_layout(const struct step_binding *binding, uint32_t ours, uint32_t theirs);

/* Returns true if a value of the file's field can be read as one of ours.  A field of the same name
 * but of another kind is treated as absent, since its bits would mean something else. */
static bool binding_fits(const struct step_binding *binding, const struct step_field *ours,
                         const struct step_field *theirs)
{
    if (ours->kind != theirs->kind || ours->array_depth != theirs->array_depth ||
        step_field_is_identifier(ours) != step_field_is_identifier(theirs) ||
        step_field_is_variant(ours) != step_field_is_variant(theirs))
        return false;
    /* a variant has its type's number in the file's definition, like a view */
    if (step_field_is_variant(ours))
        return true;
    /* an identifier is an index in the dictionary of its type, and meaningless in another */
    if (step_field_is_identifier(ours) && ours->kind == STEP_TYPE_RECORD)
        return strcmp(binding->ours->records[ours->record].name,
                      binding->file->records[theirs->record].name) == 0;
    /* the elements of an array of records have the file's layout, so it must be identical */
    return ours->array_depth == 0 || ours->kind != STEP_TYPE_RECORD ||
           step_field_is_identifier(ours) || same_layout(binding, ours->record, theirs->record);
}

/* Compares the fields one by one, in order: unlike map_record() it allows no other order and no
 * further field, because nothing copies the elements of an array. */
static bool same_layout(const struct step_binding *binding, uint32_t ours, uint32_t theirs)
{
    const struct step_record *a = &binding->ours->records[ours];
    const struct step_record *b = &binding->file->records[theirs];
    bool same = a->field_count == b->field_count;
    for (size_t i = 0; same && i < a->field_count; i++)
        same = strcmp(a->fields[i].name, b->fields[i].name) == 0 &&
               binding_fits(binding, &a->fields[i], &b->fields[i]) &&
               (!step_field_is_nested(&a->fields[i]) ||
                same_layout(binding, a->fields[i].record, b->fields[i].record));
    return same;
}

static void map_nothing(const struct step_binding *binding, uint32_t ours, uint32_t *slots,
                        size_t *next)
{
    size_t count = step_record_slot_count(binding->ours, ours);
    for (size_t i = 0; i < count; i++)
        slots[(*next)++] = STEP_NO_SLOT;
}

/* Maps the slots of our record to the file's record whose slots start at `base`.  Our slots are
 * passed in their order, so `next` needs no search; theirs are found by name, wherever they are.  A
 * record by value is followed into, so its fields may differ between versions as well. */
static void map_record(const struct step_binding *binding, uint32_t ours, uint32_t theirs,
                       size_t base, uint32_t *slots, size_t *next)
{
    const struct step_record *our_record = &binding->ours->records[ours];
    const struct step_record *their_record = &binding->file->records[theirs];
    for (size_t i = 0; i < our_record->field_count; i++) {
        const struct step_field *field = &our_record->fields[i];
        size_t at = base, j = 0;
        while (j < their_record->field_count &&
               strcmp(their_record->fields[j].name, field->name) != 0)
            at += dl_field_slots(binding->file, &their_record->fields[j++]);
        bool found =
            j < their_record->field_count && binding_fits(binding, field, &their_record->fields[j]);
        if (!step_field_is_nested(field))
            slots[(*next)++] = found ? (uint32_t) at : STEP_NO_SLOT;
        else if (found)
            map_record(binding, field->record, their_record->fields[j].record, at, slots, next);
        else
            map_nothing(binding, field->record, slots, next);
    }
}

/* Returns true if the record's slots start with its parent's.  The parser ensures that, but other
 * tables may violate it. */
static bool begins_like_parent(const struct step_definition *file, const struct step_record *record)
{
    const struct step_record *parent = &file->records[record->parent];
    if (record->field_count < parent->field_count)
        return false;
    for (size_t i = 0; i < parent->field_count; i++) {
        const struct step_field *a = &parent->fields[i], *b = &record->fields[i];
        bool same_attributes =
            a->attributes.items == b->attributes.items && a->sub_attributes == b->sub_attributes;
        if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->record != b->record ||
            a->array_depth != b->array_depth ||
            (!same_attributes && (step_field_is_identifier(a) != step_field_is_identifier(b) ||
                                  step_field_is_variant(a) != step_field_is_variant(b))))
            return false;
    }
    return true;
}

static bool inherits_slots(const struct step_definition *definition)
{
    for (size_t i = 0; i < definition->record_count; i++) {
        const struct step_record *record = &definition->records[i];
        if (record->parent != STEP_NO_RECORD &&
            (record->parent >= i || !begins_like_parent(definition, record)))
            return false;
    }
    return true;
}

static bool map_slots(const struct step_binding *binding, struct step_bound_record *bound,
                      uint32_t file_record)
{
    size_t count = step_record_slot_count(binding->ours, bound->record), next = 0;
    uint32_t *slots = malloc((count + 1) * sizeof *slots);
    if (slots == NULL)
        return false;
    map_record(binding, bound->record, file_record, 0, slots, &next);
    bound->slots = slots;
    bound->slot_count = count;
    bound->same = true;
    for (size_t i = 0; i < count; i++)
        bound->same = bound->same && slots[i] == i;
    return true;
}

/* Binds by name, else like the parent, which comes first: records are numbered with parents before
 * children, and inherits_slots() has checked it.  So an unknown record gets the binding of its
 * nearest known ancestor by one step, as its parent has that already. */
static bool bind_record(struct step_binding *binding, uint32_t file_record, uint32_t known)
{
    struct step_bound_record *bound = &binding->records[file_record];
    const struct step_record *record = &binding->file->records[file_record];
    bound->record = known;
    if (known == STEP_NO_RECORD && record->parent != STEP_NO_RECORD) {
        *bound = binding->records[record->parent]; /* including the slots, which are the parent's */
        return true;
    }
    return bound->record == STEP_NO_RECORD || map_slots(binding, bound, file_record);
}

static bool bind_records(struct step_binding *binding)
{
    const struct step_definition *file = binding->file, *ours = binding->ours;
    bool good = true;
    for (uint32_t i = 0; i < ours->record_count; i++)
        binding->file_records[i] = STEP_NO_RECORD;
    for (uint32_t i = 0; good && i < file->record_count; i++) {
        uint32_t known = step_definition_find(ours, file->records[i].name);
        if (known != STEP_NO_RECORD)
            binding->file_records[known] = i;
        good = bind_record(binding, i, known);
    }
    return good;
}

enum step_status step_binding_create(const struct step_definition *file,
                                     const struct step_definition *ours, struct step_binding **out,
                                     struct step_error *error)
{
    struct step_binding *binding = calloc(1, sizeof *binding);
    *out = NULL;
    if (binding == NULL)
        return step_no_memory(error, NULL);
    if (!inherits_slots(ours) || !inherits_slots(file)) {
        free(binding);
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "a record of the definition does not begin with its parent's fields");
    }
    binding->ours = ours;
    binding->file = file;
    binding->records = calloc(file->record_count + 1, sizeof *binding->records);
    binding->file_records = calloc(ours->record_count + 1, sizeof *binding->file_records);
    if (binding->records == NULL || binding->file_records == NULL || !bind_records(binding)) {
        step_binding_destroy(binding);
        return step_no_memory(error, NULL);
    }
    *out = binding;
    return STEP_STATUS_OK;
}

void step_binding_destroy(struct step_binding *binding)
{
    if (binding == NULL)
        return;
    /* backwards, because a record that shares its parent's slots comes after it */
    for (size_t i = binding->records != NULL ? binding->file->record_count : 0; i-- > 0;) {
        uint32_t parent = binding->file->records[i].parent;
        if (parent == STEP_NO_RECORD || binding->records[parent].slots != binding->records[i].slots)
            free((void *) (uintptr_t) binding->records[i].slots);
    }
    free(binding->records);
    free(binding->file_records);
    free(binding);
}

/* Returns the value of a slot for which the file has no field. */
static uint64_t missing_value(const struct step_binding *binding, uint32_t record, size_t slot)
{
    const struct step_record *ours = &binding->ours->records[record];
    for (size_t i = 0; i < ours->field_count; i++) {
        const struct step_field *field = &ours->fields[i];
        size_t slots = dl_field_slots(binding->ours, field);
        if (slot >= slots) {
            slot -= slots;
            continue;
        }
        if (step_field_is_nested(field))
            return missing_value(binding, field->record, slot);
        return dl_empty_slot(field);
    }
    return 0;
}

/* The caller asks for `record`, and the file's record may be bound to a type that extends it.  That
 * is right for the first `slot_count` slots, by the invariant above; `values` is used only where
 * the layouts differ. */
const uint64_t *step_binding_gather(const struct step_binding *binding,
                                    const struct step_record_view *view, uint32_t record,
                                    size_t slot_count, uint64_t *values)
{
    const struct step_bound_record *bound = &binding->records[view->record];
    if (bound->record == STEP_NO_RECORD || slot_count > bound->slot_count ||
        !step_record_extends(binding->ours, bound->record, record))
        return NULL;
    if (bound->same)
        return view->slots; /* inherited fields come first */
    for (size_t i = 0; i < slot_count; i++)
        values[i] = bound->slots[i] != STEP_NO_SLOT ? view->slots[bound->slots[i]]
                                                    : missing_value(binding, record, i);
    return values;
}

const uint64_t *step_binding_entry(const struct step_binding *binding,
                                   const struct step_reader *reader, uint32_t record, uint64_t id,
                                   size_t slot_count, uint64_t *values)
{
    uint32_t file_record = binding->file_records[record];
    if (file_record == STEP_NO_RECORD)
        return NULL;
    struct step_record_view view = {file_record,
                                    step_reader_dictionary_entry(reader, file_record, id)};
    if (view.slots == NULL)
        return NULL;
    return step_binding_slots(binding, &view, record, slot_count, values);
}
