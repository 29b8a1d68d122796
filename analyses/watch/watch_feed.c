/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the blocks of a watched trace within its processor time limit. */
#include "analyses/watch/watch_feed.h"

#include <stdio.h>
#include <time.h>

#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_files.h"
#include "steptrace/live.h"

static uint64_t written_of(void *user, uint64_t stream)
{
    const struct watch_feed *feed = user;
    return watch_tail_written(&feed->tail, stream);
}

static void watch_feed_take_entry(void *user, const struct step_live_entry *from)
{
    struct watch_feed *feed = user;
    watch_tail_take_entry(&feed->tail, from);
}

static void visit_pending(void *user, const struct step_live_event *from)
{
    struct watch_feed *feed = user;
    struct trace_event event = {.time_ns = watch_tail_time_ns(&feed->tail, from->ticks),
                                .object = from->object,
                                .size = from->size,
                                .class_id = (uint32_t) from->class_,
                                .method_id = (uint32_t) from->method,
                                .stack_id = (uint32_t) from->stack,
                                .drawn_bytes = java_interval(from->interval),
                                .thread_id = (uint32_t) from->thread};
    switch (from->kind) {
    case STEP_LIVE_EXISTING:
        event.flags = TRACE_EXISTING;
        event.kind = EVENT_OBJECT_ALLOC;
        break;
    case STEP_LIVE_ALLOC:
        event.kind = EVENT_OBJECT_ALLOC;
        break;
    case STEP_LIVE_FREE_OBJECT:
        event.kind = EVENT_OBJECT_FREE;
        break;
    case STEP_LIVE_ENTRY:
        event.kind = EVENT_METHOD_ENTRY;
        break;
    case STEP_LIVE_FACT:
        feed->model.gave_up |= from->gave_up;
        return;
    default:
        return;
    }
    watch_tail_name_frame(&feed->tail, event.kind != EVENT_OBJECT_FREE ? event.stack_id : 0);
    if (watch_tail_has_names(&feed->tail, &event) || feed->model.filter.everything)
        watch_model_pend(&feed->model, &event);
}

/* ---- phases ---- */

static void take_phase_name(void *user, const struct step_live_entry *from)
{
    struct watch_feed *feed = user;
    struct trace_names *names = &feed->tail.names;
    struct step_bytes name;
    if (from->kind != STEP_LIVE_DEFINE_METHOD || from->modifiers != STEP_LIVE_IS_PHASE_NAME ||
        from->number == 0 || from->number >= UINT32_MAX)
        return;
    const struct trace_phase_name *known = id_table_find(&names->phases, (uint32_t) from->number);
    if (known != NULL && known->known)
        return;
    if (!trace_names_copy(names, from->name, &name) ||
        !watch_phases_name(&feed->phases, names, (uint32_t) from->number, name))
        feed->model.no_memory = true;
}

static void visit_phase(void *user, const struct step_live_event *from)
{
    struct watch_feed *feed = user;
    const struct watch_mark mark = {.time_ns = watch_tail_time_ns(&feed->tail, from->ticks),
                                    .name = java_id(from->method),
                                    .begins = (from->object & STEP_LIVE_PHASE_ENDS) == 0};
    if (from->kind == STEP_LIVE_FACT && (from->object & STEP_LIVE_PHASE_OF_PROGRAM) != 0)
        feed->model.no_memory |= !watch_phases_mark(&feed->phases, &mark);
}

/* Replaces the marks of phases that the live file has beyond the trace.  Returns false if memory
 * runs out. */
static bool watch_feed_peek_phases(struct watch_feed *feed)
{
    const struct step_live_look look = {
        .user = feed, .written = written_of, .visit = visit_phase, .define = take_phase_name};
    uint64_t dropped;
    watch_phases_begin_marks(&feed->phases);
    if (feed->tail.state == WATCH_RUNNING)
        step_live_peek(trace_live_path(feed->tail.path).text, &look, &dropped, NULL);
    return !feed->model.no_memory;
}

/* ---- events ---- */

/* Adds the events of the live file that the trace does not have yet, as pending events. */
static void watch_feed_peek(struct watch_feed *feed)
{
    const struct step_live_look look = {.user = feed,
                                        .written = written_of,
                                        .visit = visit_pending,
                                        .define = watch_feed_take_entry};
    uint64_t dropped;
    if (step_live_peek(trace_live_path(feed->tail.path).text, &look, &dropped, NULL) ==
        STEP_STATUS_OK)
        feed->tail.dropped = dropped;
}

