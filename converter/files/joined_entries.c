/* SPDX-License-Identifier: Apache-2.0 */
/* Finds equal entries by their contents, in which ids are already those of the joined trace. */
#include "converter/files/file_joining.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

/* An entry of the joined trace. */
struct joined_entry {
    uint64_t next_equal;              /* 0: none */
    uint32_t first_trace, last_trace; /* that have it */
    bool has_ended;
};

struct joined_type {
    struct joined_entry *entries; /* by id less 1 */
    size_t count, capacity;
    uint64_t *ids; /* by the id in the current trace: that in the joined one, 0: none */
    uint64_t id_count;
};

/* Equal entries. */
struct joined_chain {
    uint64_t first, last, next; /* next: to be looked at for the current trace */
    uint32_t trace;             /* for which `next` is valid */
};

bool joined_entries_init(struct joined_entries *entries, const struct step_definition *definition,
                         struct step_writer *writer)
{
    size_t most = 1;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        size_t count = step_record_slot_count(definition, i);
        most = count > most ? count : most;
    }
    *entries = (struct joined_entries){.definition = definition, .writer = writer};
    entries->types = calloc(definition->record_count + 1, sizeof *entries->types);
    entries->slots = calloc(most, sizeof *entries->slots);
    return entries->types != NULL && entries->slots != NULL;
}

void joined_entries_reset(struct joined_entries *entries)
{
    for (size_t i = 0; entries->types != NULL && i < entries->definition->record_count; i++) {
        free(entries->types[i].entries);
        free(entries->types[i].ids);
    }
    name_index_reset(&entries->index);
    free(entries->types);
    free(entries->chains);
    free(entries->slots);
    free(entries->key);
    *entries = (struct joined_entries){.types = NULL};
}

/* ---- ids ---- */

static uint64_t joined_id(const struct joined_entries *entries, uint32_t record, uint64_t id)
{
    const struct joined_type *type = &entries->types[record];
    return id <= type->id_count && type->ids != NULL ? type->ids[id] : 0;
}

uint64_t *joined_entries_record(struct joined_entries *entries, uint32_t record,
                                const uint64_t *slots)
{
    const struct step_record *type = &entries->definition->records[record];
    for (size_t i = 0; i < type->field_count; i++)
        entries->slots[i] = step_field_is_identifier(&type->fields[i])
                                ? joined_id(entries, type->fields[i].record, slots[i])
                                : slots[i];
    return entries->slots;
}

static struct joined_entry *entry_of(const struct joined_entries *entries, uint32_t record,
                                     uint64_t id)
{
    struct joined_type *type = &entries->types[record];
    return id != 0 && id <= type->count ? &type->entries[id - 1] : NULL;
}

bool joined_entries_was_known(const struct joined_entries *entries, uint32_t record, uint64_t id)
{
    const struct joined_entry *entry = entry_of(entries, record, id);
    return entry != NULL && entry->first_trace < entries->trace;
}

void joined_entries_end(struct joined_entries *entries, uint32_t record, uint64_t id)
{
    struct joined_entry *entry = entry_of(entries, record, id);
    if (entry != NULL)
        entry->has_ended = true;
}

/* ---- contents ---- */

static bool add_to_key(struct joined_entries *entries, const void *bytes, size_t length)
{
    if (!STEP_MAKE_ROOM(entries->key, entries->key_capacity, entries->key_length + length + 1))
        return false;
    if (length > 0)
        memcpy(entries->key + entries->key_length, bytes, length);
    entries->key_length += length;
    return true;
}

/* Returns false if out of memory. */
static bool make_key(struct joined_entries *entries, uint32_t record, const uint64_t *slots)
{
    const struct step_record *type = &entries->definition->records[record];
    bool ok = true;
    entries->key_length = 0;
    for (size_t i = 0; i < type->field_count && ok; i++) {
        const struct step_field *field = &type->fields[i];
        bool is_number = step_field_is_identifier(field) || field->kind == STEP_TYPE_INT;
        const struct step_bytes *text = is_number ? NULL : step_slot_bytes(slots[i]);
        uint64_t number = is_number ? slots[i] : text->length;
        ok = add_to_key(entries, &number, sizeof number) &&
             (is_number || add_to_key(entries, text->data, text->length));
    }
    return ok;
}

