/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text format, in a ZIP file or as plain lines. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/formats/text/text_format.h"
#include "converter/trace/trace_sink.h"
#include "format/core/grow.h"
#include "steptrace/show.h"
#include "steptrace/text.h"

#define BUFFER_BYTES ((size_t) 1 << 17)

struct text_sink {
    struct trace_sink base;
    const struct trace_names *names; /* borrowed */
    struct step_text_writer *writer; /* of a ZIP file; NULL: plain lines */
    bool is_shown;                   /* control characters are escaped as well */
    struct id_table classes;         /* struct step_bytes: escaped names */
    struct id_table methods;
    char *buffer;
    size_t used;
    size_t capacity;
};

/* Replaces control characters that a terminal would interpret with `\u001b` (they have at most four
 * digits).  Tabs stay, because the text format has no escape for them.  Takes an escaped text and
 * replaces it. */
static bool escape_controls(char **text, size_t *length)
{
    char *shown = malloc(*length * STEP_TEXT_ESCAPED_MAX(1) + 1);
    size_t used = 0;
    if (shown == NULL)
        return false;
    for (size_t i = 0; i < *length;) {
        const uint8_t *at = (const uint8_t *) *text + i;
        size_t one = at[0] == '\t' ? 1 : step_show_length(at, *length - i);
        if (one > 0) {
            memcpy(shown + used, at, one);
            used += one;
        } else {
            one = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : 3;
            unsigned code = one == 1 ? at[0]
                            : one == 2
                                ? (at[0] & 0x1fu) << 6 | (at[1] & 0x3fu)
                                : (at[0] & 0xfu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
            used += (size_t) sprintf(shown + used, "\\u%04x", code & 0xffff);
        }
        i += one;
    }
    free(*text);
    *text = shown;
    *length = used;
    return true;
}

/* Escapes a name; "?17" for an invalid name. */
static bool escape(const struct text_sink *sink, struct step_bytes name, uint32_t id,
                   struct step_bytes *out)
{
    char *text = malloc(STEP_TEXT_ESCAPED_MAX(name.length) + 16);
    size_t length = 0;
    if (text == NULL)
        return false;
    if (!step_text_escape(name, text, &length))
        length = (size_t) snprintf(text, 16, "?%" PRIu32, id);
    if (sink->is_shown && !escape_controls(&text, &length)) {
        free(text);
        return false;
    }
    char *fitted = realloc(text, length);
    *out = (struct step_bytes){(const uint8_t *) (fitted != NULL ? fitted : text), length};
    return true;
}

/* Not inlined, so that class_name() and method_name() stay small where they are inlined. */
__attribute__((noinline)) static const struct step_bytes *escape_once(struct text_sink *sink,
                                                                      struct id_table *table,
                                                                      struct step_bytes name,
                                                                      uint32_t id)
{
    struct step_bytes *text = id_table_get(table, id);
    return text != NULL && escape(sink, name, id, text) ? text : NULL;
}

static inline const struct step_bytes *class_name(struct text_sink *sink, uint32_t id)
{
    const struct step_bytes *text = id_table_find(&sink->classes, id);
    return text != NULL && text->data != NULL
               ? text
               : escape_once(sink, &sink->classes, trace_class_of(sink->names, id)->name, id);
}

static inline const struct step_bytes *method_name(struct text_sink *sink, uint32_t id)
{
    const struct step_bytes *text = id_table_find(&sink->methods, id);
    return text != NULL && text->data != NULL
               ? text
               : escape_once(sink, &sink->methods, trace_method_of(sink->names, id)->name, id);
}

static enum step_status flush(struct text_sink *sink, struct step_error *error)
{
    enum step_status status =
        sink->writer == NULL ? output_file_write(sink->base.file, sink->buffer, sink->used, error)
                             : step_text_writer_put_line(sink->writer, sink->buffer, sink->used);
    sink->used = 0;
    if (status != STEP_STATUS_OK && sink->writer != NULL)
        step_text_writer_close(sink->writer, error);
    return status;
}

/* Ensures room for a line with these names. */
static enum step_status make_room(struct text_sink *sink, size_t space, struct step_error *error)
{
    if (sink->capacity - sink->used >= space)
        return STEP_STATUS_OK;
    enum step_status status = flush(sink, error);
    if (status != STEP_STATUS_OK || sink->capacity >= space)
        return status;
    char *buffer = step_grown(sink->buffer, &sink->capacity, space, 1);
    if (buffer == NULL)
        return no_memory(error);
    sink->buffer = buffer;
    return STEP_STATUS_OK;
}

static bool names_of(struct text_sink *sink, const struct trace_event *event,
                     struct step_text_event *line)
{
    const struct step_bytes *class = NULL;
    const struct step_bytes *method = NULL;
    switch (event->kind) {
    case STEP_TEXT_CL:
    case STEP_TEXT_OA:
    case STEP_TEXT_OF:
        class = class_name(sink, event->class_id);
        if (class != NULL)
            line->class_name = *class;
        return class != NULL;
    case STEP_TEXT_MN:
    case STEP_TEXT_MX:
    case STEP_TEXT_FP:
        class = class_name(sink, trace_method_of(sink->names, event->method_id)->class_id);
        method = method_name(sink, event->method_id);
        if (class == NULL || method == NULL)
            return false;
        line->class_name = *class;
        line->method_name = *method;
        return true;
    default:
        return true;
    }
}

static enum step_status put(struct trace_sink *base, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    struct text_sink *sink = (struct text_sink *) base;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        struct step_text_event line = {.kind = (enum step_text_kind) event->kind,
                                       .time_ns = event->time_ns,
                                       .object = event->object};
        if (event->thread_id != 0)
            line.thread = trace_thread_of(sink->names, event->thread_id)->number;
        if (!names_of(sink, event, &line))
            return no_memory(error);
        enum step_status status = make_room(
            sink, STEP_TEXT_LINE_SPACE(line.class_name.length, line.method_name.length), error);
        if (status != STEP_STATUS_OK)
            return status;
        sink->used += step_text_format_escaped(&line, sink->buffer + sink->used);
    }
    return STEP_STATUS_OK;
}

