/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of a trace: splits it into lines, parses them, and keeps the first error. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"
#include "format/io/zip_entry.h"
#include "steptrace/text.h"

#define PIECE_BYTES ((size_t) 1 << 18)
#define BUFFER_BYTES (STEP_TEXT_LINE_MAX + PIECE_BYTES)

struct step_text_reader {
    struct text_source *source;
    char *buffer;     /* BUFFER_BYTES; unread bytes are at [start, end) */
    uint8_t *scratch; /* STEP_TEXT_LINE_MAX bytes, for the names of one line */
    size_t start;
    size_t end;
    uint64_t line;           /* lines returned so far */
    uint64_t offset;         /* of `start` in the uncompressed text */
    enum step_status status; /* OK, END, or that of `error` */
    struct step_error error;
};

/* Makes the reader of a source if that was opened. */
static enum step_status text_reader_create(enum step_status status, struct text_source *source,
                                           struct step_text_reader **out, struct step_error *error)
{
    *out = NULL;
    if (status != STEP_STATUS_OK)
        return status;
    struct step_text_reader *reader = calloc(1, sizeof *reader);
    if (reader != NULL) {
        reader->source = source;
        reader->buffer = malloc(BUFFER_BYTES);
        reader->scratch = malloc(STEP_TEXT_LINE_MAX);
    }
    if (reader == NULL || reader->buffer == NULL || reader->scratch == NULL) {
        status = step_no_memory(error, text_source_name(source));
        if (reader == NULL)
            text_source_destroy(source);
        step_text_reader_destroy(reader);
        return status;
    }
    *out = reader;
    return STEP_STATUS_OK;
}

enum step_status step_text_reader_open(const char *path, struct step_text_reader **out,
                                       struct step_error *error)
{
    struct text_source *source = NULL;
    enum step_status status = text_source_open_entry(path, TEXT_ENTRY, &source, error);
    return text_reader_create(status, source, out, error);
}

enum step_status step_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct step_text_reader **out,
                                              struct step_error *error)
{
    struct text_source *source = NULL;
    enum step_status status = text_source_open_memory(data, length, name, &source, error);
    return text_reader_create(status, source, out, error);
}

enum step_status step_text_reader_open_plain(const void *data, size_t length, const char *name,
                                             struct step_text_reader **out,
                                             struct step_error *error)
{
    struct text_source *source = NULL;
    enum step_status status = text_source_open_plain(data, length, name, &source, error);
    return text_reader_create(status, source, out, error);
}

enum step_status step_text_reader_open_file(int file, uint64_t size, const char *name,
                                            struct step_text_reader **out, struct step_error *error)
{
    struct text_source *source = NULL;
    enum step_status status = text_source_open_file(file, size, name, &source, error);
    return text_reader_create(status, source, out, error);
}

/* Keeps the error of a faulty line; its message starts with line and column. */
static void refuse_line(struct step_text_reader *reader, enum step_status status, size_t position,
                        const char *reason)
{
    reader->status =
        step_error_set(&reader->error, status, text_source_name(reader->source), reader->offset,
                       "line %" PRIu64 ", column %zu: %s", reader->line + 1, position + 1, reason);
}

/* Keeps the source's error, with the number of the line that it cut. */
static void keep_error(struct step_text_reader *reader, enum step_status status)
{
    char place[40];
    snprintf(place, sizeof place, "line %" PRIu64, reader->line + 1);
    step_error_prefix(&reader->error, place);
    reader->status = status;
}

/* Handles the rest at the end of the source: nothing, or an unterminated line. */
static void text_reader_finish(struct step_text_reader *reader)
{
    if (reader->start == reader->end)
        reader->status = STEP_STATUS_END;
    else
        refuse_line(reader, STEP_STATUS_CUT, reader->end - reader->start,
                    "the line feed is missing at the end of the text");
}

/* Reads more bytes after the existing ones.  Returns false with the status set if there are
 * none. */
static bool refill(struct step_text_reader *reader)
{
    size_t left = reader->end - reader->start;
    if (left >= STEP_TEXT_LINE_MAX) {
        refuse_line(reader, STEP_STATUS_CORRUPT, 0, "the line is too long");
        return false;
    }
    memmove(reader->buffer, reader->buffer + reader->start, left);
    reader->start = 0;
    reader->end = left;
    size_t got;
    enum step_status status =
        text_source_read(reader->source, reader->buffer + left, PIECE_BYTES, &got, &reader->error);
    if (status != STEP_STATUS_OK)
        keep_error(reader, status);
    else if (got == 0)
        text_reader_finish(reader);
    reader->end += got;
    return reader->status == STEP_STATUS_OK;
}

/* Returns the length of the next line, line feed included; 0 with the status set if there is
 * none. */
static size_t text_reader_find_line(struct step_text_reader *reader)
{
    for (;;) {
        const char *start = reader->buffer + reader->start;
        const char *feed = memchr(start, '\n', reader->end - reader->start);
        if (feed != NULL && (size_t) (feed - start) < STEP_TEXT_LINE_MAX)
            return (size_t) (feed - start) + 1;
        if (feed != NULL) {
            refuse_line(reader, STEP_STATUS_CORRUPT, 0, "the line is too long");
            return 0;
        }
        if (!refill(reader))
            return 0;
    }
}

static enum step_status text_reader_give_status(const struct step_text_reader *reader,
                                                struct step_error *error)
{
    if (reader->status != STEP_STATUS_END && error != NULL)
        *error = reader->error;
    return reader->status;
}

enum step_status step_text_reader_next(struct step_text_reader *reader,
                                       struct step_text_event *event, struct step_error *error)
{
    if (reader->status != STEP_STATUS_OK)
        return text_reader_give_status(reader, error);
    size_t length = text_reader_find_line(reader);
    if (length == 0)
        return text_reader_give_status(reader, error);
    struct step_text_fault fault;
    if (!step_text_parse(reader->buffer + reader->start, length, reader->scratch, event, &fault)) {
        refuse_line(reader, STEP_STATUS_CORRUPT, fault.position, fault.reason);
        return text_reader_give_status(reader, error);
    }
    reader->start += length;
    reader->offset += length;
    reader->line++;
    return STEP_STATUS_OK;
}

uint64_t step_text_reader_line(const struct step_text_reader *reader)
{
    return reader->line;
}

uint64_t step_text_reader_offset(const struct step_text_reader *reader)
{
    return reader->offset;
}

const char *step_text_reader_remark(const struct step_text_reader *reader)
{
    return text_source_remark(reader->source);
}

uint64_t step_text_reader_size(const struct step_text_reader *reader)
{
    return text_source_size(reader->source);
}

void step_text_reader_destroy(struct step_text_reader *reader)
{
    if (reader == NULL)
        return;
    text_source_destroy(reader->source);
    free(reader->buffer);
    free(reader->scratch);
    free(reader);
}