#define FIRST_NS 150.0e6    /* initial credit */
#define CREDIT_SECONDS 10.0 /* the time over which the share can be saved up */
#define FOLLOWS_MOST 8u     /* looks at the live file while the trace grows */

double watch_feed_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/* ---- from start to end ---- */

static void watch_feed_begin(struct watch_feed *feed)
{
    feed->next = 0;
    feed->records_read = feed->read_ns = 0;
    feed->is_pending = false;
    feed->credit_ns = FIRST_NS;
    feed->spent_ns = watch_feed_cpu_ns();
    feed->settled_ns = -1;
}

/* Returns true if the records of a stream are read in order, and all of them again in the order of
 * time when the trace has ended: phases, and weights of samples, need it. */
static bool needs_order(const struct watch_feed *feed)
{
    return watch_phases_are_selected(&feed->phases) || watch_feed_is_sampled(feed);
}

/* Returns true if events come from a source in the order of time or of arrival. */
static bool is_in_order(const struct watch_feed *feed)
{
    return feed->tail.is_heap || (needs_order(feed) && feed->tail.state != WATCH_RUNNING);
}

static enum step_status start_reading(struct watch_feed *feed, struct step_error *error)
{
    if (feed->tail.is_heap)
        return watch_heap_start(&feed->heap, &feed->tail, &feed->model, error);
    if (is_in_order(feed))
        return watch_heap_start_ordered(&feed->heap, &feed->tail, &feed->model, error);
    watch_heap_reset(&feed->heap);
    feed->model.names = &feed->tail.names;
    sample_weights_reset(&feed->model.weights);
    if (feed->tail.sample_bytes == 0)
        return STEP_STATUS_OK;
    struct sampling *sampling = sampled_trace_sampling(feed->tail.path);
    if (sampling == NULL)
        return no_memory(error);
    sample_weights_init(&feed->model.weights, feed->tail.sample_bytes, sampling);
    return STEP_STATUS_OK;
}

static bool init_schema(struct watch_feed *feed)
{
    return watch_schema_init(&feed->schema, &feed->tail, watch_phases_are_selected(&feed->phases));
}

enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error)
{
    *feed = (struct watch_feed){.selected = *selected, .share = share};
    watch_model_init(&feed->model, &feed->tail.names, selected);
    watch_phases_init(&feed->phases, &feed->selected.phases);
    watch_feed_begin(feed);
    enum step_status status = watch_tail_open(&feed->tail, path, error);
    if (status == STEP_STATUS_OK)
        status = init_schema(feed) ? STEP_STATUS_OK : no_memory(error);
    return status == STEP_STATUS_OK ? start_reading(feed, error) : status;
}

void watch_feed_close(struct watch_feed *feed)
{
    watch_model_reset(&feed->model);
    watch_heap_reset(&feed->heap);
    watch_tail_reset(&feed->tail);
    step_block_destroy(feed->block);
    watch_schema_reset(&feed->schema);
    watch_phases_reset(&feed->phases);
}

static enum step_status restart(struct watch_feed *feed, bool forget, struct step_error *error)
{
    watch_feed_begin(feed);
    watch_phases_restart(&feed->phases);
    watch_model_restart(&feed->model, &feed->selected, forget);
    return start_reading(feed, error);
}

static enum step_status read_phases(struct watch_feed *feed, bool *changed,
                                    struct step_error *error)
{
    if (!watch_feed_peek_phases(feed))
        return no_memory(error);
    return watch_phases_refresh(&feed->phases, &feed->tail, feed->read_ns, changed, error);
}

/* A begin or end that became known after later events of other threads: starts again. */
static enum step_status refresh_phases(struct watch_feed *feed, struct step_error *error)
{
    bool changed = false;
    enum step_status status = read_phases(feed, &changed, error);
    return status == STEP_STATUS_OK && changed && !is_in_order(feed) ? restart(feed, false, error)
                                                                     : status;
}

enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error)
{
    bool changed;
    feed->selected = *selected;
    feed->model.has_mark = false;
    if (!watch_phases_select(&feed->phases, &feed->tail.names) || !init_schema(feed))
        return no_memory(error);
    enum step_status status = read_phases(feed, &changed, error);
    return status == STEP_STATUS_OK ? restart(feed, true, error) : status;
}

/* ---- reading ---- */

static bool has_blocks(const struct watch_feed *feed)
{
    return feed->next < step_reader_block_count(feed->tail.reader);
}

