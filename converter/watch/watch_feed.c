/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks are chosen, decoded, and weighed. */
#include "converter/watch/watch_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "converter/base/no_memory.h"
#include "steptrace/live.h"

#define FIRST_RECORD_NS 40.0
#define FREE_COST 0.6            /* of a free, where a birth is 1 */
#define FIRST_CREDIT_NS 200.0e6  /* for what was there before */
#define CREDIT_SECONDS 10.0      /* what can be saved up */
#define PENDING_BYTES (UINT64_C(1) << 20)
#define LIVE_MOST ((size_t) 1 << 24) /* objects, where deaths are lost */

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e9 + (double) now.tv_nsec;
}

/* ---- from start to end ---- */

static enum step_status choose_records(struct watch_feed *feed, struct step_error *error)
{
    const struct stepfile_decoder *decoder = &feed->tail.decoder;
    free(feed->wanted);
    feed->wanted = calloc(decoder->record_count + 1, 1);
    if (feed->wanted == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < decoder->record_count; i++) {
        enum step_text_kind kind = stepfile_decoder_kind(decoder, i);
        feed->wanted[i] = kind == EVENT_OBJECT_ALLOC || kind == EVENT_OBJECT_FREE ||
                          kind == EVENT_METHOD_ENTRY ||
                          decoder->records[i] == STEP_JAVA_METHOD_COUNT;
    }
    return STEP_STATUS_OK;
}

static void begin(struct watch_feed *feed)
{
    feed->next = 0;
    feed->records_met = feed->records_read = 0;
    feed->sampled = feed->lost_deaths = false;
    feed->credit_ns = FIRST_CREDIT_NS;
}

enum step_status watch_feed_open(struct watch_feed *feed, const char *path,
                                 const struct event_selection *selected, double share,
                                 struct step_error *error)
{
    *feed = (struct watch_feed){
        .selected = *selected, .share = share, .record_ns = FIRST_RECORD_NS};
    bool has_model = watch_model_init(&feed->model, &feed->tail.names, selected);
    begin(feed);
    enum step_status status = watch_tail_open(&feed->tail, path, error);
    if (status == STEP_STATUS_OK)
        status = has_model ? choose_records(feed, error) : no_memory(error);
    return status;
}

void watch_feed_close(struct watch_feed *feed)
{
    watch_model_reset(&feed->model);
    watch_tail_reset(&feed->tail);
    step_block_destroy(feed->block);
    free(feed->wanted);
}

/* All is read once more, into a model that begins anew. */
static enum step_status restart(struct watch_feed *feed, struct step_error *error)
{
    begin(feed);
    return watch_model_restart(&feed->model, &feed->selected) ? STEP_STATUS_OK : no_memory(error);
}

enum step_status watch_feed_select(struct watch_feed *feed, const struct event_selection *selected,
                                   struct step_error *error)
{
    feed->selected = *selected;
    watch_model_unmark(&feed->model);
    return restart(feed, error);
}

/* ---- a block ---- */

static uint64_t wanted_count(const struct watch_feed *feed, const struct step_block_info *info)
{
    uint64_t count = 0;
    for (size_t i = 0; i < info->type_count; i++)
        count += feed->wanted[info->counts[i].record] ? info->counts[i].count : 0;
    return count;
}

static void take_record(struct watch_feed *feed, const struct step_record_view *view,
                        uint32_t weight)
{
    struct trace_event event;
    struct trace_fact fact;
    uint64_t ticks;
    if (stepfile_decoder_event(&feed->tail.decoder, view, &event, &ticks)) {
        event.time_ns = watch_tail_time_ns(&feed->tail, ticks);
        watch_model_put(&feed->model, &event, weight);
    } else if (stepfile_decoder_fact(&feed->tail.decoder, view, &fact) &&
               fact.kind == TRACE_METHOD_COUNT) {
        watch_model_put_calls(&feed->model, fact.method_id, fact.calls);
    }
}

