/* SPDX-License-Identifier: Apache-2.0 */
/* One pass for all that a report needs. */
#include "converter/report/report_model.h"

#include "converter/base/no_memory.h"

static enum step_status out_of_memory(struct step_error *error)
{
    return no_memory(error);
}

/* The snapshot's moment is a copy: it goes by its kind and value which of the two it is. */
static enum step_status receive(void *user, struct heap_snapshot *snapshot,
                                struct step_error *error)
{
    struct report_model *model = user;
    (void) error;
    for (size_t i = 0; i < 2; i++) {
        const struct heap_moment *wanted = &model->moments[i];
        if (snapshot->moment.kind == wanted->kind && snapshot->moment.value == wanted->value) {
            heap_snapshot_reset(&model->snapshots[i]);
            model->snapshots[i] = *snapshot;
            return STEP_STATUS_OK;
        }
    }
    heap_snapshot_reset(snapshot);
    return STEP_STATUS_OK;
}

bool report_model_init(struct report_model *model, const struct event_source *source,
                       const struct heap_moment *moment)
{
    *model = (struct report_model){.source = source};
    model->moments[0] = *moment;
    model->moments[1] = (struct heap_moment){.kind = HEAP_AT_END};
    const struct heap_tracker_options options = {.moments = model->moments,
                                                 .moment_count =
                                                     moment->kind == HEAP_AT_END ? 1 : 2,
                                                 .receive = receive,
                                                 .user = model};
    bool ok = heap_tracker_init(&model->heap, &source->names, &options);
    ok = statistics_init(&model->statistics, &source->names, false) && ok;
    report_bins_init(&model->bins);
    return timeline_init(&model->timeline) && ok;
}

void report_model_reset(struct report_model *model)
{
    if (model->moments[0].kind == HEAP_AT_END) /* one snapshot for both */
        model->snapshots[1] = (struct heap_snapshot){0};
    heap_snapshot_reset(&model->snapshots[0]);
    heap_snapshot_reset(&model->snapshots[1]);
    statistics_reset(&model->statistics);
    timeline_reset(&model->timeline);
    report_bins_reset(&model->bins);
    heap_tracker_reset(&model->heap);
}

enum step_status report_model_put(void *user, const struct trace_event *events, size_t count,
                                  struct step_error *error)
{
    struct report_model *model = user;
    if (!statistics_put(&model->statistics, events, count) ||
        !timeline_put(&model->timeline, events, count))
        return out_of_memory(error);
    return report_bins_put(&model->bins, &model->heap, events, count, error);
}

enum step_status report_model_finish(struct report_model *model, struct step_error *error)
{
    enum step_status status = heap_tracker_finish(&model->heap, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (report_moment(model)->time_ns == UINT64_MAX)
        return step_error_set(error, STEP_STATUS_INVALID, model->source->path, STEP_NO_OFFSET,
                              "the trace has only %llu collections",
                              (unsigned long long) model->heap.collections);
    if (model->moments[0].kind == HEAP_AT_END)
        model->snapshots[1] = model->snapshots[0];
    statistics_finish(&model->statistics);
    timeline_finish(&model->timeline);
    return report_bins_finish(&model->bins, &model->heap) ? STEP_STATUS_OK : out_of_memory(error);
}
