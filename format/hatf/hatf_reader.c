/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading HATF.  The buffer always holds a whole record, however long, or the input's end with
 * zeros after it; so a record is decoded without looking at the end, and whether it was cut is
 * checked once, by where the decoder came to stand.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hatf_state.h"

#define BUFFER_BYTES ((size_t) 1 << 20)
#define WORD_BYTES 8u /* a number is loaded as a whole word, whatever its width */
#define PADDING_BYTES ((size_t) HATF_RECORD_BYTES_MAX + WORD_BYTES)

struct hatf_reader {
    struct hatf_state state;
    const uint8_t *at;
    const uint8_t *end;
    bool ended;                    /* the input has no more bytes */
    uint64_t record_number;        /* of the last record that was given */
    uint64_t base;                 /* offset in the input of the buffer's first byte */
    enum step_status status;       /* what hatf_reader_next() gives from now on, unless OK */
    enum step_status input_status; /* an error of the input, told once the buffer is empty */
    struct step_error error;
    struct hatf_input input;
    struct step_bytes memory; /* what is left of the input of hatf_reader_create_memory() */
    char name[256];
    uint8_t buffer[BUFFER_BYTES + PADDING_BYTES];
};

static enum step_status read_memory(void *user, void *buffer, size_t size, size_t *got,
                                    struct step_error *error)
{
    struct step_bytes *memory = user;
    (void) error;
    *got = size < memory->length ? size : memory->length;
    if (*got > 0) {
        memcpy(buffer, memory->data, *got);
        memory->data += *got;
        memory->length -= *got;
    }
    return STEP_STATUS_OK;
}

enum step_status hatf_reader_create(const struct hatf_input *input, const char *name,
                                    struct hatf_reader **out, struct step_error *error)
{
    struct hatf_reader *reader = malloc(sizeof *reader);
    *out = reader;
    if (reader == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, name, STEP_NO_OFFSET, "out of memory");
    memset(reader, 0, offsetof(struct hatf_reader, buffer));
    hatf_state_init(&reader->state);
    reader->at = reader->buffer;
    reader->end = reader->buffer;
    reader->input = *input;
    if (name != NULL)
        memcpy(reader->name, name, strnlen(name, sizeof reader->name - 1));
    return STEP_STATUS_OK;
}

enum step_status hatf_reader_create_memory(const void *data, size_t length, const char *name,
                                           struct hatf_reader **out, struct step_error *error)
{
    const struct hatf_input input = {.read = read_memory};
    enum step_status status = hatf_reader_create(&input, name, out, error);
    if (status == STEP_STATUS_OK) {
        (*out)->memory = (struct step_bytes){.data = data, .length = length};
        (*out)->input.user = &(*out)->memory;
    }
    return status;
}

void hatf_reader_destroy(struct hatf_reader *reader)
{
    free(reader);
}

/* Moves what is left to the buffer's start, but only when its end is near: input that comes in
 * small pieces must not cost a move each. */
static void make_room(struct hatf_reader *reader)
{
    size_t left = (size_t) (reader->end - reader->at);
    if ((size_t) (reader->end - reader->buffer) <= BUFFER_BYTES - PADDING_BYTES)
        return;
    memmove(reader->buffer, reader->at, left);
    reader->base += (uint64_t) (reader->at - reader->buffer);
    reader->at = reader->buffer;
    reader->end = reader->buffer + left;
}

/* Fills the buffer until it holds a whole record or the input ends. */
static void refill(struct hatf_reader *reader)
{
    make_room(reader);
    size_t at = (size_t) (reader->at - reader->buffer);
    size_t end = (size_t) (reader->end - reader->buffer);
    while (end - at < PADDING_BYTES && !reader->ended) {
        size_t got = 0;
        reader->input_status = reader->input.read(reader->input.user, reader->buffer + end,
                                                  BUFFER_BYTES - end, &got, &reader->error);
        reader->ended = reader->input_status != STEP_STATUS_OK || got == 0;
        if (!reader->ended)
            end += got;
    }
    reader->end = reader->buffer + end;
    if (reader->ended)
        memset(reader->buffer + end, 0, PADDING_BYTES);
}

static inline uint64_t take_number(const uint8_t **at, struct hatf_field_state *field)
{
    uint64_t value = step_field_value(field->interpretation,
                                      step_number_load(*at, field->width, HATF_BIG_ENDIAN),
                                      field->width, field->value, field->stride, field->previous);
    *at += field->width;
    field->previous = value;
    return value;
}

static inline void take_attributes(const uint8_t **at, const struct hatf_field_state *field,
                                   struct step_bytes *attributes)
{
    size_t length = field->width;
    if (length == HATF_WIDTH_V1) {
        length = step_number_load(*at, 1, HATF_BIG_ENDIAN);
        *at += 1;
    } else if (length == HATF_WIDTH_V2) {
        length = step_number_load(*at, 2, HATF_BIG_ENDIAN);
        *at += 2;
    }
    attributes->data = length > 0 ? *at : NULL;
    attributes->length = length;
    *at += length;
}