/* What is damaged is noted by the reader, and passed over. */
static enum step_status read_block(struct watch_feed *feed, size_t i, uint32_t weight,
                                   struct step_error *error)
{
    struct step_record_view view;
    uint64_t count = wanted_count(feed, step_reader_block_info(feed->tail.reader, i));
    double start = cpu_ns();
    if (count == 0)
        return STEP_STATUS_OK;
    enum step_status status =
        step_reader_load(feed->tail.reader, i, feed->wanted, &feed->block, error);
    while (status == STEP_STATUS_OK &&
           (status = step_block_next(feed->block, &view)) == STEP_STATUS_OK)
        take_record(feed, &view, weight);
    feed->records_read += count;
    double used = cpu_ns() - start;
    if (count >= 1000)
        feed->record_ns += (used / (double) count - feed->record_ns) / 4;
    feed->credit_ns -= used;
    if (feed->model.no_memory)
        return no_memory(error);
    return status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ? status : STEP_STATUS_OK;
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

/* How many blocks one has to stand for, so that the cost is not above what may be spent. */
static uint32_t stride_of(double cost_ns, double may_ns, size_t blocks)
{
    if (cost_ns <= may_ns || blocks <= 1)
        return 1;
    double stride = may_ns > 0 ? cost_ns / may_ns + 1 : (double) blocks;
    stride = stride < (double) blocks ? stride : (double) blocks;
    return stride < WATCH_WEIGHT_MOST ? (uint32_t) stride : WATCH_WEIGHT_MOST;
}

static enum step_status read_limited(struct watch_feed *feed, struct step_error *error)
{
    double costs[2] = {0, 0};
    size_t first = feed->next, blocks[2] = {0, 0};
    feed->next = step_reader_block_count(feed->tail.reader);
    for (size_t i = first; i < feed->next; i++) {
        bool deaths = has_deaths(feed, i);
        uint64_t count = wanted_count(feed, step_reader_block_info(feed->tail.reader, i));
        costs[deaths] += (double) count * feed->record_ns * (deaths ? FREE_COST : 1);
        blocks[deaths] += count > 0;
        feed->records_met += count;
    }
    uint32_t deaths_stride = stride_of(costs[1], feed->credit_ns, blocks[1]);
    double left = feed->credit_ns - costs[1] / deaths_stride;
    uint32_t births_stride = stride_of(costs[0], left, blocks[0]);
    feed->sampled |= births_stride > 1;
    feed->lost_deaths |= deaths_stride > 1;
    enum step_status status = read_some(feed, first, false, births_stride, error);
    if (status == STEP_STATUS_OK)
        status = read_some(feed, first, true, deaths_stride, error);
    if (feed->lost_deaths && feed->model.live.count > LIVE_MOST) {
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
    if (is_limited(feed)) {
        *more = false;
        return feed->next < end ? read_limited(feed, error) : STEP_STATUS_OK;
    }
    if (feed->sampled || feed->lost_deaths)
        status = restart(feed, error);
    while (status == STEP_STATUS_OK && feed->next < end && cpu_ns() < until) {
        const struct step_block_info *info = step_reader_block_info(feed->tail.reader, feed->next);
        feed->records_met += wanted_count(feed, info);
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

/* Names are those of the file's dictionaries; what they do not have yet has no name yet, and is
 * nothing that a filter can tell of. */
static bool has_names(struct watch_feed *feed, const struct trace_event *event)
{
    struct stepfile_decoder *decoder = &feed->tail.decoder;
    bool has = event->thread_id == 0 ||
               stepfile_decoder_name(decoder, STEP_JAVA_THREAD, event->thread_id);
    if (event->kind == EVENT_METHOD_ENTRY)
        return stepfile_decoder_name(decoder, STEP_JAVA_METHOD, event->method_id) && has;
    if (event->kind == EVENT_OBJECT_FREE)
        return true;
    if (event->stack_id != 0)
        stepfile_decoder_name(decoder, STEP_JAVA_FRAME, event->stack_id);
    return stepfile_decoder_name(decoder, STEP_JAVA_CLASS, event->class_id) && has;
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
                                        .most_bytes = feed->share > 0 ? PENDING_BYTES : 0};
    uint64_t dropped;
    double start = cpu_ns();
    int length = snprintf(path, sizeof path, "%s%s", feed->tail.path, STEP_LIVE_SUFFIX);
    if (length > 0 && (size_t) length < sizeof path &&
        step_live_peek(path, &look, &dropped, NULL) == STEP_STATUS_OK)
        feed->tail.dropped = dropped;
    feed->credit_ns -= cpu_ns() - start;
}

enum step_status watch_feed_refresh(struct watch_feed *feed, uint64_t elapsed_ns,
                                    struct step_error *error)
{
    bool opened_anew;
    double most = feed->share * CREDIT_SECONDS * 1e9;
    feed->credit_ns += feed->share * (double) elapsed_ns;
    if (feed->credit_ns > most && elapsed_ns > 0)
        feed->credit_ns = most;
    double start = cpu_ns();
    enum step_status status = watch_tail_refresh(&feed->tail, &opened_anew, error);
    if (status == STEP_STATUS_OK && opened_anew) /* blocks that were there keep their numbers */
        status = choose_records(feed, error);
    feed->credit_ns -= cpu_ns() - start;
    watch_model_begin_pending(&feed->model);
    if (status == STEP_STATUS_OK && feed->tail.state == WATCH_RUNNING)
        peek(feed);
    return status;
}

/* ---- what it comes to ---- */

bool watch_feed_is_exact(const struct watch_feed *feed)
{
    return !feed->sampled && !feed->lost_deaths &&
           feed->next == step_reader_block_count(feed->tail.reader);
}

double watch_feed_progress(const struct watch_feed *feed)
{
    uint64_t all = feed->records_met;
    size_t end = step_reader_block_count(feed->tail.reader);
    for (size_t i = feed->next; i < end; i++)
        all += wanted_count(feed, step_reader_block_info(feed->tail.reader, i));
    return all > 0 ? (double) feed->records_read / (double) all : 1.0;
}

static uint64_t scaled(uint64_t value, uint64_t is, uint64_t should_be)
{
    return is > 0 ? (uint64_t) ((double) value * (double) should_be / (double) is) : value;
}

struct watch_sums watch_feed_total(const struct watch_feed *feed)
{
    struct watch_sums sums = watch_row_now(&feed->model, &feed->model.total);
    const struct watch_row *total = &feed->model.total;
    if (!feed->model.filter.everything || watch_feed_is_exact(feed))
        return sums;
    bool pends = total->look == feed->model.look;
    uint64_t objects = feed->tail.kinds[EVENT_OBJECT_ALLOC] + (pends ? total->pending.objects : 0);
    uint64_t freed =
        feed->tail.kinds[EVENT_OBJECT_FREE] + (pends ? total->pending.freed_objects : 0);
    freed = freed < objects ? freed : objects;
    uint64_t live = scaled(watch_live_bytes(&sums), watch_live_objects(&sums), objects - freed);
    sums.bytes = scaled(sums.bytes, sums.objects, objects);
    sums.objects = objects;
    sums.freed_objects = freed;
    sums.freed_bytes = sums.bytes > live ? sums.bytes - live : 0;
    return sums;
}

struct watch_sums watch_feed_row(const struct watch_feed *feed, const struct watch_row *row)
{
    struct watch_sums sums = watch_row_now(&feed->model, row);
    if (!feed->lost_deaths || !feed->model.filter.everything)
        return sums;
    struct watch_sums is = watch_row_now(&feed->model, &feed->model.total);
    struct watch_sums all = watch_feed_total(feed);
    uint64_t objects =
        scaled(watch_live_objects(&sums), watch_live_objects(&is), watch_live_objects(&all));
    uint64_t bytes = scaled(watch_live_bytes(&sums), watch_live_bytes(&is), watch_live_bytes(&all));
    sums.freed_objects = sums.objects > objects ? sums.objects - objects : 0;
    sums.freed_bytes = sums.bytes > bytes ? sums.bytes - bytes : 0;
    return sums;
}