static enum step_status read_block(struct watch_feed *feed, struct step_error *error)
{
    const struct step_block_info *info = step_reader_block_info(feed->tail.reader, feed->next);
    uint64_t count = watch_schema_count(&feed->schema, info);
    uint64_t time_ns = watch_tail_time_ns(&feed->tail, info->time_max);
    feed->records_read += count;
    feed->read_ns = time_ns > feed->read_ns ? time_ns : feed->read_ns;
    size_t number = feed->next++;
    struct watch_phases *phases = needs_order(feed) ? &feed->phases : NULL;
    return count == 0 ? STEP_STATUS_OK
                      : watch_block_read(&feed->tail, &feed->schema, number, &feed->block,
                                         &feed->model, phases, error);
}

/* Returns true if the share of the core is not used up. */
static bool may_read(struct watch_feed *feed)
{
    double now = watch_feed_cpu_ns();
    feed->credit_ns -= now - feed->spent_ns;
    feed->spent_ns = now;
    return feed->tail.state != WATCH_RUNNING || feed->share <= 0 || feed->credit_ns > 0;
}

static enum step_status refresh_tail(struct watch_feed *feed, struct step_error *error)
{
    bool opened_anew;
    enum step_status status = watch_tail_refresh(&feed->tail, &opened_anew, error);
    if (status == STEP_STATUS_OK && opened_anew && !init_schema(feed))
        status = no_memory(error); /* otherwise existing blocks keep their numbers */
    return status;
}

/* Adds the events of the live file.  If the trace has grown meanwhile, the two may overlap or leave
 * a gap; then the new blocks are read first, and the live file again. */
static enum step_status look_at_live_file(struct watch_feed *feed, struct step_error *error)
{
    size_t blocks = step_reader_block_count(feed->tail.reader);
    watch_model_begin_pending(&feed->model);
    watch_feed_peek(feed);
    enum step_status status = refresh_tail(feed, error);
    feed->is_pending =
        step_reader_block_count(feed->tail.reader) == blocks && feed->tail.state == WATCH_RUNNING;
    if (!feed->is_pending)
        watch_model_begin_pending(&feed->model);
    feed->follows++;
    return status;
}

/* With --phase it is left out: its events may be of phases whose begin is not known yet. */
static bool wants_live_file(const struct watch_feed *feed)
{
    return !watch_phases_are_selected(&feed->phases) && feed->tail.state == WATCH_RUNNING &&
           !feed->is_pending && feed->follows < FOLLOWS_MOST;
}

/* ---- a native program's trace: first the file, then the live file; a Java program's phases ----
 */

/* If the trace has ended since reading began, starts again, in time order.  The new source numbers
 * rows differently. */
static enum step_status watch_feed_end_heap(struct watch_feed *feed, struct step_error *error)
{
    bool was_growing = feed->tail.is_heap ? feed->heap.is_running : feed->heap.events == NULL;
    if (!was_growing || feed->tail.state == WATCH_RUNNING)
        return STEP_STATUS_OK;
    watch_model_drop_rows(&feed->model);
    feed->model.total.shown = (struct watch_sums){0};
    feed->model.has_mark = false;
    return restart(feed, false, error);
}

/* Limits how long reading follows a program that is faster than its trace can be read. */
#define HEAP_FOLLOWS_MOST 4u

/* Checks whether the file has grown. */
static enum step_status look_for_more(struct watch_feed *feed, struct step_error *error)
{
    size_t blocks = step_reader_block_count(feed->tail.reader);
    bool opened_anew;
    enum step_status status = watch_tail_refresh(&feed->tail, &opened_anew, error);
    bool has_grown = step_reader_block_count(feed->tail.reader) != blocks;
    if (status != STEP_STATUS_OK || (feed->tail.state == WATCH_RUNNING &&
                                     (!has_grown || feed->heap.follows++ >= HEAP_FOLLOWS_MOST)))
        return status;
    feed->heap.at_end = false;
    return watch_feed_end_heap(feed, error);
}

/* Uses the live file only if the trace grew neither before nor during the look at it.  Otherwise
 * its events may be in the trace already. */
static enum step_status watch_feed_follow(struct watch_feed *feed, struct step_error *error)
{
    enum step_status status = look_for_more(feed, error);
    if (status != STEP_STATUS_OK || !feed->heap.at_end)
        return status;
    if (watch_heap_clock_is_new(&feed->heap, &feed->tail))
        return restart(feed, false, error);
    watch_model_begin_pending(&feed->model);
    status = watch_heap_peek(&feed->heap, &feed->tail, &feed->model, &feed->tail.dropped, error);
    if (status == STEP_STATUS_OK)
        status = look_for_more(feed, error);
    if (!feed->heap.at_end) /* they will be added again */
        watch_model_begin_pending(&feed->model);
    feed->heap.has_peeked = feed->heap.at_end;
    feed->heap.follows = feed->heap.at_end ? 0 : feed->heap.follows;
    return status;
}