static enum step_status close_sink(struct trace_sink *base, struct step_error *error)
{
    struct text_sink *sink = (struct text_sink *) base;
    enum step_status status = flush(sink, error);
    if (status == STEP_STATUS_OK && sink->writer != NULL)
        status = step_text_writer_close(sink->writer, error);
    return status;
}

static void free_names(struct id_table *table)
{
    struct step_bytes *text;
    for (uint32_t id = 0; (text = id_table_next(table, &id)) != NULL; id++)
        free((void *) (uintptr_t) text->data);
    id_table_reset(table);
}

static void reset(struct trace_sink *base)
{
    struct text_sink *sink = (struct text_sink *) base;
    step_text_writer_destroy(sink->writer);
    free_names(&sink->classes);
    free_names(&sink->methods);
    free(sink->buffer);
}

static enum step_status open_sink(struct trace_sink *base, const struct format_output *to,
                                  struct step_error *error)
{
    struct text_sink *sink = (struct text_sink *) base;
    const bool *is_shown = format_settings_get(to->settings, &shown_options);
    sink->names = &to->source->names;
    sink->buffer = malloc(BUFFER_BYTES);
    sink->capacity = BUFFER_BYTES;
    id_table_init(&sink->classes, sizeof(struct step_bytes));
    id_table_init(&sink->methods, sizeof(struct step_bytes));
    if (sink->buffer == NULL)
        return no_memory(error);
    if (to->format == &format_lines) {
        sink->is_shown = *is_shown;
        return STEP_STATUS_OK;
    }
    const char *path = output_file_seekable_path(to->file, error);
    return path != NULL ? step_text_writer_create(path, &sink->writer, error) : STEP_STATUS_IO;
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct text_sink),
    .open = open_sink,
    .put = put,
    .close = close_sink,
    .reset = reset,
};

const struct format_options shown_options = {sizeof(bool), NULL, NULL};

const struct trace_format format_text = {
    .name = "text",
    .ending = ".zip",
    .help = "lines, in a ZIP entry `trace`",
    .magic = "PK\003\004",
    .open_source = text_source_create,
    .sink = &operations,
};

const struct trace_format format_lines = {
    .name = "lines",
    .ending = ".txt",
    .help = "text, a line an event",
    .magic = "VS:",
    .open_source = lines_source_create,
    .sink = &operations,
};
