/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the input of a verb, filters heap traces, reports progress, and reports errors. */
#include "converter/formats/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/containers/id_set.h"
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/files/monotonic_time.h"
#include "converter/files/standard_input.h"
#include "converter/files/trace_gap.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/unmatched.h"
#include "steptrace/hatf.h"
#include "steptrace/live.h"

/* ---- live objects by address, with the decision whether each was selected ---- */

struct alloc_filter {
    const struct event_selection *selected; /* borrowed */
    bool everything;
    bool is_of_objects;
    bool no_memory;
    uint64_t object_count;
    struct object_table live; /* by live_address_key(): value is the object, class_id 1 if
                                 selected */
};

static void alloc_filter_init(struct alloc_filter *filter, const struct event_selection *selected)
{
    struct event_selection objects = *selected;
    objects.threads.count = 0; /* records have their own threads */
    *filter = (struct alloc_filter){.selected = selected,
                                    .everything = event_selection_is_all(selected),
                                    .is_of_objects = selected->classes.count > 0 ||
                                                     event_selection_is_of_objects(&objects)};
}

static bool input_thread_matches(const void *user, const char *glob)
{
    char *end;
    return strtoull(glob, &end, 10) == *(const uint64_t *) user && *end == '\0';
}

/* Adds the object that a record allocates to the table.  Returns true if it is selected. */
static bool take_new(struct alloc_filter *filter, const struct hatf_record *record,
                     uint64_t address)
{
    static const struct step_bytes plain = {(const uint8_t *) "malloc", 6};
    static const struct step_bytes nowhere = {(const uint8_t *) "", 0};
    const struct event_selection *selected = filter->selected;
    const struct step_bytes *name = record->attributes.length > 0 ? &record->attributes : &plain;
    uint64_t object = ++filter->object_count;
    bool takes = selected_globs_take(&selected->classes, trace_class_name_matches, name) &&
                 selected_globs_take(&selected->sites, trace_class_name_matches, &nowhere) &&
                 selected_globs_take(&selected->methods, trace_class_name_matches, &nowhere) &&
                 (!selected->size.is_set || selected_range_has(&selected->size, record->size)) &&
                 (selected->objects == NULL || id_set_has(selected->objects, object));
    const struct live_object live = {
        .object = live_address_key(address), .value = object, .class_id = takes};
    if (!object_table_put(&filter->live, &live))
        filter->no_memory = true;
    return takes;
}

static bool take_old(struct alloc_filter *filter, uint64_t address, bool *is_known)
{
    struct live_object live;
    *is_known = object_table_take(&filter->live, live_address_key(address), &live);
    return *is_known && live.class_id != 0;
}

/* A realloc in place ends one object and begins another (allocs_as_events.c does the same).  Where
 * only one of them is selected, its free or its allocation is what is left of the record. */
static bool takes_resized(struct alloc_filter *filter, struct hatf_record *record)
{
    bool is_known;
    bool takes_old = take_old(filter, record->address, &is_known);
    bool takes_new = is_known && take_new(filter, record, record->new_address);
    if (takes_old && !takes_new)
        *record = (struct hatf_record){.tag = HATF_FREE,
                                       .address = record->address,
                                       .thread = record->thread,
                                       .heap = record->heap,
                                       .time = record->time};
    if (takes_new && !takes_old) {
        record->tag = HATF_ALLOC;
        record->address = record->new_address;
        record->new_address = 0;
    }
    return takes_old || takes_new;
}

/* Returns true if the record's object is selected; always false for records without an object. */
static bool takes_object(struct alloc_filter *filter, struct hatf_record *record)
{
    bool is_known;
    switch (record->tag) {
    case HATF_ALLOC:
        return take_new(filter, record, record->address);
    case HATF_FREE:
        return take_old(filter, record->address, &is_known);
    case HATF_REALLOC_NO_ALLOC:
        return record->new_address != 0 && takes_resized(filter, record);
    default:
        return false;
    }
}

/* Returns the kind of event for the tag, or KIND_COUNT if there is none. */
static enum step_text_kind kind_of(enum hatf_tag tag)
{
    switch (tag) {
    case HATF_ALLOC:
        return EVENT_OBJECT_ALLOC;
    case HATF_FREE:
        return EVENT_OBJECT_FREE;
    case HATF_CREATE_THREAD:
        return EVENT_THREAD_BEGIN;
    case HATF_DESTROY_THREAD:
        return EVENT_THREAD_END;
    default:
        return EVENT_KIND_COUNT;
    }
}

/* Call for all records, in order.  The record becomes what is selected of it. */
static bool alloc_filter_takes(struct alloc_filter *filter, struct hatf_record *record)
{
    const struct event_selection *selected = filter->selected;
    if (filter->everything || record->tag == HATF_METADATA)
        return true;
    if (filter->is_of_objects && !takes_object(filter, record))
        return false;
    if (record->tag == HATF_COMMENT || record->time < selected->from_ns ||
        record->time > selected->to_ns ||
        !selected_globs_take(&selected->threads, input_thread_matches, &record->thread))
        return false;
    enum step_text_kind kind = kind_of(record->tag);
    return kind < EVENT_KIND_COUNT ? (selected->kinds & TRACE_KIND_BIT(kind)) != 0
                                   : selected->kinds == TRACE_ALL_KINDS;
}

enum { PROGRESS_AFTER_MS = 1000, PROGRESS_EVERY_MS = 200 };

static uint64_t now_ms(void)
{
    return monotonic_ns() / 1000000;
}

/* Maps the library's errors for bad input to one status. */
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
    input->of_heap = selected;
    enum step_status status = choose_objects(input, input->spool >= 0 ? input->spool_path : path,
                                             format, selected, &error);
    return status == STEP_STATUS_OK ? status : as_bad_input(report_error(&error));
}

