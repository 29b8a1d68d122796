/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the text format, in a ZIP file or as plain lines. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/trace/trace_sink.h"
#include "format/core/grow.h"
#include "format/core/input_file.h"
#include "format/core/step_no_memory.h"
#include "steptrace/show.h"
#include "steptrace/text.h"

/* ---- reading ---- */

struct text_source {
    struct event_source base;
    struct step_text_reader *reader;
    struct name_index classes;
    struct name_index methods;
    struct name_index threads;
    int file; /* of plain lines; -1: none */
};

/* Returns false if memory runs out. */
static bool text_lines_take(struct text_source *source, const struct step_text_event *line,
                            struct trace_event *event)
{
    *event = (struct trace_event){
        .kind = (uint8_t) line->kind, .time_ns = line->time_ns, .object = line->object};
    struct trace_names *names = &source->base.names;
    bool ok = true, is_new;
    uint32_t class_id = 0;
    const char *fields = step_text_kind_fields(line->kind);
    if (strchr(fields, 'T') != NULL && line->thread != 0)
        ok = (event->thread_id =
                  trace_names_thread(names, &source->threads, line->thread, &is_new)) != 0;
    if (strchr(fields, 'C') != NULL)
        ok = ok && (class_id =
                        trace_names_class(names, &source->classes, line->class_name, &is_new)) != 0;
    if (strchr(fields, 'M') != NULL)
        ok = ok && (event->method_id = trace_names_method(names, &source->methods, class_id,
                                                          line->method_name)) != 0;
    else
        event->class_id = class_id;
    return ok && event_source_follow(&source->base, event);
}

static enum step_status text_lines_read_events(struct event_source *base,
                                               struct trace_event *events, size_t capacity,
                                               size_t *count, struct step_error *error)
{
    struct text_source *source = (struct text_source *) base;
    size_t filled = 0;
    enum step_status status = STEP_STATUS_OK;
    while (filled < capacity && status == STEP_STATUS_OK) {
        struct step_text_event line;
        struct step_error local = {.offset = STEP_NO_OFFSET};
        status = base->about.is_stopped ? STEP_STATUS_END
                                        : step_text_reader_next(source->reader, &line, &local);
        if (status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT) {
            trace_stop_at_damage(&base->about, &local); /* the line that could not be read */
            status = STEP_STATUS_END;
        } else if (status == STEP_STATUS_OK && !text_lines_take(source, &line, &events[filled])) {
            return step_no_memory(error, base->path);
        } else if (status == STEP_STATUS_OK) {
            filled += event_source_takes(base, &events[filled]);
        } else if (status != STEP_STATUS_END && error != NULL) {
            *error = local;
        }
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

static double text_lines_progress(struct event_source *base)
{
    const struct text_source *source = (const struct text_source *) base;
    uint64_t size = step_text_reader_size(source->reader);
    return size == 0 ? 1.0 : (double) step_text_reader_offset(source->reader) / (double) size;
}

static void text_lines_destroy(struct event_source *base)
{
    struct text_source *source = (struct text_source *) base;
    step_text_reader_destroy(source->reader);
    if (source->file >= 0)
        close(source->file);
    name_index_reset(&source->classes);
    name_index_reset(&source->methods);
    name_index_reset(&source->threads);
    event_source_reset(base);
    free(source);
}

static const struct event_source_operations source_operations = {
    .read = text_lines_read_events,
    .progress = text_lines_progress,
    .destroy = text_lines_destroy,
};

static enum step_status open_zip(struct text_source *source, const char *path,
                                 struct step_error *error)
{
    struct stat about;
    source->base.about.format = "text";
    if (stat(path, &about) == 0)
        source->base.about.file_bytes = (uint64_t) about.st_size;
    enum step_status status = step_text_reader_open(path, &source->reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_bytes loss =
        copy_loss_of_comment(step_text(step_text_reader_remark(source->reader)));
    snprintf(source->base.about.said_loss, sizeof source->base.about.said_loss, "%.*s",
             (int) loss.length, loss.length > 0 ? (const char *) loss.data : "");
    return status;
}

static enum step_status open_error(const char *path, int code, struct step_error *error)
{
    return step_error_set(error, code == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO, path,
                          STEP_NO_OFFSET, "cannot open: %s", strerror(code));
}

static enum step_status open_plain(struct text_source *source, const char *path,
                                   struct step_error *error)
{
    struct stat about;
    source->base.about.format = "lines";
    source->file = input_file_open(path, INPUT_STREAM, &about);
    if (source->file < 0)
        return open_error(path, errno, error);
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode))
        return step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                              "neither a regular file nor a pipe");
    uint64_t size_bytes = S_ISREG(about.st_mode) ? (uint64_t) about.st_size : 0;
    source->base.about.file_bytes = size_bytes;
    return step_text_reader_open_file(source->file, size_bytes, path, &source->reader, error);
}

