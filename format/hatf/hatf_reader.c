/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader for HATF.  A record is decoded without checking for the end; whether it was cut is checked
 * once.  Near the end of the bytes that a slow input has delivered, decoding is tentative and
 * undone if the record is incomplete, so the reader never waits for bytes that it does not need.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/input_file.h"
#include "format/core/step_no_memory.h"
#include "format/hatf/hatf_state.h"
#include "format/io/zip_entry.h"
#include "steptrace/packed.h"

#define HATF_WORD_BYTES 8u /* numbers are loaded as whole words, whatever their width */
#define HATF_PADDING_BYTES ((size_t) HATF_RECORD_BYTES_MAX + HATF_WORD_BYTES)

/* Zero-initialise for a closed stream. */
struct hatf_stream {
    const uint8_t *at;
    const uint8_t *end;
    bool ended;                    /* the input has no more bytes */
    uint64_t base;                 /* offset in the input of the buffer's first byte */
    enum step_status input_status; /* an error of the input, reported after the buffer is empty */
    struct hatf_input input;
    uint8_t *buffer; /* followed by HATF_PADDING_BYTES */
};

/* Returns true if the buffer may lack a part of the next record. */
static inline bool hatf_stream_is_low(const struct hatf_stream *stream)
{
    return (size_t) (stream->end - stream->at) < HATF_PADDING_BYTES && !stream->ended;
}

/* Returns the offset of the next byte in the input. */
static inline uint64_t hatf_stream_offset(const struct hatf_stream *stream)
{
    return stream->base + (uint64_t) (stream->at - stream->buffer);
}

#define BUFFER_BYTES ((size_t) 1 << 20)

/* Returns false if out of memory.  The input's `user` is borrowed. */
static bool hatf_stream_open(struct hatf_stream *stream, const struct hatf_input *input)
{
    stream->input = *input;
    stream->buffer = calloc(1, BUFFER_BYTES + HATF_PADDING_BYTES);
    stream->at = stream->buffer;
    stream->end = stream->buffer;
    return stream->buffer != NULL;
}

/* Moves the unread bytes to the start of the buffer, but only if the end is near, so that input in
 * small pieces does not cause a move each time. */
static void hatf_reader_make_room(struct hatf_stream *stream)
{
    size_t left = (size_t) (stream->end - stream->at);
    if ((size_t) (stream->end - stream->buffer) <= BUFFER_BYTES - HATF_PADDING_BYTES)
        return;
    memmove(stream->buffer, stream->at, left);
    stream->base += (uint64_t) (stream->at - stream->buffer);
    stream->at = stream->buffer;
    stream->end = stream->buffer + left;
}

/* Reads more of the input, at least one byte unless it has ended.  `error` is that of the input. */
static void hatf_stream_read_on(struct hatf_stream *stream, struct step_error *error)
{
    hatf_reader_make_room(stream);
    size_t end = (size_t) (stream->end - stream->buffer);
    size_t got = 0;
    stream->input_status = stream->input.read(stream->input.user, stream->buffer + end,
                                              BUFFER_BYTES - end, &got, error);
    stream->ended = stream->input_status != STEP_STATUS_OK || got == 0;
    if (stream->ended)
        memset(stream->buffer + end, 0, HATF_PADDING_BYTES);
    else
        stream->end = stream->buffer + end + got;
}

/* Fills the buffer until it holds a whole record or the input ends. */
static void hatf_stream_refill(struct hatf_stream *stream, struct step_error *error)
{
    while (hatf_stream_is_low(stream))
        hatf_stream_read_on(stream, error);
}

/* The position in each stream. */
struct hatf_places {
    const uint8_t *at[HATF_STREAM_COUNT];
};

/* Returns the position of the field's bytes. */
static inline const uint8_t **hatf_place_of(struct hatf_places *places, enum hatf_split split,
                                            const struct hatf_field_state *state,
                                            enum hatf_field field)
{
    bool apart =
        split == HATF_SPLIT_FIELDS || (split == HATF_SPLIT_ADDRESS && field == HATF_ADDRESS &&
                                       state->interpretation == HATF_NONE);
    return &places->at[apart ? HATF_STREAM_OF(field) : HATF_STREAM_MAIN];
}

static inline uint64_t hatf_take_number(struct hatf_places *places, enum hatf_split split,
                                        struct hatf_state *state, enum hatf_field number)
{
    struct hatf_field_state *field = &state->fields[number];
    const uint8_t **at = hatf_place_of(places, split, field, number);
    uint64_t value = step_field_value(field->interpretation,
                                      step_number_load(*at, field->width, HATF_BIG_ENDIAN),
                                      field->width, field->value, field->stride, field->previous);
    *at += field->width;
    field->previous = value;
    return value;
}

