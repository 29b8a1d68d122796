/* SPDX-License-Identifier: Apache-2.0 */
/* Reader for HATF's text form.  Its buffer always holds a whole line, or the rest of the input. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/step_no_memory.h"

#include "steptrace/hatf.h"
#include "steptrace/packed.h"

#define BUFFER_BYTES ((size_t) 1 << 20) /* more than twice HATF_LINE_MAX */

struct hatf_text_reader {
    char name[256];
    struct step_packed_input *packed; /* owned; NULL: the caller's input is used */
    struct hatf_input input;
    size_t at;
    size_t end;
    size_t last; /* start of the last line */
    bool ended;
    uint64_t base; /* offset of the buffer's first byte */
    uint64_t line_number;
    enum step_status status;
    struct step_error error;
    uint8_t bytes[HATF_LINE_MAX];
    char buffer[BUFFER_BYTES];
};

enum step_status hatf_text_reader_create(const struct hatf_input *input, const char *name,
                                         struct hatf_text_reader **out, struct step_error *error)
{
    *out = NULL;
    struct hatf_text_reader *reader = malloc(sizeof *reader);
    if (reader == NULL)
        return step_no_memory(error, name);
    memset(reader, 0, offsetof(struct hatf_text_reader, bytes));
    if (name != NULL)
        memcpy(reader->name, name, strnlen(name, sizeof reader->name - 1));
    reader->input = *input;
    *out = reader;
    return STEP_STATUS_OK;
}

static enum step_status hatf_text_give(struct step_packed_input *packed, enum step_status status,
                                       const char *name, struct hatf_text_reader **out,
                                       struct step_error *error)
{
    const struct hatf_input input = {packed, step_packed_input_read};
    *out = NULL;
    if (status != STEP_STATUS_OK)
        return status;
    status = hatf_text_reader_create(&input, name, out, error);
    if (status == STEP_STATUS_OK)
        (*out)->packed = packed;
    else
        step_packed_input_close(packed);
    return status;
}

enum step_status hatf_text_reader_open(const char *path, struct hatf_text_reader **out,
                                       struct step_error *error)
{
    struct step_packed_input *input;
    enum step_status status = step_packed_input_open(path, &input, error);
    return hatf_text_give(input, status, path, out, error);
}

enum step_status hatf_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct hatf_text_reader **out,
                                              struct step_error *error)
{
    struct step_packed_input *input;
    enum step_status status = step_packed_input_open_memory(data, length, name, &input, error);
    return hatf_text_give(input, status, name, out, error);
}

void hatf_text_reader_destroy(struct hatf_text_reader *reader)
{
    if (reader == NULL)
        return;
    step_packed_input_close(reader->packed);
    free(reader);
}

uint64_t hatf_text_reader_offset(const struct hatf_text_reader *reader)
{
    return reader->base + reader->last;
}

double hatf_text_reader_progress(const struct hatf_text_reader *reader)
{
    return reader->packed != NULL ? step_packed_input_progress(reader->packed) : 1.0;
}

static enum step_status hatf_text_give_status(const struct hatf_text_reader *reader,
                                              struct step_error *error)
{
    if (reader->status != STEP_STATUS_END && error != NULL)
        *error = reader->error;
    return reader->status;
}

static enum step_status hatf_text_refuse(struct hatf_text_reader *reader, enum step_status status,
                                         const char *fault, struct step_error *error)
{
    reader->status = step_error_set(&reader->error, status, reader->name, reader->base + reader->at,
                                    "line %" PRIu64 ": %s", reader->line_number + 1, fault);
    return hatf_text_give_status(reader, error);
}

/* Reads until a line feed or the whole rest of the input is in the buffer.  Returns NULL at the
 * end. */
static char *find_line_end(struct hatf_text_reader *reader)
{
    size_t searched = 0;
    for (;;) {
        char *start = reader->buffer + reader->at;
        size_t length = reader->end - reader->at;
        char *found = length > searched ? memchr(start + searched, '\n', length - searched) : NULL;
        if (found != NULL || reader->ended || length >= HATF_LINE_MAX)
            return found;
        searched = length;
        if (reader->at > 0) {
            memmove(reader->buffer, start, length);
            reader->base += reader->at;
            reader->at = 0;
            reader->end = length;
        }
        size_t got = 0;
        reader->status = reader->input.read(reader->input.user, reader->buffer + reader->end,
                                            BUFFER_BYTES - reader->end, &got, &reader->error);
        reader->ended = reader->status != STEP_STATUS_OK || got == 0;
        reader->end += got;
    }
}

enum step_status hatf_text_reader_next(struct hatf_text_reader *reader, struct hatf_record *record,
                                       struct step_error *error)
{
    if (reader->status != STEP_STATUS_OK)
        return hatf_text_give_status(reader, error);
    char *line_end = find_line_end(reader);
    if (reader->status != STEP_STATUS_OK)
        return hatf_text_give_status(reader, error);
    if (line_end == NULL && reader->at == reader->end) {
        reader->status = STEP_STATUS_END;
        return reader->status;
    }
    if (line_end == NULL)
        return reader->ended
                   ? hatf_text_refuse(reader, STEP_STATUS_CUT, "the file ends inside the line",
                                      error)
                   : hatf_text_refuse(reader, STEP_STATUS_CORRUPT, "the line is too long", error);
    const char *line = reader->buffer + reader->at;
    const char *fault = hatf_line_parse(line, (size_t) (line_end - line), record, reader->bytes);
    if (fault != NULL)
        return hatf_text_refuse(reader, STEP_STATUS_CORRUPT, fault, error);
    reader->last = reader->at;
    reader->at = (size_t) (line_end - reader->buffer) + 1;
    reader->line_number++;
    return STEP_STATUS_OK;
}
