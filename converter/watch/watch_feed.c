/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are chosen, decoded, and weighed. */
#include "converter/watch/watch_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "converter/base/no_memory.h"
#include "steptrace/live.h"

/* What a record costs, thought of: to decode it, and to follow its object. */
#define DECODE_NS 8.0
#define FOLLOW_NS 120.0
#define STRIDE_MOST UINT32_C(256)
#define FIRST_NS 150.0e6    /* for what was there before */
#define CREDIT_SECONDS 10.0 /* what can be saved up */
#define PENDING_BYTES (UINT64_C(1) << 20)
#define LIVE_MOST ((size_t) 1 << 24) /* objects, where deaths are lost */

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/* ---- from start to end ---- */

static void begin(struct watch_feed *feed)
{
    feed->next = 0;
    feed->records_met = feed->records_read = 0;
    feed->passed_over = false;
    feed->first_ns = FIRST_NS;
    feed->credit_ns = 0;
}

enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error)
{
    *feed = (struct watch_feed){
        .selected = *selected, .share = share, .speed = 1, .spent_ns = cpu_ns()};
    bool has_model = watch_model_init(&feed->model, &feed->tail.names, selected);
    begin(feed);
    enum step_status status = watch_tail_open(&feed->tail, path, error);
    if (status == STEP_STATUS_OK)
        status = has_model && watch_schema_init(&feed->schema, &feed->tail) ? STEP_STATUS_OK
                                                                            : no_memory(error);
    return status == STEP_STATUS_OK && feed->tail.is_heap
               ? watch_heap_start(&feed->heap, &feed->tail, &feed->model, error)
               : status;
}

void watch_feed_close(struct watch_feed *feed)
{
    watch_model_reset(&feed->model);
    watch_heap_reset(&feed->heap);
    watch_tail_reset(&feed->tail);
    step_block_destroy(feed->block);
    watch_schema_reset(&feed->schema);
}

/* All is read once more, into a model that begins anew. */
static enum step_status restart(struct watch_feed *feed, struct step_error *error)
{
    begin(feed);
    if (!watch_model_restart(&feed->model, &feed->selected))
        return no_memory(error);
    return feed->tail.is_heap ? watch_heap_start(&feed->heap, &feed->tail, &feed->model, error)
                              : STEP_STATUS_OK;
}

enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error)
{
    feed->selected = *selected;
    watch_feed_unmark(feed);
    return restart(feed, error);
}

/* ---- a block ---- */

static uint64_t wanted_count(const struct watch_feed *feed, size_t i)
{
    return watch_schema_count(&feed->schema, step_reader_block_info(feed->tail.reader, i));
}

static enum step_status read_block(struct watch_feed *feed, size_t i, uint32_t weight,
                                   struct step_error *error)
{
    uint64_t count = wanted_count(feed, i);
    feed->records_read += count;
    return count == 0 ? STEP_STATUS_OK
                      : watch_block_read(&feed->tail, &feed->schema, i, weight, &feed->block,
                                         &feed->model, error);
}

/* What the process took since this was asked before comes off what it may take. */
static double settle_credit(struct watch_feed *feed)
{
    double now = cpu_ns(), taken = now - feed->spent_ns;
    feed->spent_ns = now;
    feed->credit_ns -= taken;
    return taken;
}

/* ---- which blocks ---- */

static bool is_limited(const struct watch_feed *feed)
{
    return feed->tail.state == WATCH_RUNNING && feed->share > 0;
}

static bool has_deaths(const struct watch_feed *feed, size_t i)
{
    return step_reader_block_info(feed->tail.reader, i)->stream == STEP_LIVE_STREAM_FREES;
}

/* Reads each so-many-th of the blocks of deaths, or of the others, from `first` on. */
static enum step_status read_some(struct watch_feed *feed, size_t first, bool deaths,
                                  uint32_t stride, struct step_error *error)
{
    size_t end = step_reader_block_count(feed->tail.reader), turn = stride / 2;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = first; i < end && status == STEP_STATUS_OK; i++)
        if (has_deaths(feed, i) == deaths && turn++ % stride == 0)
            status = read_block(feed, i, deaths ? 1 : stride, error);
    return status;
}

static double cost_of(const struct watch_feed *feed, uint64_t records, uint32_t stride)
{
    return (double) records * (DECODE_NS + FOLLOW_NS / stride) * feed->speed;
}

/* Follows fewer objects, then reads fewer blocks, until the cost is not above what may be spent.
 * Returns how many blocks one has to stand for. */
