/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the trace; for ages at the peak two. */
#include "converter/verb_parts/heap/heap_from_trace.h"

#include "converter/base/no_memory.h"
#include "converter/heap/heap_tracker.h"
#include "converter/open/input.h"
#include "converter/verb_parts/heap/heaps_found.h"

/* A pass over the trace, and what it gave. */
struct pass {
    const struct heap_asked *asked;
    struct input *input;
    struct heap_tracker tracker;
    struct heaps_found found;
    bool wants_ages;
};

static void add_age(void *user, const struct heap_key *key, uint64_t bytes, uint64_t age_us)
{
    struct pass *pass = user;
    (void) key;
    heap_ages_add(&pass->found.ages, bytes, age_us);
}

static enum step_status receive(void *user, struct heap_snapshot *snapshot,
                                struct step_error *error)
{
    struct pass *pass = user;
    struct heap_snapshot *snapshots = pass->found.snapshots;
    const struct heap_moment *moments = pass->asked->moments;
    (void) error;
    for (size_t i = 0; i < pass->asked->moment_count; i++) {
        if (snapshots[i].rows != NULL || moments[i].kind != snapshot->moment.kind ||
            moments[i].value != snapshot->moment.value)
            continue;
        snapshots[i] = *snapshot;
        if (pass->wants_ages)
            heap_tracker_each_object(&pass->tracker, add_age, pass);
        return STEP_STATUS_OK;
    }
    heap_snapshot_reset(snapshot);
    return STEP_STATUS_OK;
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    return heap_tracker_put(&((struct pass *) user)->tracker, events, count, error);
}

static bool judges_threads(const struct gates *gates)
{
    bool found = false;
    for (size_t i = 0; i < gates->count; i++)
        found |= gates->rules[i].axis == AXIS_THREAD;
    return found;
}

static enum step_status follow(struct pass *pass, uint64_t event_limit)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct heap_asked *asked = pass->asked;
    const struct heap_tracker_options options = {
        .selected = &asked->selected,
        .by_thread = (asked->report.axes & HEAP_BY_THREAD) != 0 || judges_threads(&asked->gates),
        .moments = asked->moments,
        .moment_count = asked->moment_count,
        .receive = receive,
        .user = pass};
    if (!heap_tracker_init(&pass->tracker, &pass->input->source->names, &options)) {
        no_memory(&error);
        return report_error(&error);
    }
    pass->tracker.event_limit = event_limit;
    enum step_status status = input_each(pass->input, visit, pass);
    if (status != STEP_STATUS_OK)
        return status;
    pass->input->unknown_frees = pass->tracker.unknown_frees;
    status = heap_tracker_finish(&pass->tracker, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static void reset_pass(struct pass *pass)
{
    heaps_found_reset(&pass->found);
    heap_tracker_reset(&pass->tracker);
}

/* Ages at the peak take the objects that lived then: they are met in a pass of its own, once it is
 * known when the peak was. */
static enum step_status follow_to_peak(struct pass *pass, const char *path,
                                       const struct event_selection *selected)
{
    struct input first;
    enum step_status status =
        input_open(&first, pass->input->spool >= 0 ? pass->input->spool_path : path,
                   pass->asked->from, selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct pass before = {.asked = pass->asked, .input = &first};
    status = follow(&before, 0);
    uint64_t peak_event = before.tracker.peak_event;
    reset_pass(&before);
    input_close(&first);
    return status == STEP_STATUS_OK ? follow(pass, peak_event) : status;
}

static enum step_status print(struct pass *pass, const char *path, size_t *failed)
{
    struct heaps_found *found = &pass->found;
    found->asked = pass->asked;
    found->path = path;
    found->sites = &pass->tracker.sites;
    found->collections = pass->tracker.collections;
    return heaps_found_print(found, failed);
}

/* All that heaps are made of: which objects are told of is the tracker's business. */
static void select_heap(struct event_selection *selected, const char *dtd_path)
{
    event_selection_init(selected);
    selected->untracked = true;
    selected->kinds = HEAP_KINDS;
    selected->dtd_path = dtd_path;
}

enum step_status heap_from_trace(struct heap_asked *asked, const char *path, size_t *failed)
{
    struct input input;
    struct event_selection selected;
    select_heap(&selected, asked->selected.dtd_path);
    enum step_status status = input_open_seekable(&input, path, asked->from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    status = input_choose_objects(&input, path, NULL, &asked->selected);
    if (status != STEP_STATUS_OK) {
        input_close(&input);
        return status;
    }
    struct pass pass = {.asked = asked, .input = &input, .wants_ages = asked->ages};
    bool in_two = asked->ages && asked->moments[0].kind == HEAP_AT_PEAK;
    status = in_two ? follow_to_peak(&pass, path, &selected) : follow(&pass, 0);
    if (status == STEP_STATUS_OK)
        status = print(&pass, path, failed);
    enum step_status damage = input_report_damage(&input);
    reset_pass(&pass);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}