static enum step_status text_lines_create(const char *path, const struct event_selection *selected,
                                          struct opened_trace *out, struct step_error *error)
{
    struct text_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return step_no_memory(error, path);
    source->file = -1;
    event_source_init(&source->base, &source_operations, path, selected);
    enum step_status status = out->format == &format_text ? open_zip(source, path, error)
                                                          : open_plain(source, path, error);
    if (status != STEP_STATUS_OK) {
        text_lines_destroy(&source->base);
        return status;
    }
    out->events = &source->base;
    return status;
}

/* ---- writing ---- */

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

/* Not inlined, so that text_lines_class_name() and method_name() stay small where they are inlined.
 */
__attribute__((noinline)) static const struct step_bytes *escape_once(struct text_sink *sink,
                                                                      struct id_table *table,
                                                                      struct step_bytes name,
                                                                      uint32_t id)
{
    struct step_bytes *text = id_table_get(table, id);
    return text != NULL && escape(sink, name, id, text) ? text : NULL;
}

static inline const struct step_bytes *text_lines_class_name(struct text_sink *sink, uint32_t id)
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

static enum step_status text_lines_flush(struct text_sink *sink, struct step_error *error)
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
static enum step_status text_lines_make_room(struct text_sink *sink, size_t space,
                                             struct step_error *error)
{
    if (sink->capacity - sink->used >= space)
        return STEP_STATUS_OK;
    enum step_status status = text_lines_flush(sink, error);
    if (status != STEP_STATUS_OK || sink->capacity >= space)
        return status;
    return STEP_MAKE_ROOM(sink->buffer, sink->capacity, space) ? status : no_memory(error);
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
        class = text_lines_class_name(sink, event->class_id);
        if (class != NULL)
            line->class_name = *class;
        return class != NULL;
    case STEP_TEXT_MN:
    case STEP_TEXT_MX:
    case STEP_TEXT_FP:
        class =
            text_lines_class_name(sink, trace_method_of(sink->names, event->method_id)->class_id);
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

static enum step_status text_lines_put(struct trace_sink *base, const struct trace_event *events,
                                       size_t count, struct step_error *error)
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
        enum step_status status = text_lines_make_room(
            sink, STEP_TEXT_LINE_SPACE(line.class_name.length, line.method_name.length), error);
        if (status != STEP_STATUS_OK)
            return status;
        sink->used += step_text_format_escaped(&line, sink->buffer + sink->used);
    }
    return STEP_STATUS_OK;
}

static enum step_status text_lines_close(struct trace_sink *base, struct step_error *error)
{
    struct text_sink *sink = (struct text_sink *) base;
    char loss[TRACE_SINK_LOSS_ROOM];
    enum step_status status = text_lines_flush(sink, error);
    if (status == STEP_STATUS_OK && sink->writer != NULL && trace_sink_loss(base, loss))
        step_text_writer_set_remark(sink->writer, loss);
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

static void text_lines_reset(struct trace_sink *base)
{
    struct text_sink *sink = (struct text_sink *) base;
    step_text_writer_destroy(sink->writer);
    free_names(&sink->classes);
    free_names(&sink->methods);
    free(sink->buffer);
}

static enum step_status text_lines_open(struct trace_sink *base, const struct format_output *to,
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

static const struct trace_sink_operations sink_operations = {
    .size_bytes = sizeof(struct text_sink),
    .open = text_lines_open,
    .put = text_lines_put,
    .close = text_lines_close,
    .reset = text_lines_reset,
};

const struct format_options shown_options = {sizeof(bool), NULL, NULL};

const struct trace_format format_text = {
    .name = "text",
    .ending = ".zip",
    .help = "text in a ZIP file, entry `trace`",
    .magic = "PK\003\004",
    .open_source = text_lines_create,
    .sink = &sink_operations,
};

const struct trace_format format_lines = {
    .name = "lines",
    .ending = ".txt",
    .help = "text, one event per line",
    .magic = "VS:",
    .open_source = text_lines_create,
    .sink = &sink_operations,
};