static inline void hatf_take_attributes(struct hatf_places *places, enum hatf_split split,
                                        const struct hatf_state *state,
                                        struct step_bytes *attributes)
{
    const struct hatf_field_state *field = &state->fields[HATF_ATTRIBUTES];
    const uint8_t **at = hatf_place_of(places, split, field, HATF_ATTRIBUTES);
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

static inline const char *hatf_take_metadata(const uint8_t **at, struct hatf_state *state,
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
    metadata->stride = values > 1 ? step_word_load(*at + HATF_WORD_BYTES, HATF_BIG_ENDIAN) : 0;
    *at += values * HATF_WORD_BYTES;
    hatf_state_apply(state, metadata);
    return NULL;
}

static inline void hatf_take_comment(const uint8_t **at, struct step_bytes *comment)
{
    comment->length = step_number_load(*at, 2, HATF_BIG_ENDIAN);
    comment->data = *at + 2;
    *at += 2 + comment->length;
}

/* Decodes the current record and advances.  Returns NULL, or the reason why it is not valid. */
static inline const char *hatf_decode(struct hatf_places *places, enum hatf_split split,
                                      struct hatf_state *state, struct hatf_record *record)
{
    const uint8_t **main = &places->at[HATF_STREAM_MAIN];
    uint8_t tag = *(*main)++;
    memset(record, 0, sizeof *record);
    record->tag = (enum hatf_tag) tag;
    switch (tag) {
    case HATF_ALLOC:
        record->size = hatf_take_number(places, split, state, HATF_SIZE);
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_FREE:
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        record->size = hatf_take_number(places, split, state, HATF_SIZE);
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        record->new_address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_CREATE_HEAP:
    case HATF_DESTROY_HEAP:
        record->heap = hatf_take_number(places, split, state, HATF_HEAP);
        break;
    case HATF_CREATE_THREAD:
    case HATF_DESTROY_THREAD:
        break;
    case HATF_COMMENT:
        hatf_take_comment(main, &record->comment);
        return NULL;
    case HATF_METADATA:
        return hatf_take_metadata(main, state, &record->metadata);
    default:
        return "unknown tag";
    }
    /* every data record ends with these */
    record->thread = hatf_take_number(places, split, state, HATF_THREAD);
    if (tag < HATF_CREATE_HEAP)
        record->heap = hatf_take_number(places, split, state, HATF_HEAP);
    record->time = hatf_take_number(places, split, state, HATF_TIME);
    hatf_take_attributes(places, split, state, &record->attributes);
    return NULL;
}

/* Upper limit for metadata, and for records without bytes of variable length. */
#define NUMBERS_BYTES_MAX 64u

/* What hatf_reader_open() opened: a file, or the entries of a ZIP file. */
struct sources {
    struct step_packed_input *packed;
    struct text_source *entries[HATF_STREAM_COUNT];
};

struct hatf_reader {
    struct hatf_state state;
    enum hatf_split split;
    struct hatf_stream streams[HATF_STREAM_COUNT]; /* without a split only the first is used */
    uint64_t record_number;                        /* of the last record returned */
    enum step_status status; /* returned by hatf_reader_next() from now on, unless OK */
    struct step_error error;
    struct step_bytes memory; /* unread input of hatf_reader_create_memory() */
    struct sources sources;
    char name[256];
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

enum step_status hatf_reader_create_split(const struct hatf_input *inputs, enum hatf_split split,
                                          const char *name, struct hatf_reader **out,
                                          struct step_error *error)
{
    struct hatf_reader *reader = calloc(1, sizeof *reader);
    bool ok = reader != NULL;
    *out = NULL;
    for (unsigned i = 0; ok && i < HATF_STREAM_COUNT; i++)
        ok = (i != HATF_STREAM_MAIN && hatf_stream_name(split, i) == NULL) ||
             hatf_stream_open(&reader->streams[i], &inputs[i]);
    if (!ok) {
        hatf_reader_destroy(reader);
        return step_no_memory(error, name);
    }
    hatf_state_init(&reader->state);
    reader->split = split;
    if (name != NULL)
        memcpy(reader->name, name, strnlen(name, sizeof reader->name - 1));
    *out = reader;
    return STEP_STATUS_OK;
}

enum step_status hatf_reader_create(const struct hatf_input *input, const char *name,
                                    struct hatf_reader **out, struct step_error *error)
{
    return hatf_reader_create_split(input, HATF_SPLIT_NONE, name, out, error);
}

enum step_status hatf_reader_create_memory(const void *data, size_t length, const char *name,
                                           struct hatf_reader **out, struct step_error *error)
{
    const struct hatf_input input = {.read = read_memory};
    enum step_status status = hatf_reader_create(&input, name, out, error);
    if (status == STEP_STATUS_OK) {
        (*out)->memory = (struct step_bytes){.data = data, .length = length};
        (*out)->streams[HATF_STREAM_MAIN].input.user = &(*out)->memory;
    }
    return status;
}

static bool is_zip(const char *path)
{
    char start[4] = {0};
    int file = input_file_open(path, INPUT_REGULAR, NULL);
    if (file < 0)
        return false;
    bool is = pread(file, start, sizeof start, 0) == sizeof start &&
              memcmp(start, "PK\3\4", sizeof start) == 0;
    close(file);
    return is;
}

static enum step_status open_entries(struct sources *sources, const char *path,
                                     struct hatf_input *inputs, enum hatf_split *split,
                                     struct step_error *error)
{
    static const enum hatf_split splits[] = {HATF_SPLIT_FIELDS, HATF_SPLIT_ADDRESS};
    struct text_source **entries = sources->entries;
    enum step_status status = STEP_STATUS_NOT_FOUND;
    for (size_t i = 0; i < 2 && status == STEP_STATUS_NOT_FOUND; i++) {
        *split = splits[i];
        status = text_source_open_entry(path, hatf_stream_name(*split, HATF_STREAM_MAIN),
                                        &entries[HATF_STREAM_MAIN], error);
    }
    if (status == STEP_STATUS_NOT_FOUND)
        return step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                              "the ZIP file has neither an entry `tag` nor an entry `hatf`");
    for (unsigned i = 0; i < HATF_STREAM_COUNT && status == STEP_STATUS_OK; i++) {
        const char *name = hatf_stream_name(*split, i);
        if (name != NULL && i != HATF_STREAM_MAIN)
            status = text_source_open_entry(path, name, &entries[i], error);
        inputs[i] = (struct hatf_input){entries[i], text_source_read};
    }
    return status;
}

static void close_sources(const struct sources *sources)
{
    step_packed_input_close(sources->packed);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        text_source_destroy(sources->entries[i]);
}

enum step_status hatf_reader_open(const char *path, struct hatf_reader **out,
                                  struct step_error *error)
{
    struct sources sources = {.packed = NULL};
    struct hatf_input inputs[HATF_STREAM_COUNT] = {{.read = step_packed_input_read}};
    enum hatf_split split = HATF_SPLIT_NONE;
    *out = NULL;
    enum step_status status = is_zip(path) ? open_entries(&sources, path, inputs, &split, error)
                                           : step_packed_input_open(path, &sources.packed, error);
    if (sources.packed != NULL)
        inputs[HATF_STREAM_MAIN].user = sources.packed;
    if (status == STEP_STATUS_OK)
        status = hatf_reader_create_split(inputs, split, path, out, error);
    if (status == STEP_STATUS_OK)
        (*out)->sources = sources;
    else
        close_sources(&sources);
    return status;
}

double hatf_reader_progress(const struct hatf_reader *reader)
{
    const struct text_source *entry = reader->sources.entries[HATF_STREAM_MAIN];
    if (reader->sources.packed != NULL)
        return step_packed_input_progress(reader->sources.packed);
    return entry != NULL ? text_source_progress(entry) : 1.0;
}

void hatf_reader_destroy(struct hatf_reader *reader)
{
    if (reader == NULL)
        return;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        free(reader->streams[i].buffer);
    close_sources(&reader->sources);
    free(reader);
}

static enum step_status hatf_reader_give_status(const struct hatf_reader *reader,
                                                struct step_error *error)
{
    if (reader->status != STEP_STATUS_END && error != NULL)
        *error = reader->error;
    return reader->status;
}

static enum step_status fail_input(struct hatf_reader *reader, enum step_status status,
                                   struct step_error *error)
{
    reader->status = status;
    return hatf_reader_give_status(reader, error);
}

static enum step_status hatf_reader_refuse(struct hatf_reader *reader, enum step_status status,
                                           const char *fault, struct step_error *error)
{
    reader->status =
        step_error_set(&reader->error, status, reader->name, hatf_reader_offset(reader),
                       "record %" PRIu64 ": %s", reader->record_number + 1, fault);
    return hatf_reader_give_status(reader, error);
}

/* At the end of the records all streams must have ended. */
static enum step_status hatf_reader_finish(struct hatf_reader *reader, struct step_error *error)
{
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        const struct hatf_stream *stream = &reader->streams[i];
        if (stream->input_status != STEP_STATUS_OK)
            return fail_input(reader, stream->input_status, error);
        if (stream->at != stream->end) {
            reader->status = step_error_set(
                &reader->error, STEP_STATUS_CORRUPT, reader->name, hatf_stream_offset(stream),
                "the stream %s goes on after the last record", hatf_stream_name(reader->split, i));
            return hatf_reader_give_status(reader, error);
        }
    }
    reader->status = STEP_STATUS_END;
    return reader->status;
}

