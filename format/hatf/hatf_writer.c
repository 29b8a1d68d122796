/* SPDX-License-Identifier: Apache-2.0 */
/* Writer for HATF.  A record is checked against the state before it is encoded, so one that does
 * not fit changes nothing. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/hatf/hatf_state.h"

#define BUFFER_BYTES ((size_t) 1 << 18)

/* An output stream and its buffer. */
struct stream {
    struct step_output output;
    size_t pending;
    uint64_t flushed;
    uint8_t *buffer; /* BUFFER_BYTES */
};

struct hatf_writer {
    struct hatf_state state;
    enum hatf_split split;
    struct stream streams[HATF_STREAM_COUNT]; /* without a split only the first is used */
    uint64_t record_count;
    enum step_status status; /* the outputs' first error */
    struct step_error error;
    struct hatf_output_file *file; /* created by hatf_writer_open(); the writer finishes it */
};

void hatf_writer_take_state(struct hatf_writer *writer, const struct hatf_writer *other)
{
    writer->state = other->state;
}

enum step_status hatf_writer_create_split(const struct step_output *outputs, enum hatf_split split,
                                          struct hatf_writer **out, struct step_error *error)
{
    struct hatf_writer *writer = calloc(1, sizeof *writer);
    bool ok = writer != NULL;
    *out = NULL;
    for (unsigned i = 0; ok && i < HATF_STREAM_COUNT; i++) {
        if (i != HATF_STREAM_MAIN && hatf_stream_name(split, i) == NULL)
            continue;
        writer->streams[i].output = outputs[i];
        writer->streams[i].buffer = malloc(BUFFER_BYTES);
        ok = writer->streams[i].buffer != NULL;
    }
    if (!ok) {
        hatf_writer_destroy(writer);
        return step_no_memory(error, NULL);
    }
    hatf_state_init(&writer->state);
    writer->split = split;
    *out = writer;
    return STEP_STATUS_OK;
}

enum step_status hatf_writer_create(const struct step_output *output, struct hatf_writer **out,
                                    struct step_error *error)
{
    return hatf_writer_create_split(output, HATF_SPLIT_NONE, out, error);
}

