/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtime support for the readers and writers that metatfc generates.  Programs use metatf.h and
 * the generated header instead.
 *
 * Zeros follow a reader's bytes, so the numbers of a record are loaded without checking for the
 * end; whether the record was cut is checked once, by the decoder's final position.  A writer
 * encodes directly into its section's buffer and keeps a journal of its changes, to undo them if a
 * value does not fit.
 */
#ifndef STEPTRACE_METATF_CODE_H
#define STEPTRACE_METATF_CODE_H

#include "steptrace/budget.h"
#include "steptrace/metatf.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* How a field of a record is stored from the current position on. */
struct metatf_state {
    uint8_t interpretation; /* enum step_field_interpretation */
    bool width_by_field;    /* the value of the field's width_field is the number of bytes */
    bool argument_by_field;
    uint32_t width; /* current width */
    uint32_t last_width;
    uint64_t argument;
    uint64_t stride;
};

/* ---- reading ---- */

/* Input position in the pieces of one section, or of all sections that have records, in
 * sequence. */
struct metatf_stream {
    const uint8_t *at;
    const uint8_t *end;
    uint8_t *buffer;
    size_t capacity;
    void *retired;        /* buffers that hold bytes of the last record */
    uint64_t base;        /* offset of the buffer's first byte in the piece */
    uint64_t left;        /* bytes of the piece beyond the buffer */
    uint64_t piece_start; /* in the file */
    uint64_t next_entry;  /* of the index */
    bool is_packed;
    bool is_cut;
    uint32_t tag_width; /* bytes of the tags, for a section of records that a field strides through;
                           else 0 */
};

/* State of a section during reading. */
struct metatf_reading {
    const struct metatf_section *section;
    struct metatf_state *states;
    uint64_t *cells;
    uint64_t position; /* bytes of its content so far */
    uint16_t by_tag[256];
};

struct metatf_reader_rest;

struct metatf_reader {
    struct metatf_stream stream;
    struct metatf_reading *current;
    struct metatf_stream *split[256]; /* sections that fields stride through; NULL: none */
    const char *fault;                /* of the current record */
    uint64_t record_number;
    uint32_t need;   /* upper limit for a record's bytes in numbers */
    uint32_t budget; /* values that repetitions in the current record may still have */
    bool big_endian;
    bool holds; /* scratch memory for the last record exists */
    struct metatf_reader_rest *rest;
    struct step_budget credit; /* values that records may still have: see metatf_take_values() */
};

/* Slow paths. */
enum step_status metatf_reader_refill(struct metatf_reader *reader, struct step_error *error);
enum step_status metatf_reader_refuse(struct metatf_reader *reader, const uint8_t *at,
                                      struct step_error *error);
bool metatf_reader_more(struct metatf_reader *reader, const uint8_t **at, uint64_t need);
bool metatf_reader_split_more(struct metatf_reader *reader, struct metatf_stream *stream,
                              size_t need);
/* Returns false and sets a fault if no data record begins where a striding field reads. */
bool metatf_reader_split_tag(struct metatf_reader *reader, const struct metatf_stream *stream);
/* Reads a record that is not data: metadata, a section, a comment (in `*comment`), or an unknown
 * one. */
enum step_status metatf_reader_other(struct metatf_reader *reader, uint64_t tag,
                                     struct step_bytes *comment, bool *is_comment,
                                     struct step_error *error);
/* Frees the memory of the last record's bytes and arrays. */
void metatf_reader_release(struct metatf_reader *reader);
/* Returns memory that lives until the next record, or NULL after setting a fault. */
void *metatf_reader_scratch(struct metatf_reader *reader, uint64_t count, size_t size);

static inline enum step_status metatf_fill(struct metatf_reader *reader, struct step_error *error)
{
    reader->budget = METATF_REPEAT_LIMIT;
    if (reader->holds || reader->stream.retired != NULL)
        metatf_reader_release(reader);
    if ((size_t) (reader->stream.end - reader->stream.at) >= reader->need)
        return STEP_STATUS_OK;
    return metatf_reader_refill(reader, error);
}

static inline uint64_t metatf_take_split(struct metatf_reader *reader,
                                         const struct metatf_state *state)
{
    struct metatf_stream *stream = reader->split[state->argument];
    unsigned width = (unsigned) state->stride;
    if ((size_t) (stream->end - stream->at) < width &&
        !metatf_reader_split_more(reader, stream, width))
        return 0;
    if (stream->tag_width > 0 && !metatf_reader_split_tag(reader, stream))
        return 0;
    uint64_t number = step_number_load(stream->at + stream->tag_width, width - stream->tag_width,
                                       reader->big_endian);
    stream->at += width;
    step_budget_earn(&reader->credit, METATF_VALUES_PER_BYTE, width);
    return number;
}