/* Returns true if the buffer certainly has the whole next record, whatever its bytes are. */
static inline bool is_surely_whole(const struct hatf_stream *stream, const struct hatf_state *state)
{
    return (size_t) (stream->end - stream->at) >= NUMBERS_BYTES_MAX &&
           stream->at[0] != HATF_COMMENT && state->fields[HATF_ATTRIBUTES].width < HATF_WIDTH_V1;
}

/* Reads more input until the next record is complete. */
static void await_record(struct hatf_stream *stream, const struct hatf_state *state,
                         struct step_error *error)
{
    while (!stream->ended && !is_surely_whole(stream, state)) {
        struct hatf_state tried = *state;
        struct hatf_places places = {.at = {stream->at}};
        struct hatf_record record;
        if (stream->at < stream->end) {
            hatf_decode(&places, HATF_SPLIT_NONE, &tried, &record);
            if (places.at[HATF_STREAM_MAIN] <= stream->end)
                return;
        }
        hatf_stream_read_on(stream, error);
    }
}

static enum step_status next_plain(struct hatf_reader *reader, struct hatf_record *record,
                                   struct step_error *error)
{
    struct hatf_stream *stream = &reader->streams[HATF_STREAM_MAIN];
    if (hatf_stream_is_low(stream))
        await_record(stream, &reader->state, &reader->error);
    if (stream->at == stream->end)
        return hatf_reader_finish(reader, error);
    struct hatf_places places = {.at = {stream->at}};
    const char *fault = hatf_decode(&places, HATF_SPLIT_NONE, &reader->state, record);
    if (places.at[HATF_STREAM_MAIN] > stream->end)
        return stream->input_status != STEP_STATUS_OK
                   ? fail_input(reader, stream->input_status, error)
                   : hatf_reader_refuse(reader, STEP_STATUS_CUT, "the file ends inside the record",
                                        error);
    if (fault != NULL)
        return hatf_reader_refuse(reader, STEP_STATUS_CORRUPT, fault, error);
    stream->at = places.at[HATF_STREAM_MAIN];
    reader->record_number++;
    return STEP_STATUS_OK;
}

