/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a reader, and queries about its trace. */
#include "steptrace/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/step/read/reader_internal.h"

/* In a file of noise each few bytes may be another fault.  Notes beyond this number are dropped, so
 * that memory does not follow the damage. */
enum { MAX_DAMAGE = 10000 };

enum step_status step_reader_no_memory(const struct step_reader *reader, struct step_error *error)
{
    return step_no_memory(error, reader->name);
}

enum step_status step_reader_note(struct step_reader *reader, uint64_t offset, uint64_t length,
                                  const char *format, ...)
{
    if (reader->damage_count == MAX_DAMAGE)
        return STEP_STATUS_OK; /* sufficient to know that the file is incomplete */
    if (!STEP_MAKE_ROOM(reader->damage, reader->damage_capacity, reader->damage_count + 1))
        return STEP_STATUS_NO_MEMORY;
    struct step_damage *damage = &reader->damage[reader->damage_count++];
    damage->offset = offset;
    damage->length = length;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(damage->message, sizeof damage->message, format, arguments);
    va_end(arguments);
    return STEP_STATUS_OK;
}

void step_reader_destroy(struct step_reader *reader)
{
    if (reader == NULL)
        return;
    step_dictionaries_destroy(reader);
    step_block_reader_reset(&reader->blocks);
    step_plan_destroy(reader->plan);
    step_definition_destroy(reader->definition);
    step_byte_source_close(&reader->file);
    step_arena_reset(&reader->counts);
    for (size_t i = 0; i < 2 * reader->property_count; i++)
        free(reader->properties[i]);
    free(reader->properties);
    free(reader->entries);
    free(reader->damage);
    step_buffer_reset(&reader->live_bytes);
    step_buffer_reset(&reader->head);
    step_buffer_reset(&reader->payload);
    step_buffer_reset(&reader->bytes);
    free(reader->name);
    free(reader);
}

const struct step_definition *step_reader_borrow_definition(const struct step_reader *reader)
{
    return reader->definition;
}

const char *step_reader_borrow_name(const struct step_reader *reader)
{
    return reader->name;
}

bool step_reader_is_whole(const struct step_reader *reader)
{
    return reader->whole || reader->completed;
}

bool step_reader_is_running(const struct step_reader *reader)
{
    return reader->running;
}

uint64_t step_reader_recovered_count(const struct step_reader *reader)
{
    return reader->recovered;
}

uint64_t step_reader_file_size(const struct step_reader *reader)
{
    return reader->file.size;
}

size_t step_reader_block_count(const struct step_reader *reader)
{
    return reader->entry_count;
}

const struct step_block_info *step_reader_block_info(const struct step_reader *reader, size_t i)
{
    return i < reader->entry_count ? &reader->entries[i].info : NULL;
}

/* A block's position in the order of streams.  Blocks of one stream are in the file in the order of
 * their records (docs/formats/step.md), so within a stream their numbers order them; qsort() alone
 * would not keep that order. */
struct block_place {
    uint64_t stream;
    size_t number;
};

static int compare_places(const void *left, const void *right)
{
    const struct block_place *a = left, *b = right;
    return a->stream != b->stream ? (a->stream > b->stream) - (a->stream < b->stream)
                                  : (a->number > b->number) - (a->number < b->number);
}

enum step_status step_reader_sort_blocks(const struct step_reader *reader, size_t *numbers)
{
    size_t count = reader->entry_count;
    struct block_place *places = calloc(count + 1, sizeof *places);
    if (places == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        places[i] = (struct block_place){reader->entries[i].info.stream, i};
    qsort(places, count, sizeof *places, compare_places);
    for (size_t i = 0; i < count; i++)
        numbers[i] = places[i].number;
    free(places);
    return STEP_STATUS_OK;
}

size_t step_reader_damage_count(const struct step_reader *reader)
{
    return reader->damage_count;
}

const struct step_damage *step_reader_damage(const struct step_reader *reader, size_t i)
{
    return i < reader->damage_count ? &reader->damage[i] : NULL;
}