enum step_status hatf_writer_open(const char *path, enum hatf_split split, int level,
                                  struct hatf_writer **out, struct step_error *error)
{
    struct hatf_output_file *file;
    *out = NULL;
    enum step_status status = hatf_output_file_open(path, split, level, &file, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = hatf_writer_create_split(hatf_output_file_outputs(file), split, out, error);
    if (status == STEP_STATUS_OK)
        (*out)->file = file;
    else
        hatf_output_file_destroy(file);
    return status;
}

void hatf_writer_destroy(struct hatf_writer *writer)
{
    if (writer == NULL)
        return;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        free(writer->streams[i].buffer);
    hatf_output_file_destroy(writer->file);
    free(writer);
}

/* ---- what fits ---- */

static enum hatf_width hatf_writer_width_of(uint64_t value, bool is_signed)
{
    static const uint8_t widths[] = {0, 1, 2, 4};
    for (size_t i = 0; i < sizeof widths; i++)
        if (is_signed ? step_fits_signed(value, widths[i]) : step_fits_unsigned(value, widths[i]))
            return (enum hatf_width) widths[i];
    return HATF_WIDTH_8;
}

enum hatf_width hatf_width_of_unsigned(uint64_t value)
{
    return hatf_writer_width_of(value, false);
}

enum hatf_width hatf_width_of_signed(uint64_t value)
{
    return hatf_writer_width_of(value, true);
}

static bool number_fits(const struct hatf_field_state *field, uint64_t value, uint64_t previous)
{
    return step_field_fits(field->interpretation, value, field->width, field->value, field->stride,
                           previous);
}

static bool attributes_fit(const struct hatf_field_state *field, size_t length)
{
    switch (field->width) {
    case HATF_WIDTH_V1:
        return length <= UINT8_MAX;
    case HATF_WIDTH_V2:
        return length <= UINT16_MAX;
    default:
        return length == field->width;
    }
}

static enum hatf_field field_of(uint8_t part)
{
    return part == HATF_PART_NEW_ADDRESS ? HATF_ADDRESS : (enum hatf_field) part;
}

static bool part_fits(const struct hatf_state *state, const struct hatf_record *record,
                      uint8_t part)
{
    const struct hatf_field_state *field = &state->fields[field_of(part)];
    if (part == HATF_ATTRIBUTES)
        return attributes_fit(field, record->attributes.length);
    uint64_t previous = part == HATF_PART_NEW_ADDRESS ? record->address : field->previous;
    return number_fits(field, hatf_number_of(record, part), previous);
}

/* Returns the first part of the record that does not fit, or HATF_PART_END. */
static uint8_t find_misfit(const struct hatf_state *state, const struct hatf_record *record)
{
    const uint8_t *part = hatf_layouts[record->tag];
    while (*part != HATF_PART_END && part_fits(state, record, *part))
        part++;
    return *part;
}

bool hatf_writer_fits(const struct hatf_writer *writer, const struct hatf_record *record,
                      enum hatf_field *misfit)
{
    if ((unsigned) record->tag >= HATF_TAG_COUNT)
        return false;
    if (record->tag == HATF_COMMENT)
        return record->comment.length <= HATF_COMMENT_MAX;
    uint8_t part = find_misfit(&writer->state, record);
    if (part != HATF_PART_END && misfit != NULL)
        *misfit = field_of(part);
    return part == HATF_PART_END;
}

/* ---- bytes ---- */

static void flush(struct hatf_writer *writer, struct stream *stream)
{
    size_t pending = stream->pending;
    stream->pending = 0;
    if (writer->status == STEP_STATUS_OK && pending > 0) {
        writer->status =
            stream->output.write(stream->output.user, stream->buffer, pending, &writer->error);
        stream->flushed += pending;
    }
}

static enum step_status hatf_writer_give_status(const struct hatf_writer *writer,
                                                struct step_error *error)
{
    if (writer->status != STEP_STATUS_OK && error != NULL)
        *error = writer->error;
    return writer->status;
}

/* Returns room for any record plus one word, as numbers are stored as whole words. */
static uint8_t *hatf_writer_reserve(struct hatf_writer *writer, unsigned number)
{
    struct stream *stream = &writer->streams[number];
    if (stream->buffer == NULL)
        return NULL;
    if (writer->status == STEP_STATUS_OK &&
        BUFFER_BYTES - stream->pending < HATF_RECORD_BYTES_MAX + 8)
        flush(writer, stream);
    return writer->status == STEP_STATUS_OK ? stream->buffer + stream->pending : NULL;
}

static enum step_status commit(struct hatf_writer *writer, const uint8_t *end)
{
    struct stream *stream = &writer->streams[HATF_STREAM_MAIN];
    stream->pending = (size_t) (end - stream->buffer);
    writer->record_count++;
    return STEP_STATUS_OK;
}

static inline uint8_t *hatf_writer_store(uint8_t *out, uint64_t value, unsigned width)
{
    return step_number_store(out, value, width, HATF_BIG_ENDIAN);
}

static uint8_t *store_bytes(uint8_t *out, struct step_bytes bytes)
{
    if (bytes.length > 0)
        memcpy(out, bytes.data, bytes.length);
    return out + bytes.length;
}

static uint8_t *store_number(uint8_t *out, struct hatf_field_state *field, uint64_t value)
{
    uint64_t stored =
        step_field_stored(field->interpretation, value, field->value, field->previous);
    field->previous = value;
    return hatf_writer_store(out, stored, field->width);
}

static uint8_t *store_attributes(uint8_t *out, const struct hatf_field_state *field,
                                 struct step_bytes attributes)
{
    if (field->width == HATF_WIDTH_V1)
        out = hatf_writer_store(out, attributes.length, 1);
    else if (field->width == HATF_WIDTH_V2)
        out = hatf_writer_store(out, attributes.length, 2);
    return store_bytes(out, attributes);
}

/* ---- records ---- */

static enum step_status hatf_writer_put_metadata(struct hatf_writer *writer,
                                                 const struct hatf_metadata *metadata,
                                                 struct step_error *error)
{
    const char *fault =
        hatf_metadata_fault(metadata->operation, metadata->field, metadata->argument);
    if (fault != NULL)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", fault);
    uint8_t *out = hatf_writer_reserve(writer, HATF_STREAM_MAIN);
    if (out == NULL)
        return hatf_writer_give_status(writer, error);
    *out++ = HATF_METADATA;
    *out++ = metadata->operation;
    *out++ = metadata->field;
    *out++ = metadata->argument;
    unsigned values = hatf_metadata_values(metadata->operation, metadata->argument);
    if (values > 0)
        out = hatf_writer_store(out, metadata->value, 8);
    if (values > 1)
        out = hatf_writer_store(out, metadata->stride, 8);
    hatf_state_apply(&writer->state, metadata);
    return commit(writer, out);
}

enum step_status hatf_writer_set_width(struct hatf_writer *writer, enum hatf_field field,
                                       enum hatf_width width, struct step_error *error)
{
    if ((unsigned) field > UINT8_MAX || (unsigned) width > UINT8_MAX)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "unknown field or width");
    const struct hatf_metadata metadata = {
        .operation = HATF_SET_WIDTH, .field = (uint8_t) field, .argument = (uint8_t) width};
    return hatf_writer_put_metadata(writer, &metadata, error);
}

