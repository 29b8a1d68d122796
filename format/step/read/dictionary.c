/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's dictionaries: entries by record type and identifier.
 *
 * Entries come in blocks, each with consecutive identifiers, in ascending order.  Damage leaves
 * gaps: the entries of a lost block are unknown, and identifiers of later ones must not move.  So
 * blocks are kept as parts with their first identifier, and a look-up is a binary search; if few
 * identifiers are missing, which is nearly always so, a table makes it one load.
 *
 * The paper defines an identifier by a meta-event at its first use (section 3.3).  Here entries are
 * in blocks before the data that uses them, so data blocks decode without each other, and a lost
 * block of entries costs no records.
 *
 * Entries stay in memory as long as the reader, and every look-up trusts the parts.  So all that a
 * file may say wrongly is refused when a block is loaded: the order of ids, their number, the type
 * of the entries, and the memory of all together.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/step/read/reader_internal.h"
#include "steptrace/budget.h"

static bool add_part(struct step_dictionary *dictionary, const struct step_dictionary_part *part)
{
    if (!STEP_MAKE_ROOM(dictionary->parts, dictionary->part_capacity, dictionary->part_count + 1))
        return false;
    dictionary->parts[dictionary->part_count++] = *part;
    dictionary->entry_count += part->count;
    return true;
}

static uint64_t dictionary_end_of(const struct step_dictionary *dictionary)
{
    if (dictionary->part_count == 0)
        return 0;
    const struct step_dictionary_part *last = &dictionary->parts[dictionary->part_count - 1];
    return last->first + last->count;
}

/* Copies all records of the block; their slots still point into it, which is why a part keeps the
 * block.  A view of a block is valid for one record only, but an entry may be asked for at any time
 * and in any order, so each has a place of its own. */
static uint64_t *copy_slots(struct step_block *block, size_t slot_count)
{
    size_t count = (size_t) block->record_count;
    uint64_t *slots = malloc((count * slot_count + 1) * sizeof *slots);
    if (slots == NULL)
        return NULL;
    struct step_record_view view;
    for (uint64_t *out = slots; step_block_next(block, &view) == STEP_STATUS_OK; out += slot_count)
        if (slot_count > 0)
            memcpy(out, view.slots, slot_count * sizeof *slots);
    return slots;
}

/* The limits make first + count safe from overflow in all that follows.  Ids that go back would
 * break the order that part_at() searches by, and let a later block change what an id means. */
static enum step_status dictionary_check(const struct step_reader *reader,
                                         const struct step_payload *payload,
                                         struct step_error *error)
{
    const struct step_block_header *header = payload->header;
    const char *fault = NULL;
    if (header->stream >= reader->definition->record_count)
        fault = "a dictionary of a record type that does not exist";
    else if (header->record_count == 0 || header->first_record > UINT64_MAX / 2 ||
             header->record_count > STEP_MAX_DICTIONARY_BLOCK_RECORDS)
        fault = "a dictionary with an impossible number of entries";
    else if (header->first_record < dictionary_end_of(&reader->dictionaries[header->stream]))
        fault = "dictionary entries that were defined before";
    return fault == NULL ? STEP_STATUS_OK
                         : step_error_set(error, STEP_STATUS_CORRUPT, payload->file,
                                          payload->offset, "%s", fault);
}

/* Ids begin at 1 and have no gaps when they are written.  Those of lost blocks are missing, but a
 * block may claim any first id, and readers iterate over ids.  So a small file could ask for 2^63
 * steps.  Gaps have a budget for the whole file, which grows with its size: a lost block took bytes
 * of it. */
static enum step_status take_gap(struct step_reader *reader, const struct step_payload *payload,
                                 struct step_error *error)
{
    const struct step_block_header *header = payload->header;
    uint64_t gap = header->first_record - dictionary_end_of(&reader->dictionaries[header->stream]);
    struct step_budget budget = step_budget_of(STEP_DICTIONARY_GAPS, STEP_DICTIONARY_GAPS_PER_BYTE,
                                               reader->file.size + reader->live_bytes.length);
    step_budget_take(&budget, reader->dictionary_gaps);
    enum step_status status = step_budget_spend(&budget, gap, "missing dictionary entries",
                                                payload->file, payload->offset, error);
    if (status == STEP_STATUS_OK)
        reader->dictionary_gaps += gap;
    return status;
}

/* Returns the bytes that another dictionary block may use. */
static uint64_t room_of(const struct step_reader *reader)
{
    uint64_t left = STEP_MAX_DICTIONARY_MEMORY - reader->dictionary_memory;
    uint64_t room = step_reader_room(reader);
    return room < left ? room : left;
}

/* A part is taken as a whole or not at all.  If a column has an unknown coding, the decoder skips
 * records, and the ids of the entries after them would be wrong.  An entry of another type would
 * have another number of slots than those that were made room for.
 *
 * Memory is limited twice: while the block is decoded, and with the copy of its slots.  As nothing
 * is added to `dictionary_memory` beyond the limit, the difference in room_of() cannot wrap. */