static const char *take_metadata(const uint8_t **at, struct hatf_state *state,
                                 struct hatf_metadata *metadata)
{
    metadata->operation = (*at)[0];
    metadata->field = (*at)[1];
    metadata->argument = (*at)[2];
    const char *fault =
        hatf_metadata_fault(metadata->operation, metadata->field, metadata->argument);
    *at += 3;
    if (fault != NULL)
        return fault;
    unsigned values = hatf_metadata_values(metadata->operation, metadata->argument);
    metadata->value = values > 0 ? step_word_load(*at, HATF_BIG_ENDIAN) : 0;
    metadata->stride = values > 1 ? step_word_load(*at + WORD_BYTES, HATF_BIG_ENDIAN) : 0;
    *at += values * WORD_BYTES;
    hatf_state_apply(state, metadata);
    return NULL;
}

static void take_comment(const uint8_t **at, struct step_bytes *comment)
{
    comment->length = step_number_load(*at, 2, HATF_BIG_ENDIAN);
    comment->data = *at + 2;
    *at += 2 + comment->length;
}

/* Decodes the record at `*at` and moves on; NULL, or what is wrong with it. */
static inline const char *decode(const uint8_t **at, struct hatf_state *state,
                                 struct hatf_record *record)
{
    struct hatf_field_state *fields = state->fields;
    uint8_t tag = *(*at)++;
    memset(record, 0, sizeof *record);
    record->tag = (enum hatf_tag) tag;
    switch (tag) {
    case HATF_ALLOC:
        record->size = take_number(at, &fields[HATF_SIZE]);
        record->address = take_number(at, &fields[HATF_ADDRESS]);
        break;
    case HATF_FREE:
        record->address = take_number(at, &fields[HATF_ADDRESS]);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        record->size = take_number(at, &fields[HATF_SIZE]);
        record->address = take_number(at, &fields[HATF_ADDRESS]);
        record->new_address = take_number(at, &fields[HATF_ADDRESS]);
        break;
    case HATF_CREATE_HEAP:
    case HATF_DESTROY_HEAP:
        record->heap = take_number(at, &fields[HATF_HEAP]);
        break;
    case HATF_CREATE_THREAD:
    case HATF_DESTROY_THREAD:
        break;
    case HATF_COMMENT:
        take_comment(at, &record->comment);
        return NULL;
    case HATF_METADATA:
        return take_metadata(at, state, &record->metadata);
    default:
        return "unknown tag";
    }
    /* What every record of data ends with. */
    record->thread = take_number(at, &fields[HATF_THREAD]);
    if (tag < HATF_CREATE_HEAP)
        record->heap = take_number(at, &fields[HATF_HEAP]);
    record->time = take_number(at, &fields[HATF_TIME]);
    take_attributes(at, &fields[HATF_ATTRIBUTES], &record->attributes);
    return NULL;
}

static enum step_status give_status(const struct hatf_reader *reader, struct step_error *error)
{
    if (reader->status != STEP_STATUS_END && error != NULL)
        *error = reader->error;
    return reader->status;
}

static enum step_status finish(struct hatf_reader *reader, struct step_error *error)
{
    reader->status =
        reader->input_status != STEP_STATUS_OK ? reader->input_status : STEP_STATUS_END;
    return give_status(reader, error);
}

static enum step_status refuse(struct hatf_reader *reader, enum step_status status,
                               const char *fault, struct step_error *error)
{
    reader->status =
        step_error_set(&reader->error, status, reader->name, hatf_reader_offset(reader),
                       "record %" PRIu64 ": %s", reader->record_number + 1, fault);
    return give_status(reader, error);
}

enum step_status hatf_reader_next(struct hatf_reader *reader, struct hatf_record *record,
                                  struct step_error *error)
{
    if (reader->status != STEP_STATUS_OK)
        return give_status(reader, error);
    if ((size_t) (reader->end - reader->at) < PADDING_BYTES && !reader->ended)
        refill(reader);
    if (reader->at == reader->end)
        return finish(reader, error);
    const uint8_t *at = reader->at;
    const char *fault = decode(&at, &reader->state, record);
    if (at > reader->end)
        return reader->input_status != STEP_STATUS_OK
                   ? finish(reader, error)
                   : refuse(reader, STEP_STATUS_CUT, "the file ends inside the record", error);
    if (fault != NULL)
        return refuse(reader, STEP_STATUS_CORRUPT, fault, error);
    reader->at = at;
    reader->record_number++;
    return STEP_STATUS_OK;
}

uint64_t hatf_reader_record_number(const struct hatf_reader *reader)
{
    return reader->record_number;
}

uint64_t hatf_reader_offset(const struct hatf_reader *reader)
{
    return reader->base + (uint64_t) (reader->at - reader->buffer);
}

const struct hatf_field_state *hatf_reader_field(const struct hatf_reader *reader,
                                                 enum hatf_field field)
{
    return (unsigned) field < HATF_FIELD_COUNT ? &reader->state.fields[field] : NULL;
}