/* Returns the chain of entries with this key, or NULL if out of memory. */
static struct joined_chain *find_chain(struct joined_entries *entries, uint32_t record)
{
    bool is_new;
    struct step_bytes key = {entries->key, entries->key_length};
    uint32_t found = name_index_put(&entries->index, record, key, &is_new);
    if (found == 0)
        return NULL;
    if (!is_new)
        return &entries->chains[found];
    if (!STEP_MAKE_ROOM(entries->chains, entries->chain_capacity, found + (size_t) 1))
        return NULL;
    entries->chains[found] = (struct joined_chain){.first = 0};
    return &entries->chains[found];
}

/* ---- dictionaries ---- */

/* Returns an entry that the current trace does not have yet, or 0. */
static uint64_t take_equal(struct joined_entries *entries, struct joined_chain *chain,
                           uint32_t record)
{
    if (chain->trace != entries->trace)
        chain->next = chain->first;
    chain->trace = entries->trace;
    while (chain->next != 0) {
        uint64_t id = chain->next;
        struct joined_entry *entry = entry_of(entries, record, id);
        chain->next = entry->next_equal;
        if (entry->has_ended || entry->last_trace == entries->trace)
            continue;
        entry->last_trace = entries->trace;
        return id;
    }
    return 0;
}

static enum step_status joined_entries_add_entry(struct joined_entries *entries,
                                                 struct joined_chain *chain, uint32_t record,
                                                 uint64_t *id)
{
    struct joined_type *type = &entries->types[record];
    if (!STEP_MAKE_ROOM(type->entries, type->capacity, type->count + 1))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = step_writer_define(entries->writer, record, entries->slots, id);
    if (status != STEP_STATUS_OK)
        return status;
    type->entries[type->count++] =
        (struct joined_entry){.first_trace = entries->trace, .last_trace = entries->trace};
    if (chain->first == 0)
        chain->first = *id;
    else
        entry_of(entries, record, chain->last)->next_equal = *id;
    chain->last = *id;
    return status;
}

static enum step_status joined_entries_take_entry(struct joined_entries *entries, uint32_t record,
                                                  const uint64_t *slots, uint64_t *id)
{
    joined_entries_record(entries, record, slots);
    if (!make_key(entries, record, entries->slots))
        return STEP_STATUS_NO_MEMORY;
    struct joined_chain *chain = find_chain(entries, record);
    if (chain == NULL)
        return STEP_STATUS_NO_MEMORY;
    *id = take_equal(entries, chain, record);
    return *id != 0 ? STEP_STATUS_OK : joined_entries_add_entry(entries, chain, record, id);
}

static enum step_status take_dictionary(struct joined_entries *entries,
                                        const struct step_reader *reader, uint32_t record)
{
    struct joined_type *type = &entries->types[record];
    uint64_t count = step_reader_dictionary_count(reader, record);
    enum step_status status = STEP_STATUS_OK;
    free(type->ids);
    type->ids = calloc(count + 1, sizeof *type->ids);
    type->id_count = count;
    if (type->ids == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (uint64_t id = 0;
         status == STEP_STATUS_OK && (id = step_reader_dictionary_next(reader, record, id)) != 0;)
        status = joined_entries_take_entry(
            entries, record, step_reader_dictionary_entry(reader, record, id), &type->ids[id]);
    return status;
}

enum step_status joined_entries_next(struct joined_entries *entries,
                                     const struct step_reader *reader)
{
    enum step_status status = STEP_STATUS_OK;
    entries->trace++;
    for (uint32_t i = 0; i < entries->definition->record_count && status == STEP_STATUS_OK; i++)
        status = take_dictionary(entries, reader, i);
    return status;
}