static inline uint64_t metatf_take_number(struct metatf_reader *reader, const uint8_t **at,
                                          const struct metatf_state *state, uint64_t argument,
                                          uint64_t *cell)
{
    uint64_t value;
    if (state->interpretation == STEP_FIELD_SECTION_STRIDE)
        value = metatf_take_split(reader, state);
    else
        value = step_field_value(state->interpretation,
                                 step_number_load(*at, state->width, reader->big_endian),
                                 state->width, argument, state->stride, *cell);
    *at += state->width;
    *cell = value;
    return value;
}

/* Reads bytes.  `length` is the value of the width field, if there is one.  The bytes live until
 * the next record. */
static inline struct step_bytes metatf_take_bytes(struct metatf_reader *reader, const uint8_t **at,
                                                  const struct metatf_state *state, uint64_t length)
{
    struct step_bytes bytes = {NULL, 0};
    if (!state->width_by_field)
        length = state->width;
    if (length == 0)
        return bytes;
    size_t left = *at <= reader->stream.end ? (size_t) (reader->stream.end - *at) : 0;
    if ((left < length || left - length < reader->need) && !metatf_reader_more(reader, at, length))
        return bytes;
    bytes.data = *at;
    bytes.length = (size_t) length;
    *at += length;
    return bytes;
}

/* Call before `count` repeated values, and before a record of more than METATF_VALUES_PER_BYTE
 * fields.  Fields need not take bytes, so a count of 4 bytes can stand for any number of values: a
 * file has at most METATF_VALUES_PER_BYTE of these values a byte, and METATF_REPEAT_LIMIT more.
 * Returns false on a fault. */
static inline bool metatf_take_values(struct metatf_reader *reader, uint64_t count)
{
    if (reader->fault == NULL && !step_budget_take(&reader->credit, count))
        reader->fault = "the file has too many values that take no bytes";
    return reader->fault == NULL;
}

/* Call before `count` elements of `fields` fields each.  Returns false on a fault. */
static inline bool metatf_take_repeat(struct metatf_reader *reader, uint64_t count, uint32_t fields)
{
    if (reader->fault != NULL || count > reader->budget / (fields > 0 ? fields : 1)) {
        if (reader->fault == NULL)
            reader->fault = "a count is too large";
        return false;
    }
    reader->budget -= (uint32_t) count * fields;
    return metatf_take_values(reader, count * fields);
}

/* Call before each element.  Returns false on a fault or at the end. */
static inline bool metatf_take_element(struct metatf_reader *reader, const uint8_t **at)
{
    if (reader->fault != NULL || *at > reader->stream.end)
        return false;
    return (size_t) (reader->stream.end - *at) >= reader->need || metatf_reader_more(reader, at, 0);
}

static inline void metatf_expect(struct metatf_reader *reader, uint64_t value, uint64_t wanted)
{
    if (value != wanted && reader->fault == NULL)
        reader->fault = "a field does not have the value that the DTD prescribes";
}

/* Ends the record at `at`. */
static inline enum step_status metatf_commit(struct metatf_reader *reader, const uint8_t *at,
                                             struct step_error *error)
{
    if (at > reader->stream.end || reader->fault != NULL)
        return metatf_reader_refuse(reader, at, error);
    reader->current->position += (uint64_t) (at - reader->stream.at);
    step_budget_earn(&reader->credit, METATF_VALUES_PER_BYTE, (uint64_t) (at - reader->stream.at));
    reader->stream.at = at;
    reader->record_number++;
    return STEP_STATUS_OK;
}

/* ---- writing ---- */

/* State of a section during writing. */
struct metatf_writing {
    const struct metatf_section *section;
    struct metatf_state *states;
    uint64_t *cells;
    uint32_t *users; /* for each field, the field whose width it stores, or METATF_NO_FIELD */
    uint8_t *data;
    size_t length;
    size_t capacity;
    uint64_t position;
    enum step_compression compression;
    const struct metatf_writing *owner; /* for a data section, the section that wrote its content */
    uint32_t tag_width;                 /* in a section of records; else 0 */
};

/* A change by the current record: to a cell, or to the length of a data section. */
struct metatf_undo {
    uint64_t *cell;
    struct metatf_writing *data;
    uint64_t old;
};

struct metatf_writer_rest;