static enum step_status read_heap(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                  struct step_error *error)
{
    struct watch_heap *heap = &feed->heap;
    double until = watch_feed_cpu_ns() + (double) slice_ns;
    enum step_status status = STEP_STATUS_OK;
    bool done = false;
    heap->at_end = heap->has_peeked = false;
    while (status == STEP_STATUS_OK && !done && watch_feed_cpu_ns() < until) {
        status = watch_heap_read(heap, &feed->model, error);
        if (status == STEP_STATUS_OK && heap->at_end && heap->is_running)
            status = watch_feed_follow(feed, error);
        done = heap->at_end && (heap->has_peeked || !heap->is_running);
    }
    *more = !done;
    feed->next = done ? step_reader_block_count(feed->tail.reader) : 0;
    return status;
}

enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error)
{
    double until = watch_feed_cpu_ns() + (double) slice_ns;
    enum step_status status = STEP_STATUS_OK;
    bool may = true;
    if (is_in_order(feed))
        return read_heap(feed, slice_ns, more, error);
    while (status == STEP_STATUS_OK && (has_blocks(feed) || wants_live_file(feed)) &&
           watch_feed_cpu_ns() < until && (may = may_read(feed)))
        status = has_blocks(feed) ? read_block(feed, error) : look_at_live_file(feed, error);
    *more = may && (has_blocks(feed) || wants_live_file(feed));
    return status;
}

enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error)
{
    double most = feed->share * CREDIT_SECONDS * 1e9;
    feed->credit_ns += feed->share * (double) elapsed_ns;
    if (elapsed_ns > 0 && feed->credit_ns > most)
        feed->credit_ns = most;
    feed->is_pending = false;
    feed->follows = 0;
    watch_model_begin_pending(&feed->model);
    enum step_status status = refresh_tail(feed, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!feed->tail.is_heap)
        status = refresh_phases(feed, error);
    return status == STEP_STATUS_OK && is_in_order(feed) ? watch_feed_end_heap(feed, error)
                                                         : status;
}

/* ---- progress ---- */

bool watch_feed_is_exact(const struct watch_feed *feed)
{
    if (is_in_order(feed))
        return feed->heap.at_end;
    return !has_blocks(feed) && (feed->is_pending || feed->tail.state != WATCH_RUNNING);
}

uint64_t watch_feed_now_ns(const struct watch_feed *feed)
{
    return feed->tail.last_ns > feed->model.last_ns ? feed->tail.last_ns : feed->model.last_ns;
}

uint64_t watch_feed_read_ns(const struct watch_feed *feed)
{
    return watch_feed_is_exact(feed) ? watch_feed_now_ns(feed)
           : is_in_order(feed)       ? feed->model.last_ns
                                     : feed->read_ns;
}

uint64_t watch_feed_behind_ns(const struct watch_feed *feed)
{
    return watch_feed_now_ns(feed) - watch_feed_read_ns(feed);
}

double watch_feed_progress(const struct watch_feed *feed)
{
    uint64_t all = feed->records_read;
    if (is_in_order(feed))
        return feed->heap.at_end ? 1.0 : feed->heap.events->operations->progress(feed->heap.events);
    size_t end = step_reader_block_count(feed->tail.reader);
    for (size_t i = feed->next; i < end; i++)
        all += watch_schema_count(&feed->schema, step_reader_block_info(feed->tail.reader, i));
    return all > 0 ? (double) feed->records_read / (double) all : 1.0;
}

/* Between two looks that both had read everything, the elapsed time is `seconds`; otherwise it is
 * the time between the last events read. */
double watch_feed_settle(struct watch_feed *feed, double seconds)
{
    double read_ns = (double) watch_feed_read_ns(feed);
    bool is_exact = watch_feed_is_exact(feed), is_first = feed->settled_ns < 0;
    bool is_final = is_exact && feed->tail.state != WATCH_RUNNING;
    double taken = is_first                      ? 0
                   : is_exact && feed->was_exact ? seconds
                                                 : (read_ns - feed->settled_ns) / 1e9;
    if (taken <= 0 && !is_first && !is_final)
        return -1;
    watch_model_settle(&feed->model, taken, is_final);
    feed->settled_ns = read_ns;
    feed->was_exact = is_exact;
    return taken > 0 ? taken : 0;
}