/* Streams standard input if its format supports that; otherwise copies it to a file. */
static enum step_status open_standard_input(struct input *input, const struct trace_format *format,
                                            struct event_selection *selected, bool is_seekable,
                                            struct step_error *error)
{
    struct standard_input start;
    enum step_status status = standard_input_peek(&start, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (format == NULL)
        format = trace_format_of_start(start.start, start.length);
    if (!is_seekable && trace_format_streams(format, &start)) {
        struct opened_trace opened = {.format = format};
        status = format->open_stream(&start, selected, &opened, error);
        if (status == STEP_STATUS_OK)
            status = record_trace_source_create(opened.allocs, selected, &input->source, error);
        input->allocs = status == STEP_STATUS_OK ? opened.allocs : NULL;
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
    is_seekable =
        is_seekable || event_selection_needs_deaths(selected); /* requires a separate pass */
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
        status = STEP_STATUS_CORRUPT; /* the file exists, but something in it is missing */
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
    if (event_source_is_of_records(input->source))
        status = step_error_set(&error, STEP_STATUS_FORMAT, input->source->path, STEP_NO_OFFSET,
                                "its records are neither those of a Java trace nor of a heap trace "
                                "(`steptrace dump` prints them)");
    if (events == NULL)
        status = no_memory(&error);
    while (status == STEP_STATUS_OK) {
        size_t count = 0;
        status =
            input->source->operations->read(input->source, events, INPUT_BATCH, &count, &error);
        if (status != STEP_STATUS_OK)
            break;
        for (size_t i = 0; i < count; i++) {
            input->events += trace_event_is_selected(&events[i]);
            input->unknown_frees += events[i].kind == EVENT_OBJECT_FREE &&
                                    events[i].class_id == 0 &&
                                    !input->source->filter.selected.untracked;
        }
        status = input->source->names.no_memory || input->source->filter.no_memory
                     ? step_error_set(&error, STEP_STATUS_NO_MEMORY, input->source->path,
                                      STEP_NO_OFFSET, "out of memory for its names")
                     : visit(user, events, count, &error);
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
    alloc_filter_init(&filter, selected);
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
    object_table_reset(&filter.live);
    clear_progress(input);
    if (status == STEP_STATUS_END)
        return STEP_STATUS_OK;
    report_error(&error);
    return as_bad_input(status);
}

static void report_cut(const struct input *input)
{
    struct trace_summary summary = trace_summary_of(&input->source->about);
    if (summary.whole || trace_damage_count(&input->source->about) > 0)
        return;
    const char *path = report_name(input->source->path);
    char text[TRACE_GAP_ROOM];
    const char *missing = event_source_property(input->source, STEP_LIVE_MISSING_AFTER).unshown;
    const char *what = summary.running   ? TRACE_GAP_RUNNING
                       : missing != NULL ? trace_gap_end(missing, text)
                                         : "the trace was not closed: its process was killed";
    if (summary.recovered > 0 && !summary.running)
        report_line("%s: %s; %" PRIu64 " records were taken from %s.live", path, what,
                    summary.recovered, path);
    else
        report_line("%s: %s", path, what);
}

/* Reports lost events, and a recorder that had to stop.  Returns true if there were any. */
static bool report_lost(const struct event_source *source)
{
    char text[TRACE_GAP_ROOM];
    const char *gaps[] = {trace_gap_dropped(event_source_property(source, "dropped").unshown, text),
                          trace_gap_early(event_source_property(source, "end").unshown),
                          event_source_property(source, TRACE_FILES_GAPS).unshown};
    size_t count = 0;
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++) {
        if (gaps[i] != NULL)
            report_line("%s: %s", report_name(source->path), gaps[i]);
        count += gaps[i] != NULL;
    }
    return count > 0;
}

/* Reports what the agent could not record.  Returns true if there is any. */
static bool report_incomplete(const struct event_source *source)
{
    const char *what = event_source_property(source, TRACE_INCOMPLETE).unshown;
    if (what != NULL)
        report_line("%s: the trace is incomplete: %s", report_name(source->path), what);
    return what != NULL;
}

static void report_patterns(struct input *input)
{
    const struct event_source *source = input->source;
    const char *name = report_name(source->path);
    if (!input->is_unmatched_reported)
        report_unmatched(name, &source->names, &source->filter.selected, input->events == 0);
    if (!input->is_unmatched_reported && input->of_heap != NULL)
        report_unmatched(name, &source->names, input->of_heap, input->events == 0);
    input->is_unmatched_reported = true;
}

enum step_status input_report_damage(struct input *input)
{
    const struct event_source *source = input->source;
    size_t count = trace_damage_count(&source->about);
    for (; input->damage_reported < count && input->damage_reported < REPORT_DAMAGE_MOST;
         input->damage_reported++)
        report_damage(source->path, trace_damage(&source->about, input->damage_reported));
    report_damage_left(source->path, count);
    report_cut(input);
    report_patterns(input);
    struct trace_summary summary = trace_summary_of(&source->about);
    if (summary.running)
        input->unknown_frees = 0; /* the allocations have not been written yet */
    if (input->unknown_frees > 0)
        report_line("%s: %" PRIu64 " frees of objects whose allocation is missing",
                    report_name(source->path), input->unknown_frees);
    bool lost = report_lost(source);
    input->is_damaged = count > 0 || !summary.whole || input->unknown_frees > 0 || lost;
    bool incomplete = report_incomplete(source);
    return input->is_damaged || incomplete ? STEP_STATUS_CORRUPT : STEP_STATUS_OK;
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
