/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, going through, telling. */
#include "converter/open/input.h"
#include "converter/allocs/alloc_filter.h"
#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/files/output_file.h"
#include "converter/open/chosen_objects.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "converter/files/standard_input.h"

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 200, MOST_DAMAGE_REPORTED = 20 };

enum step_status report_error(const struct step_error *error)
{
    char text[900];
    struct step_error shown = *error;
    if (strncmp(shown.file, COPY_PATH_START, sizeof COPY_PATH_START - 1) == 0)
        snprintf(shown.file, sizeof shown.file, "%s", STANDARD_INPUT_NAME);
    step_error_print(&shown, text, sizeof text);
    report_line("%s", text);
    return error->status;
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

/* Statuses of a bad input, whatever the library calls them. */
static enum step_status as_bad_input(enum step_status status)
{
    switch (status) {
    case STEP_STATUS_CORRUPT:
    case STEP_STATUS_CUT:
    case STEP_STATUS_FORMAT:
    case STEP_STATUS_UNSUPPORTED:
    case STEP_STATUS_LIMIT:
    case STEP_STATUS_INVALID:
        return STEP_STATUS_CORRUPT;
    default:
        return status;
    }
}

static enum step_status choose_objects(struct input *input, const char *path,
                                       const struct trace_format *format,
                                       struct event_selection *selected, struct step_error *error)
{
    if (!event_selection_needs_deaths(selected) || selected->objects != NULL)
        return STEP_STATUS_OK;
    selected->objects = &input->objects;
    return chosen_objects_find(path, format, selected, &input->objects, error);
}

enum step_status input_choose_objects(struct input *input, const char *path,
                                      const struct trace_format *format,
                                      struct event_selection *selected)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = choose_objects(input, input->spool >= 0 ? input->spool_path : path,
                                             format, selected, &error);
    return status == STEP_STATUS_OK ? status : as_bad_input(report_error(&error));
}

/* As it comes where its format can be read so, else through a file. */
static enum step_status open_standard_input(struct input *input, const struct trace_format *format,
                                            struct event_selection *selected, bool is_seekable,
                                            struct step_error *error)
{
    struct standard_input start;
    struct alloc_source *allocs;
    enum step_status status = standard_input_peek(&start, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (format == NULL)
        format = trace_format_of_start(start.start, start.length);
    if (!is_seekable && trace_format_streams(format, &start)) {
        status = format->open_stream(&start, selected, &allocs, error);
        if (status == STEP_STATUS_OK)
            status = record_trace_source_create(allocs, selected, &input->source, error);
        input->allocs = status == STEP_STATUS_OK ? allocs : NULL;
        return status;
    }
    status = standard_input_spool(&start, &input->spool, error);
    if (status != STEP_STATUS_OK)
        return status;
    snprintf(input->spool_path, sizeof input->spool_path, COPY_PATH_START "%d", input->spool);
    status = choose_objects(input, input->spool_path, format, selected, error);
    return status == STEP_STATUS_OK ? trace_open_events(input->spool_path, format, selected,
                                                        &input->source, &input->allocs, error)
                                    : status;
}

static enum step_status open_input(struct input *input, const char *path,
                                   const struct trace_format *format,
                                   const struct event_selection *selected, bool is_seekable)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    *input = (struct input){
        .spool = -1, .shows_progress = isatty(STDERR_FILENO) != 0, .started_ms = now_ms()};
    bool is_standard = strcmp(path, "-") == 0;
    bool is_there = is_standard || access(path, F_OK) == 0;
    struct event_selection chosen = *selected;
    is_seekable = is_seekable || event_selection_needs_deaths(selected); /* a pass of its own */
    enum step_status status = STEP_STATUS_OK;
    if (is_standard)
        status = open_standard_input(input, format, &chosen, is_seekable, &error);
    else
        status = choose_objects(input, path, format, &chosen, &error);
    if (status == STEP_STATUS_OK && input->source == NULL)
        status = trace_open_events(path, format, &chosen, &input->source, &input->allocs, &error);
    if (status == STEP_STATUS_OK)
        return status;
    if (status == STEP_STATUS_NOT_FOUND && is_there)
        status = STEP_STATUS_CORRUPT; /* not the file is missing, but something in it */
    report_error(&error);
    input_close(input);
    return as_bad_input(status);
}

enum step_status input_open(struct input *input, const char *path,
                            const struct trace_format *format,
                            const struct event_selection *selected)
{
    return open_input(input, path, format, selected, false);
}

enum step_status input_open_seekable(struct input *input, const char *path,
                                     const struct trace_format *format,
                                     const struct event_selection *selected)
{
    return open_input(input, path, format, selected, true);
}

static void show_progress(struct input *input)
{
    uint64_t now = now_ms();
    if (now - input->started_ms < PROGRESS_AFTER_MS || now - input->shown_ms < PROGRESS_EVERY_MS)
        return;
    double share = input->source->operations->progress(input->source);
    input->shown_ms = now;
    input->has_shown = true;
    fprintf(stderr, "\r%3.0f %%  %.1f million events, %.1f s ", 100 * share,
            (double) input->events / 1e6, (double) (now - input->started_ms) / 1e3);
    fflush(stderr);
}

static void clear_progress(struct input *input)
{
    if (input->has_shown)
        fprintf(stderr, "\r%60s\r", "");
    input->has_shown = false;
}