static uint32_t choose_strides(struct watch_feed *feed, uint64_t records, double may_ns,
                               size_t blocks)
{
    uint32_t stride = feed->model.stride;
    while (stride < STRIDE_MOST && cost_of(feed, records, stride) > may_ns)
        stride *= 2;
    if (stride > feed->model.stride)
        watch_model_thin(&feed->model, stride);
    double times = cost_of(feed, records, stride) / may_ns;
    if (times <= 1 || blocks <= 1)
        return 1;
    times = times + 1 < (double) blocks ? times + 1 : (double) blocks;
    return times < WATCH_WEIGHT_MOST ? (uint32_t) times : WATCH_WEIGHT_MOST;
}

static void note_speed(struct watch_feed *feed, double cost_ns, double taken_ns)
{
    if (cost_ns >= 1e6)
        feed->speed += (feed->speed * taken_ns / cost_ns - feed->speed) / 2;
    feed->speed = feed->speed > 0.05 ? feed->speed : 0.05;
}

/* Nothing where all was spent: blocks wait until there is something again. */
static enum step_status read_limited(struct watch_feed *feed, struct step_error *error)
{
    size_t first = feed->next, blocks = 0, end = step_reader_block_count(feed->tail.reader);
    uint64_t records = 0, before = feed->records_read;
    settle_credit(feed);
    bool is_first = feed->first_ns > 0;
    double may_ns = is_first ? feed->first_ns : feed->credit_ns;
    if (may_ns <= 0)
        return STEP_STATUS_OK;
    for (size_t i = first; i < end; i++) {
        uint64_t count = wanted_count(feed, i);
        records += count;
        blocks += count > 0;
    }
    feed->first_ns = 0;
    feed->next = end;
    feed->records_met += records;
    uint32_t stride = choose_strides(feed, records, may_ns, blocks);
    feed->passed_over |= stride > 1;
    enum step_status status = read_some(feed, first, false, stride, error);
    if (status == STEP_STATUS_OK)
        status = read_some(feed, first, true, stride, error);
    note_speed(feed, cost_of(feed, feed->records_read - before, feed->model.stride),
               settle_credit(feed));
    if (is_first)
        feed->credit_ns = 0;
    if (feed->passed_over && feed->model.live.count > LIVE_MOST) {
        object_table_reset(&feed->model.live);
        if (!object_table_init(&feed->model.live))
            status = no_memory(error);
    }
    return status;
}

enum step_status watch_feed_read(struct watch_feed *feed, uint64_t slice_ns, bool *more,
                                 struct step_error *error)
{
    double until = cpu_ns() + (double) slice_ns;
    size_t end = step_reader_block_count(feed->tail.reader);
    enum step_status status = STEP_STATUS_OK;
    if (feed->tail.is_heap) {
        feed->heap.at_end = false;
        while (status == STEP_STATUS_OK && !feed->heap.at_end && cpu_ns() < until)
            status = watch_heap_read(&feed->heap, &feed->model, error);
        *more = !feed->heap.at_end;
        feed->next = feed->heap.at_end ? end : 0;
        return status;
    }
    if (is_limited(feed)) {
        *more = false;
        return feed->next < end ? read_limited(feed, error) : STEP_STATUS_OK;
    }
    if (feed->passed_over || feed->model.stride > 1)
        status = restart(feed, error);
    while (status == STEP_STATUS_OK && feed->next < end && cpu_ns() < until) {
        feed->records_met += wanted_count(feed, feed->next);
        status = read_block(feed, feed->next++, 1, error);
    }
    *more = feed->next < end;
    return status;
}

/* ---- what lies in the live file ---- */

static uint64_t written_of(void *user, uint64_t stream)
{
    const struct watch_feed *feed = user;
    return watch_tail_written(&feed->tail, stream);
}

/* What the file's dictionaries do not have yet is named by the live file. */
static void take_entry(void *user, const struct step_live_entry *from)
{
    struct watch_feed *feed = user;
    struct trace_names *names = &feed->tail.names;
    uint32_t id = from->number < UINT32_MAX ? (uint32_t) from->number : 0;
    struct trace_class *class = NULL;
    struct trace_method *method = NULL;
    struct trace_thread *thread = NULL;
    struct trace_frame *frame = NULL;
    if (id == 0)
        return;
    if (from->kind == STEP_LIVE_DEFINE_CLASS)
        class = id_table_get(&names->classes, id);
    else if (from->kind == STEP_LIVE_DEFINE_METHOD)
        method = id_table_get(&names->methods, id);
    else if (from->kind == STEP_LIVE_DEFINE_THREAD)
        thread = id_table_get(&names->threads, id);
    else if (from->kind == STEP_LIVE_DEFINE_FRAME)
        frame = id_table_get(&names->frames, id);
    if (class != NULL && !class->known) {
        class->known = trace_names_copy(names, from->name, &class->name);
        class->loader = from->loader;
    } else if (method != NULL && !method->known) {
        method->known = trace_names_copy(names, from->name, &method->name) &&
                        trace_names_copy(names, from->descriptor, &method->descriptor);
        method->class_id = (uint32_t) from->class_;
        method->modifiers = from->modifiers;
    } else if (thread != NULL && !thread->known) {
        thread->known = trace_names_copy(names, from->name, &thread->name);
        thread->number = from->number;
        thread->flags = from->flags;
    } else if (frame != NULL && !frame->known) {
        *frame = (struct trace_frame){.parent = from->parent < id ? (uint32_t) from->parent : 0,
                                      .method_id = (uint32_t) from->method,
                                      .line = (uint32_t) from->line,
                                      .bytecode = (uint32_t) from->bytecode,
                                      .known = true};
    }
}