struct metatf_writer {
    struct metatf_writing *current; /* section of the current record */
    struct metatf_writing *run;     /* section whose buffer receives it */
    struct metatf_writing *split[256];
    struct metatf_undo *undo;
    size_t undo_count;
    size_t undo_capacity;
    uint32_t need;
    uint32_t misfit;       /* the first field that did not fit, or METATF_NO_FIELD */
    unsigned misfit_width; /* width that it would need; above 8: none is sufficient */
    bool big_endian;
    bool out_of_memory;
    uint64_t position; /* of the last record */
    struct metatf_writer_rest *rest;
};

/* Starts a record.  Returns where to encode it, or NULL, for which see metatf_writer_end(). */
uint8_t *metatf_writer_begin(struct metatf_writer *writer, uint32_t section, uint64_t tag);
/* Ends the record at `at`.  Returns true if it did not fit, metadata were written, and the caller
 * must encode it again. */
bool metatf_writer_end(struct metatf_writer *writer, uint32_t record, uint8_t *at, uint32_t *misfit,
                       enum step_status *status, struct step_error *error);
bool metatf_writer_room(struct metatf_writer *writer, uint8_t **at, uint64_t length);
bool metatf_writer_split_room(struct metatf_writer *writer, struct metatf_writing *data);
bool metatf_writer_undo_room(struct metatf_writer *writer, uint64_t count);
void metatf_writer_misfit(struct metatf_writer *writer, const struct metatf_state *state,
                          uint32_t field, uint64_t value, uint64_t argument, uint64_t previous);

/* Stores a number of a striding field in a section of records, as one of its records. */
void metatf_put_split_record(struct metatf_writer *writer, struct metatf_writing *data,
                             unsigned stride, uint64_t value);

/* Notes a value to restore if the record does not fit. */
static inline void metatf_note_undo(struct metatf_writer *writer, uint64_t *cell,
                                    struct metatf_writing *data, uint64_t old)
{
    struct metatf_undo undo = {cell, data, old};
    writer->undo[writer->undo_count++] = undo;
}

/* Returns the width of a number that a field strides to. */
static inline unsigned metatf_split_width(const struct metatf_writer *writer,
                                          const struct metatf_state *state)
{
    return (unsigned) state->stride - writer->split[state->argument]->tag_width;
}

static inline void metatf_put_split(struct metatf_writer *writer, const struct metatf_state *state,
                                    uint64_t value)
{
    struct metatf_writing *data = writer->split[state->argument];
    if ((data->owner != writer->current ||
         data->capacity - data->length < 2 * STEP_FIELD_WIDTH_MAX) &&
        !metatf_writer_split_room(writer, data))
        return;
    metatf_note_undo(writer, NULL, data, data->length);
    if (!data->section->is_data) {
        metatf_put_split_record(writer, data, (unsigned) state->stride, value);
        return;
    }
    step_number_store(data->data + data->length, value, (unsigned) state->stride,
                      writer->big_endian);
    data->length += state->stride;
}

static inline void metatf_put_number(struct metatf_writer *writer, uint8_t **at,
                                     const struct metatf_state *state, uint64_t argument,
                                     uint64_t *cell, uint64_t value, uint32_t field)
{
    bool split = state->interpretation == STEP_FIELD_SECTION_STRIDE;
    uint64_t previous = *cell;
    if (!step_field_fits(state->interpretation, value,
                         split ? metatf_split_width(writer, state) : state->width, argument,
                         state->stride, previous)) {
        if (writer->misfit == METATF_NO_FIELD)
            metatf_writer_misfit(writer, state, field, value, argument, previous);
        return;
    }
    metatf_note_undo(writer, cell, NULL, previous);
    *cell = value;
    if (split)
        metatf_put_split(writer, state, value);
    else
        *at = step_number_store(*at,
                                step_field_stored(state->interpretation, value, argument, previous),
                                state->width, writer->big_endian);
}

/* Writes bytes.  `length` is the value of the width field, if there is one. */
static inline void metatf_put_bytes(struct metatf_writer *writer, uint8_t **at,
                                    const struct metatf_state *state, struct step_bytes bytes,
                                    uint64_t length, uint32_t field)
{
    if (bytes.length != (state->width_by_field ? length : state->width)) {
        if (writer->misfit == METATF_NO_FIELD)
            metatf_writer_misfit(writer, state, field, bytes.length, 0, 0);
        return;
    }
    if (bytes.length == 0 || !metatf_writer_room(writer, at, bytes.length))
        return;
    memcpy(*at, bytes.data, bytes.length);
    *at += bytes.length;
}

/* Call before each element of `fields` fields.  Returns false if the record cannot be continued. */
static inline bool metatf_put_element(struct metatf_writer *writer, uint8_t **at, uint32_t fields)
{
    return writer->misfit == METATF_NO_FIELD && !writer->out_of_memory &&
           metatf_writer_room(writer, at, 0) && metatf_writer_undo_room(writer, fields);
}

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
