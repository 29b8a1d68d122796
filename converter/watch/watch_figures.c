/* SPDX-License-Identifier: Apache-2.0 */
/* What was read, and what it comes to in all; growth and rates since a moment. */
#include <math.h>

#include "converter/watch/watch_feed.h"

static uint64_t scaled(uint64_t value, uint64_t is, uint64_t should_be)
{
    return is > 0 ? (uint64_t) ((double) value * (double) should_be / (double) is) : value;
}

/* What the headers of blocks and the live file tell of all objects. */
static struct watch_sums counted(const struct watch_feed *feed)
{
    const struct watch_row *total = &feed->model.total;
    bool pends = total->look == feed->model.look;
    struct watch_sums sums = {
        .objects = feed->tail.kinds[EVENT_OBJECT_ALLOC] + (pends ? total->pending.objects : 0),
        .freed_objects = feed->tail.kinds[EVENT_OBJECT_FREE] + feed->model.pending_frees};
    sums.freed_objects = sums.freed_objects < sums.objects ? sums.freed_objects : sums.objects;
    return sums;
}

/* Where what was read does not come to that: the time of a look, or a share of the objects. */
static bool needs_scaling(const struct watch_feed *feed)
{
    return feed->model.filter.everything && !feed->tail.is_heap &&
           (!watch_feed_is_exact(feed) || feed->tail.state == WATCH_RUNNING);
}

struct watch_sums watch_feed_total(const struct watch_feed *feed)
{
    struct watch_sums is = watch_row_now(&feed->model, &feed->model.total), sums = is;
    if (!needs_scaling(feed))
        return is;
    struct watch_sums all = counted(feed);
    uint64_t live =
        scaled(watch_live_bytes(&is), watch_live_objects(&is), watch_live_objects(&all));
    sums.bytes = scaled(is.bytes, is.objects, all.objects);
    sums.objects = all.objects;
    sums.freed_objects = all.freed_objects;
    sums.freed_bytes = sums.bytes > live ? sums.bytes - live : 0;
    return sums;
}

struct watch_sums watch_feed_row(const struct watch_feed *feed, const struct watch_row *row)
{
    struct watch_sums is = watch_row_now(&feed->model, row), sums = is;
    if (!needs_scaling(feed))
        return is;
    struct watch_sums total = watch_row_now(&feed->model, &feed->model.total);
    struct watch_sums all = counted(feed);
    uint64_t is_live = watch_live_objects(&total), live = watch_live_objects(&all);
    uint64_t objects = scaled(watch_live_objects(&is), is_live, live);
    uint64_t bytes = scaled(watch_live_bytes(&is), is_live, live);
    sums.objects = scaled(is.objects, total.objects, all.objects);
    sums.bytes = scaled(is.bytes, total.objects, all.objects);
    sums.freed_objects = sums.objects > objects ? sums.objects - objects : 0;
    sums.freed_bytes = sums.bytes > bytes ? sums.bytes - bytes : 0;
    return sums;
}

/* ---- moments ---- */

void watch_feed_mark(struct watch_feed *feed)
{
    struct watch_model *model = &feed->model;
    for (int axis = 0; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; id_table_next(&model->rows[axis], &id); id++) {
            struct watch_row *row = id_table_find(&model->rows[axis], id);
            row->marked = watch_feed_row(feed, row);
        }
    model->total.marked = watch_feed_total(feed);
    model->has_mark = true;
    model->marked_ns = model->last_ns;
}

void watch_feed_unmark(struct watch_feed *feed)
{
    feed->model.has_mark = false;
}

static void settle_row(const struct watch_feed *feed, struct watch_row *row, double seconds)
{
    struct watch_sums now = watch_feed_row(feed, row);
    bool known = seconds > 0;
    row->bytes_rate =
        known ? fmax(0, (double) now.bytes - (double) row->before.bytes) / seconds : 0;
    row->calls_rate =
        known ? fmax(0, (double) now.calls - (double) row->before.calls) / seconds : 0;
    row->before = now;
}

void watch_feed_settle(struct watch_feed *feed, double seconds)
{
    struct watch_model *model = &feed->model;
    for (int axis = 0; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; id_table_next(&model->rows[axis], &id); id++)
            settle_row(feed, id_table_find(&model->rows[axis], id), seconds);
}

/* Where what was read does not tell, the number of objects does, which blocks tell exactly. */
void watch_feed_curve(const struct watch_feed *feed, uint64_t until_ns, uint64_t *out,
                      size_t columns)
{
    if (watch_feed_is_exact(feed) || feed->tail.is_heap || !feed->model.filter.everything) {
        watch_curve_live(&feed->model.curve, until_ns, out, columns);
        return;
    }
    struct watch_sums is = watch_row_now(&feed->model, &feed->model.total);
    watch_curve_live(&feed->tail.objects, until_ns, out, columns);
    for (size_t i = 0; i < columns; i++)
        out[i] = scaled(out[i], watch_live_objects(&is), watch_live_bytes(&is));
}