enum step_status step_dictionary_load(struct step_reader *reader,
                                      const struct step_payload *payload, struct step_error *error)
{
    const struct step_block_header *header = payload->header;
    enum step_status status = dictionary_check(reader, payload, error);
    if (status == STEP_STATUS_OK)
        status = take_gap(reader, payload, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_dictionary_part part = {header->first_record, header->record_count, NULL,
                                        calloc(1, sizeof *part.block)};
    struct step_block_gap gap;
    if (part.block == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, payload->file, payload->offset,
                              "out of memory");
    const struct step_block_request all = {0};
    uint64_t most = room_of(reader);
    status = step_block_decode(&reader->blocks, payload, &all, most, part.block, &gap, error);
    if (status != STEP_STATUS_OK)
        goto out;
    status = STEP_STATUS_CORRUPT;
    if (gap.records > 0) {
        status = step_error_set(error, STEP_STATUS_UNSUPPORTED, payload->file, payload->offset,
                                "%s", gap.message);
        goto out;
    }
    if (part.block->type_count != 1 || part.block->block_types[0].record != header->stream) {
        step_error_set(error, status, payload->file, payload->offset,
                       "a dictionary block with entries of another type");
        goto out;
    }
    size_t slot_count = reader->plan->records[header->stream].slot_count;
    uint64_t memory = part.block->arena.taken + part.count * slot_count * sizeof(uint64_t);
    if (memory > most) {
        status = step_error_set(error, STEP_STATUS_LIMIT, payload->file, payload->offset,
                                "dictionaries pass the limit of %" PRIu64 " bytes",
                                reader->dictionary_memory + most);
        goto out;
    }
    part.slots = copy_slots(part.block, slot_count);
    if (part.slots == NULL || !add_part(&reader->dictionaries[header->stream], &part)) {
        status = step_error_set(error, STEP_STATUS_NO_MEMORY, payload->file, payload->offset,
                                "out of memory");
        goto out;
    }
    reader->dictionary_memory += memory;
    return STEP_STATUS_OK;
out:
    free(part.slots);
    step_block_destroy(part.block);
    return status;
}

/* A hostile file can define an entry with a huge identifier: a table is made only if at least half
 * of it would be used.  Without memory for it, look-ups search the parts. */
static void dictionary_make_table(struct step_dictionary *dictionary, size_t slot_count)
{
    uint64_t end = dictionary_end_of(dictionary);
    if (end == 0 || end > dictionary->entry_count * 2 + 64)
        return;
    dictionary->table = calloc((size_t) end, sizeof *dictionary->table);
    dictionary->table_end = end;
    for (size_t i = 0; dictionary->table != NULL && i < dictionary->part_count; i++) {
        const struct step_dictionary_part *part = &dictionary->parts[i];
        for (uint64_t k = 0; k < part->count; k++)
            dictionary->table[part->first + k] = part->slots + k * slot_count;
    }
}

void step_dictionary_finish(struct step_reader *reader)
{
    for (size_t i = 0; i < reader->definition->record_count; i++) {
        free(reader->dictionaries[i].table);
        reader->dictionaries[i].table = NULL;
        dictionary_make_table(&reader->dictionaries[i], reader->plan->records[i].slot_count);
    }
}

/* While a growing file is followed, parts are added to dictionaries that have a table.  A table
 * that is too short would say that there are no such entries; without one, the search finds them.
 */
void step_dictionary_regrow(struct step_reader *reader)
{
    for (size_t i = 0; i < reader->definition->record_count; i++) {
        struct step_dictionary *dictionary = &reader->dictionaries[i];
        if (dictionary->table == NULL || dictionary->table_end == dictionary_end_of(dictionary))
            continue;
        free(dictionary->table);
        dictionary->table = NULL;
    }
}

void step_dictionaries_destroy(struct step_reader *reader)
{
    for (size_t i = 0; reader->dictionaries != NULL && i < reader->definition->record_count; i++) {
        struct step_dictionary *dictionary = &reader->dictionaries[i];
        for (size_t k = 0; k < dictionary->part_count; k++) {
            free(dictionary->parts[k].slots);
            step_block_destroy(dictionary->parts[k].block);
        }
        free(dictionary->parts);
        free(dictionary->table);
    }
    free(reader->dictionaries);
    reader->dictionaries = NULL;
}

/* Returns the first part with an entry that is not before `id`, or the number of parts.  Ids begin
 * at 1, a part's `first` at 0: it has the ids from first + 1 to first + count.  Parts are in
 * ascending order and do not overlap, which dictionary_check() has seen to. */
static size_t part_at(const struct step_dictionary *dictionary, uint64_t id)
{
    size_t low = 0, high = dictionary->part_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (dictionary->parts[middle].first + dictionary->parts[middle].count < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t step_reader_dictionary_count(const struct step_reader *reader, uint32_t record)
{
    return record < reader->definition->record_count
               ? dictionary_end_of(&reader->dictionaries[record])
               : 0;
}

const uint64_t *step_reader_dictionary_entry(const struct step_reader *reader, uint32_t record,
                                             uint64_t id)
{
    if (record >= reader->definition->record_count)
        return NULL;
    const struct step_dictionary *dictionary = &reader->dictionaries[record];
    if (id == 0 || id > dictionary_end_of(dictionary))
        return NULL;
    if (dictionary->table != NULL)
        return dictionary->table[id - 1];
    const struct step_dictionary_part *part = &dictionary->parts[part_at(dictionary, id)];
    return id > part->first
               ? part->slots + (id - part->first - 1) * reader->plan->records[record].slot_count
               : NULL;
}

uint64_t step_reader_dictionary_next(const struct step_reader *reader, uint32_t record, uint64_t id)
{
    if (record >= reader->definition->record_count)
        return 0;
    const struct step_dictionary *dictionary = &reader->dictionaries[record];
    if (id >= dictionary_end_of(dictionary))
        return 0;
    uint64_t first = dictionary->parts[part_at(dictionary, id + 1)].first;
    return (first > id ? first : id) + 1;
}