enum step_status hatf_writer_set_interpretation(struct hatf_writer *writer, enum hatf_field field,
                                                enum hatf_interpretation interpretation,
                                                uint64_t value, uint64_t stride,
                                                struct step_error *error)
{
    if ((unsigned) field > UINT8_MAX || (unsigned) interpretation > UINT8_MAX)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "unknown field or interpretation");
    const struct hatf_metadata metadata = {.operation = HATF_SET_INTERPRETATION,
                                           .field = (uint8_t) field,
                                           .argument = (uint8_t) interpretation,
                                           .value = value,
                                           .stride = stride};
    return hatf_writer_put_metadata(writer, &metadata, error);
}

enum step_status hatf_writer_comment(struct hatf_writer *writer, const void *text, size_t length,
                                     struct step_error *error)
{
    if (length > HATF_COMMENT_MAX)
        return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "the comment has more than %u bytes", HATF_COMMENT_MAX);
    uint8_t *out = hatf_writer_reserve(writer, HATF_STREAM_MAIN);
    if (out == NULL)
        return hatf_writer_give_status(writer, error);
    *out++ = HATF_COMMENT;
    out = hatf_writer_store(out, length, 2);
    return commit(writer, store_bytes(out, (struct step_bytes){text, length}));
}

static enum step_status hatf_writer_refuse(const struct hatf_writer *writer,
                                           const struct hatf_record *record, uint8_t part,
                                           struct step_error *error)
{
    const struct hatf_field_state *field = &writer->state.fields[field_of(part)];
    const char *name = hatf_field_name(field_of(part));
    if (part == HATF_ATTRIBUTES)
        return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "record %" PRIu64 ": attributes of %zu bytes do not fit width %s%u",
                              writer->record_count + 1, record->attributes.length,
                              field->width > 8 ? "v" : "",
                              field->width > 8 ? field->width - 8u : field->width);
    return step_error_set(
        error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
        "record %" PRIu64 ": %s%s %" PRIu64 " does not fit (%s, %u bytes)",
        writer->record_count + 1, part == HATF_PART_NEW_ADDRESS ? "new " : "", name,
        hatf_number_of(record, part),
        hatf_interpretation_name((enum hatf_interpretation) field->interpretation), field->width);
}