static enum step_status refuse_stream(struct hatf_reader *reader, unsigned stream,
                                      struct step_error *error)
{
    char fault[80];
    if (reader->streams[stream].input_status != STEP_STATUS_OK)
        return fail_input(reader, reader->streams[stream].input_status, error);
    snprintf(fault, sizeof fault, "the stream %s ends inside the record",
             hatf_stream_name(reader->split, stream));
    return hatf_reader_refuse(reader, STEP_STATUS_CUT, fault, error);
}

static enum step_status next_split(struct hatf_reader *reader, struct hatf_record *record,
                                   struct step_error *error)
{
    struct hatf_stream *streams = reader->streams;
    struct hatf_places places;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        if (streams[i].buffer != NULL && hatf_stream_is_low(&streams[i]))
            hatf_stream_refill(&streams[i], &reader->error);
        places.at[i] = streams[i].at;
    }
    if (streams[HATF_STREAM_MAIN].at == streams[HATF_STREAM_MAIN].end)
        return hatf_reader_finish(reader, error);
    const char *fault = hatf_decode(&places, reader->split, &reader->state, record);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        if (places.at[i] > streams[i].end)
            return refuse_stream(reader, i, error);
    if (fault != NULL)
        return hatf_reader_refuse(reader, STEP_STATUS_CORRUPT, fault, error);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        streams[i].at = places.at[i];
    reader->record_number++;
    return STEP_STATUS_OK;
}

enum step_status hatf_reader_next(struct hatf_reader *reader, struct hatf_record *record,
                                  struct step_error *error)
{
    if (reader->status != STEP_STATUS_OK)
        return hatf_reader_give_status(reader, error);
    return reader->split == HATF_SPLIT_NONE ? next_plain(reader, record, error)
                                            : next_split(reader, record, error);
}

uint64_t hatf_reader_record_number(const struct hatf_reader *reader)
{
    return reader->record_number;
}

uint64_t hatf_reader_offset(const struct hatf_reader *reader)
{
    return hatf_stream_offset(&reader->streams[HATF_STREAM_MAIN]);
}

const struct hatf_field_state *hatf_reader_field(const struct hatf_reader *reader,
                                                 enum hatf_field field)
{
    return (unsigned) field < HATF_FIELD_COUNT ? &reader->state.fields[field] : NULL;
}