/* What has no name yet is nothing that a filter can tell of. */
static bool has_names(struct watch_feed *feed, const struct trace_event *event)
{
    struct stepfile_decoder *decoder = &feed->tail.decoder;
    const struct trace_names *names = &feed->tail.names;
    if (event->kind == EVENT_OBJECT_FREE)
        return true;
    if (event->stack_id != 0 && !trace_frame_of(names, event->stack_id)->known)
        stepfile_decoder_name(decoder, STEP_JAVA_FRAME, event->stack_id);
    bool has = event->thread_id == 0 || trace_thread_of(names, event->thread_id)->known ||
               stepfile_decoder_name(decoder, STEP_JAVA_THREAD, event->thread_id);
    if (event->kind == EVENT_METHOD_ENTRY)
        return has && (trace_method_of(names, event->method_id)->known ||
                       stepfile_decoder_name(decoder, STEP_JAVA_METHOD, event->method_id));
    return has && (trace_class_of(names, event->class_id)->known ||
                   stepfile_decoder_name(decoder, STEP_JAVA_CLASS, event->class_id));
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
    default:
        return;
    }
    if (has_names(feed, &event) || feed->model.filter.everything)
        watch_model_pend(&feed->model, &event, from->weight);
}

static void peek(struct watch_feed *feed)
{
    char path[4096];
    const struct step_live_look look = {.user = feed,
                                        .written = written_of,
                                        .visit = visit_pending,
                                        .define = take_entry,
                                        .most_bytes = feed->share > 0 ? PENDING_BYTES : 0};
    uint64_t dropped;
    int length = snprintf(path, sizeof path, "%s%s", feed->tail.path, STEP_LIVE_SUFFIX);
    if (length > 0 && (size_t) length < sizeof path &&
        step_live_peek(path, &look, &dropped, NULL) == STEP_STATUS_OK)
        feed->tail.dropped = dropped;
}

/* Rows of another source have other numbers. */
static enum step_status end_heap(struct watch_feed *feed, struct step_error *error)
{
    for (int axis = 0; axis < WATCH_AXES; axis++) {
        id_table_reset(&feed->model.rows[axis]);
        id_table_init(&feed->model.rows[axis], sizeof(struct watch_row));
    }
    watch_feed_unmark(feed);
    return restart(feed, error);
}

enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error)
{
    bool opened_anew;
    double most = feed->share * CREDIT_SECONDS * 1e9;
    feed->credit_ns += feed->share * (double) elapsed_ns;
    if (feed->credit_ns > most)
        feed->credit_ns = most;
    enum step_status status = watch_tail_refresh(&feed->tail, &opened_anew, error);
    if (status == STEP_STATUS_OK && opened_anew && !watch_schema_init(&feed->schema, &feed->tail))
        status = no_memory(error); /* else blocks that were there keep their numbers */
    watch_model_begin_pending(&feed->model);
    if (status == STEP_STATUS_OK && feed->tail.is_heap)
        return feed->heap.is_running && feed->tail.state != WATCH_RUNNING ? end_heap(feed, error)
                                                                          : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK && feed->tail.state == WATCH_RUNNING)
        peek(feed);
    return status;
}

const struct trace_names *watch_feed_names(const struct watch_feed *feed)
{
    return feed->model.names;
}

bool watch_feed_is_exact(const struct watch_feed *feed)
{
    if (feed->tail.is_heap)
        return feed->heap.at_end;
    return !feed->passed_over && feed->model.stride == 1 &&
           feed->next == step_reader_block_count(feed->tail.reader);
}

double watch_feed_progress(const struct watch_feed *feed)
{
    uint64_t all = feed->records_met;
    if (feed->tail.is_heap)
        return feed->heap.at_end ? 1.0 : feed->heap.events->operations->progress(feed->heap.events);
    size_t end = step_reader_block_count(feed->tail.reader);
    for (size_t i = feed->next; i < end; i++)
        all += wanted_count(feed, i);
    return all > 0 ? (double) feed->records_read / (double) all : 1.0;
}