/* Stores one part of a record.  Returns the address after it. */
static uint8_t *store_part(uint8_t *out, struct hatf_field_state *field,
                           const struct hatf_record *record, uint8_t part)
{
    return part == HATF_ATTRIBUTES ? store_attributes(out, field, record->attributes)
                                   : store_number(out, field, hatf_number_of(record, part));
}

/* All streams have room before the first byte is stored. */
static enum step_status hatf_writer_put_data(struct hatf_writer *writer,
                                             const struct hatf_record *record,
                                             struct step_error *error)
{
    uint8_t *out[HATF_STREAM_COUNT];
    unsigned stream_count = writer->split == HATF_SPLIT_NONE ? 1 : HATF_STREAM_COUNT;
    for (unsigned i = 0; i < stream_count; i++)
        out[i] = hatf_writer_reserve(writer, i);
    if (writer->status != STEP_STATUS_OK)
        return hatf_writer_give_status(writer, error);
    *out[HATF_STREAM_MAIN]++ = (uint8_t) record->tag;
    for (const uint8_t *part = hatf_layouts[record->tag]; *part != HATF_PART_END; part++) {
        enum hatf_field number = field_of(*part);
        struct hatf_field_state *field = &writer->state.fields[number];
        bool apart = writer->split == HATF_SPLIT_FIELDS ||
                     (writer->split == HATF_SPLIT_ADDRESS && number == HATF_ADDRESS &&
                      field->interpretation == HATF_NONE);
        unsigned stream = apart ? HATF_STREAM_OF(number) : HATF_STREAM_MAIN;
        out[stream] = store_part(out[stream], field, record, *part);
    }
    for (unsigned i = 1; i < stream_count; i++)
        if (out[i] != NULL)
            writer->streams[i].pending = (size_t) (out[i] - writer->streams[i].buffer);
    return commit(writer, out[HATF_STREAM_MAIN]);
}

enum step_status hatf_writer_put(struct hatf_writer *writer, const struct hatf_record *record,
                                 enum hatf_field *misfit, struct step_error *error)
{
    if ((unsigned) record->tag >= HATF_TAG_COUNT)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "unknown tag");
    if (record->tag == HATF_COMMENT)
        return hatf_writer_comment(writer, record->comment.data, record->comment.length, error);
    if (record->tag == HATF_METADATA)
        return hatf_writer_put_metadata(writer, &record->metadata, error);
    uint8_t part = find_misfit(&writer->state, record);
    if (part == HATF_PART_END)
        return hatf_writer_put_data(writer, record, error);
    if (misfit != NULL)
        *misfit = field_of(part);
    return hatf_writer_refuse(writer, record, part, error);
}

const struct hatf_field_state *hatf_writer_field(const struct hatf_writer *writer,
                                                 enum hatf_field field)
{
    return (unsigned) field < HATF_FIELD_COUNT ? &writer->state.fields[field] : NULL;
}

uint64_t hatf_writer_record_count(const struct hatf_writer *writer)
{
    return writer->record_count;
}

uint64_t hatf_writer_size(const struct hatf_writer *writer)
{
    uint64_t size = 0;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        size += writer->streams[i].flushed + writer->streams[i].pending;
    return size;
}

enum step_status hatf_writer_flush(struct hatf_writer *writer, struct step_error *error)
{
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        flush(writer, &writer->streams[i]);
    return hatf_writer_give_status(writer, error);
}

enum step_status hatf_writer_close(struct hatf_writer *writer, struct step_error *error)
{
    if (hatf_writer_flush(writer, error) != STEP_STATUS_OK || writer->file == NULL)
        return writer->status;
    writer->status = hatf_output_file_finish(writer->file, &writer->error);
    hatf_output_file_destroy(writer->file);
    writer->file = NULL;
    return hatf_writer_give_status(writer, error);
}
