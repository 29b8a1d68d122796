/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the displayed sums of a look, and growth and rates between looks. */
#include <math.h>

#include "converter/watch/watch_model.h"

static uint64_t larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static struct watch_sums highest(const struct watch_sums *shown, const struct watch_sums *now)
{
    return (struct watch_sums){.objects = larger(shown->objects, now->objects),
                               .bytes = larger(shown->bytes, now->bytes),
                               .freed_objects = larger(shown->freed_objects, now->freed_objects),
                               .freed_bytes = larger(shown->freed_bytes, now->freed_bytes),
                               .calls = larger(shown->calls, now->calls)};
}

static void settle_row(const struct watch_model *model, struct watch_row *row, double seconds,
                       bool is_final)
{
    struct watch_sums now = watch_row_now(model, row), before = row->shown;
    row->shown = is_final ? now : highest(&before, &now);
    if (seconds > 0) {
        row->bytes_rate = fmax(0, (double) row->shown.bytes - (double) before.bytes) / seconds;
        row->calls_rate = fmax(0, (double) row->shown.calls - (double) before.calls) / seconds;
    }
}

void watch_model_settle(struct watch_model *model, double seconds, bool is_final)
{
    settle_row(model, &model->total, seconds, is_final);
    for (int axis = 0; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; id_table_next(&model->rows[axis], &id); id++)
            settle_row(model, id_table_find(&model->rows[axis], id), seconds, is_final);
}

void watch_model_mark(struct watch_model *model)
{
    for (int axis = 0; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; id_table_next(&model->rows[axis], &id); id++) {
            struct watch_row *row = id_table_find(&model->rows[axis], id);
            row->marked = row->shown;
        }
    model->total.marked = model->total.shown;
    model->has_mark = true;
    model->marked_ns = model->last_ns;
}