enum step_status input_each(struct input *input, input_visit visit, void *user)
{
    struct trace_event *events = malloc(INPUT_BATCH * sizeof *events);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = STEP_STATUS_OK;
    unsigned batches = 0;
    if (input->source->is_foreign)
        status = step_error_set(&error, STEP_STATUS_FORMAT, input->source->path, STEP_NO_OFFSET,
                                "its records are neither Java's nor a heap's "
                                "(steptrace dump prints them)");
    if (events == NULL)
        status = no_memory(&error);
    while (status == STEP_STATUS_OK) {
        size_t count = 0;
        status =
            input->source->operations->read(input->source, events, INPUT_BATCH, &count, &error);
        if (status != STEP_STATUS_OK)
            break;
        for (size_t i = 0; i < count; i++)
            input->unknown_frees += events[i].kind == EVENT_OBJECT_FREE &&
                                    events[i].class_id == 0 &&
                                    !input->source->filter.selected.untracked;
        status = input->source->names.no_memory || input->source->filter.no_memory
                     ? step_error_set(&error, STEP_STATUS_NO_MEMORY, input->source->path,
                                      STEP_NO_OFFSET, "out of memory for its names")
                     : visit(user, events, count, &error);
        input->events += count;
        if (input->shows_progress && (++batches & 63) == 0)
            show_progress(input);
    }
    clear_progress(input);
    free(events);
    if (status == STEP_STATUS_END)
        return STEP_STATUS_OK;
    report_error(&error);
    return as_bad_input(status);
}

enum step_status input_each_alloc(struct input *input, input_visit_alloc visit, void *user)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct event_selection *selected = &input->source->filter.selected;
    struct alloc_filter filter;
    struct hatf_record record;
    enum step_status status = STEP_STATUS_OK;
    if (!alloc_filter_init(&filter, selected))
        status = no_memory(&error);
    while (status == STEP_STATUS_OK &&
           (status = alloc_source_next(input->allocs, &record, &error)) == STEP_STATUS_OK) {
        if (alloc_filter_takes(&filter, &record))
            status = visit(user, &record, &error);
        if (status == STEP_STATUS_OK && filter.no_memory)
            status = no_memory(&error);
        if (status != STEP_STATUS_OK)
            break;
        input->events++;
        if (input->shows_progress && (input->events & 0x7fff) == 0)
            show_progress(input);
    }
    alloc_filter_reset(&filter);
    clear_progress(input);
    if (status == STEP_STATUS_END)
        return STEP_STATUS_OK;
    report_error(&error);
    return as_bad_input(status);
}

static void report_cut(const struct input *input)
{
    struct trace_summary summary;
    input->source->operations->summary(input->source, &summary);
    if (summary.whole || input->source->operations->damage_count(input->source) > 0)
        return;
    const char *path = input->source->path;
    if (summary.running) {
        report_line(
            "%s: its process still runs: of each thread there is what has reached the file, and "
            "some "
            "are farther than others",
            path);
        return;
    }
    const char *what = "the trace was not closed: its process was killed";
    if (summary.recovered > 0)
        report_line("%s: %s; %" PRIu64 " records were taken from %s.live", path, what,
                    summary.recovered, path);
    else
        report_line("%s: %s", path, what);
}

/* Some faults are of no place: a record that does not fit to those before it. */
static void tell_damage(const char *path, const struct step_damage *damage)
{
    char place[40] = "", passed[48] = "";
    if (damage->offset != STEP_NO_OFFSET)
        snprintf(place, sizeof place, "offset %" PRIu64 ": ", damage->offset);
    if (damage->length > 0)
        snprintf(passed, sizeof passed, " (%" PRIu64 " bytes passed over)", damage->length);
    report_line("%s: %s%s%s", path, place, damage->message, passed);
}

enum step_status input_report_damage(struct input *input)
{
    const struct event_source *source = input->source;
    size_t count = source->operations->damage_count(source);
    for (; input->damage_reported < count && input->damage_reported < MOST_DAMAGE_REPORTED;
         input->damage_reported++)
        tell_damage(source->path, source->operations->damage(source, input->damage_reported));
    if (count > input->damage_reported)
        report_line("%s: and %zu more such places", source->path, count - input->damage_reported);
    report_cut(input);
    struct trace_summary summary;
    source->operations->summary(source, &summary);
    if (summary.running)
        input->unknown_frees = 0; /* the allocations are on their way */
    if (input->unknown_frees > 0)
        report_line("%s: %" PRIu64 " frees of objects whose allocation is not there", source->path,
                    input->unknown_frees);
    input->is_damaged = count > 0 || !summary.whole || input->unknown_frees > 0;
    return input->is_damaged ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}

void input_close(struct input *input)
{
    if (input->source != NULL)
        input->source->operations->destroy(input->source);
    if (input->spool >= 0)
        close(input->spool);
    id_set_reset(&input->objects);
    input->source = NULL;
    input->spool = -1;
}

enum step_status report_reader_damage(const struct step_reader *reader, const char *path)
{
    size_t count = step_reader_damage_count(reader);
    for (size_t i = 0; i < count; i++) {
        const struct step_damage *damage = step_reader_damage(reader, i);
        report_line("%s: offset %" PRIu64 ": %s (%" PRIu64 " bytes passed over)", path,
                    damage->offset, damage->message, damage->length);
    }
    return count > 0 ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
}
