/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text format, in a ZIP file or as plain lines. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/base/name_index.h"
#include "converter/formats/text/text_format.h"
#include "format/core/no_memory.h"
#include "steptrace/text.h"

struct text_source {
    struct event_source base;
    struct step_text_reader *reader;
    struct name_index classes;
    struct name_index methods;
    struct name_index threads;
    int file; /* of plain lines; -1: none */
};

static uint32_t class_of(struct text_source *source, struct step_bytes name)
{
    struct trace_names *names = &source->base.names;
    bool is_new;
    uint32_t id = name_index_put(&source->classes, 0, name, &is_new);
    if (!is_new)
        return id;
    struct trace_class *class = id_table_get(&names->classes, id);
    if (class == NULL || !trace_names_copy(names, name, &class->name))
        return 0;
    class->known = true;
    name_index_set_text(&source->classes, id, class->name);
    return id;
}

static uint32_t method_of(struct text_source *source, uint32_t class_id, struct step_bytes name)
{
    struct trace_names *names = &source->base.names;
    bool is_new;
    uint32_t id = name_index_put(&source->methods, class_id, name, &is_new);
    if (!is_new)
        return id;
    struct trace_method *method = id_table_get(&names->methods, id);
    if (method == NULL || !trace_names_copy(names, name, &method->name))
        return 0;
    method->class_id = class_id;
    method->known = true;
    name_index_set_text(&source->methods, id, method->name);
    return id;
}

static uint32_t thread_of(struct text_source *source, uint64_t number)
{
    static const struct step_bytes nothing = {(const uint8_t *) "", 0};
    bool is_new;
    uint32_t id = name_index_put(&source->threads, number, nothing, &is_new);
    if (!is_new)
        return id;
    struct trace_thread *thread = id_table_get(&source->base.names.threads, id);
    if (thread == NULL)
        return 0;
    *thread = (struct trace_thread){.number = number, .name = nothing, .known = true};
    return id;
}

/* Returns false if memory runs out. */
static bool take(struct text_source *source, const struct step_text_event *line,
                 struct trace_event *event)
{
    *event = (struct trace_event){
        .kind = (uint8_t) line->kind, .time_ns = line->time_ns, .object = line->object};
    bool ok = true;
    uint32_t class_id = 0;
    const char *fields = step_text_kind_fields(line->kind);
    if (strchr(fields, 'T') != NULL && line->thread != 0)
        ok = (event->thread_id = thread_of(source, line->thread)) != 0;
    if (strchr(fields, 'C') != NULL)
        ok = ok && (class_id = class_of(source, line->class_name)) != 0;
    if (strchr(fields, 'M') != NULL)
        ok = ok && (event->method_id = method_of(source, class_id, line->method_name)) != 0;
    else
        event->class_id = class_id;
    return ok && event_source_follow(&source->base, event);
}

static enum step_status read_events(struct event_source *base, struct trace_event *events,
                                    size_t capacity, size_t *count, struct step_error *error)
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
        } else if (status == STEP_STATUS_OK && !take(source, &line, &events[filled])) {
            return step_no_memory(error, base->path);
        } else if (status == STEP_STATUS_OK) {
            filled += trace_filter_takes(&base->filter, &base->names, &events[filled]);
        } else if (status != STEP_STATUS_END && error != NULL) {
            *error = local;
        }
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

static double progress(struct event_source *base)
{
    const struct text_source *source = (const struct text_source *) base;
    uint64_t size = step_text_reader_size(source->reader);
    return size == 0 ? 1.0 : (double) step_text_reader_offset(source->reader) / (double) size;
}

static void destroy(struct event_source *base)
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

static const struct event_source_operations operations = {
    .read = read_events,
    .progress = progress,
    .destroy = destroy,
};

static enum step_status open_zip(struct text_source *source, const char *path,
                                 struct step_error *error)
{
    struct stat about;
    source->base.about.format = "text";
    if (stat(path, &about) == 0)
        source->base.about.file_bytes = (uint64_t) about.st_size;
    return step_text_reader_open(path, &source->reader, error);
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
    source->file = open(path, O_RDONLY | O_CLOEXEC);
    if (source->file < 0 || fstat(source->file, &about) != 0)
        return open_error(path, errno, error);
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode) && !S_ISSOCK(about.st_mode))
        return step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                              "neither a regular file nor a pipe");
    uint64_t size_bytes = S_ISREG(about.st_mode) ? (uint64_t) about.st_size : 0;
    source->base.about.file_bytes = size_bytes;
    return step_text_reader_open_file(source->file, size_bytes, path, &source->reader, error);
}

typedef enum step_status (*open_function)(struct text_source *source, const char *path,
                                          struct step_error *error);

static enum step_status create(open_function open_reader, const char *path,
                               const struct event_selection *selected, struct opened_trace *out,
                               struct step_error *error)
{
    struct text_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return step_no_memory(error, path);
    source->file = -1;
    enum step_status status = step_no_memory(error, path);
    if (event_source_init(&source->base, &operations, path, selected))
        status = open_reader(source, path, error);
    if (status != STEP_STATUS_OK) {
        destroy(&source->base);
        return status;
    }
    out->events = &source->base;
    return status;
}

enum step_status text_source_create(const char *path, const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error)
{
    return create(open_zip, path, selected, out, error);
}

enum step_status lines_source_create(const char *path, const struct event_selection *selected,
                                     struct opened_trace *out, struct step_error *error)
{
    return create(open_plain, path, selected, out, error);
}
