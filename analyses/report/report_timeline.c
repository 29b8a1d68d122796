/* SPDX-License-Identifier: Apache-2.0 */
/* Collects live bytes, collections and thread activity over time, in steps whose length doubles as
 * needed. */
#include "analyses/report/report_model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BAND_CLASSES 10u /* classes with their own band */

struct band {
    uint64_t weight;
    uint32_t class_id;
};

/* Keeps the bands with most weight, the largest first. */
static void timeline_put_band(struct band bands[BAND_CLASSES], size_t *count, struct band band)
{
    size_t at = *count;
    while (at > 0 && bands[at - 1].weight < band.weight)
        at--;
    if (at == BAND_CLASSES)
        return;
    *count += *count < BAND_CLASSES;
    memmove(&bands[at + 1], &bands[at], (*count - at - 1) * sizeof *bands);
    bands[at] = band;
}

/* Selects the classes with most bytes over all steps.  Returns false if memory runs out. */
static bool choose_bands(const struct timeline *timeline, struct band bands[BAND_CLASSES],
                         size_t *count)
{
    struct id_table weights; /* uint64_t */
    bool ok = true;
    *count = 0;
    id_table_init(&weights, sizeof(uint64_t));
    for (size_t i = 0; i <= timeline->step; i++)
        for (size_t k = 0; ok && k < timeline->steps[i].class_count; k++) {
            uint64_t *weight = id_table_get(&weights, timeline->steps[i].classes[k].class_id);
            ok = weight != NULL;
            if (ok)
                *weight += timeline->steps[i].classes[k].bytes;
        }
    const uint64_t *sum;
    for (uint32_t id = 0; ok && (sum = id_table_next(&weights, &id)) != NULL; id++)
        if (*sum > 0)
            timeline_put_band(bands, count, (struct band){*sum, id});
    id_table_reset(&weights);
    return ok;
}

static uint64_t bytes_in_step(const struct timeline_step *step, uint32_t class_id)
{
    for (size_t i = 0; i < step->class_count; i++)
        if (step->classes[i].class_id == class_id)
            return step->classes[i].bytes;
    return 0;
}

static bool put_bands(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    size_t count;
    struct band bands[BAND_CLASSES];
    if (!choose_bands(timeline, bands, &count))
        return false;
    json_begin_array(json, "classes");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(json, NULL);
        json_bytes(json, "name", trace_class_of(&model->source->names, bands[i].class_id)->name);
        json_begin_array(json, "bytes");
        for (size_t step = 0; step <= timeline->step; step++)
            json_number(json, NULL, bytes_in_step(&timeline->steps[step], bands[i].class_id));
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    return true;
}

/* A member of each step. */
static void put_steps(const struct timeline *timeline, struct json_output *json, const char *key,
                      const uint64_t *first)
{
    json_numbers(json, key, first, timeline->step + 1, sizeof timeline->steps[0]);
}

static void timeline_put_collections(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    json_begin_array(json, "collections");
    for (size_t i = 0; i <= timeline->step; i++) {
        if (timeline->steps[i].collections == 0)
            continue;
        JSON_NUMBERS(json, NULL, i, timeline->steps[i].collections, timeline->steps[i].freed_bytes);
    }
    json_end_array(json);
}

bool report_timeline_put_data(const struct report_model *model, struct json_output *json)
{
    const struct timeline *timeline = &model->timeline;
    json_begin_object(json, "timeline");
    json_number(json, "start_ns", timeline->start_ns);
    json_number(json, "step_ns", timeline->step_ns);
    put_steps(timeline, json, "live", &timeline->steps->live_bytes);
    put_steps(timeline, json, "objects", &timeline->steps->live_objects);
    put_steps(timeline, json, "most", &timeline->steps->most_bytes);
    timeline_put_collections(model, json);
    bool ok = put_bands(model, json);
    json_end_object(json);
    return ok;
}

bool timeline_init(struct timeline *timeline, uint64_t step_ns)
{
    *timeline = (struct timeline){.step_ns = step_ns, .is_empty = true};
    id_table_init(&timeline->class_bytes, sizeof(uint64_t));
    id_table_init(&timeline->threads, sizeof(struct timeline_thread));
    timeline->steps = calloc(TIMELINE_STEPS, sizeof *timeline->steps);
    return timeline->steps != NULL;
}

void timeline_reset(struct timeline *timeline)
{
    struct timeline_thread *thread;
    for (uint32_t i = 0; (thread = id_table_next(&timeline->threads, &i)) != NULL; i++) {
        free(thread->allocated_bytes.items);
        free(thread->calls.items);
    }
    id_table_reset(&timeline->threads);
    id_table_reset(&timeline->class_bytes);
    collection_clock_reset(&timeline->clock);
    free(timeline->steps);
    timeline->steps = NULL;
}

/* ---- the end of a step ---- */

/* Inserts the class among those with most bytes, if it belongs there. */
static void rank_class(struct timeline_step *step, uint32_t class_id, uint64_t bytes)
{
    size_t i = step->class_count;
    if (i == TIMELINE_CLASSES) {
        if (step->classes[i - 1].bytes >= bytes)
            return;
        i--;
    } else {
        step->class_count++;
    }
    for (; i > 0 && step->classes[i - 1].bytes < bytes; i--)
        step->classes[i] = step->classes[i - 1];
    step->classes[i] = (struct timeline_class){.class_id = class_id, .bytes = bytes};
}

static void end_step(struct timeline *timeline)
{
    struct timeline_step *step = &timeline->steps[timeline->step];
    step->live_bytes = timeline->live_bytes;
    step->live_objects = timeline->live_objects;
    if (step->most_bytes < step->live_bytes)
        step->most_bytes = step->live_bytes;
    step->class_count = 0;
    const uint64_t *bytes;
    for (uint32_t i = 0; (bytes = id_table_next(&timeline->class_bytes, &i)) != NULL; i++)
        if (*bytes != 0)
            rank_class(step, i, *bytes);
}

/* ---- merging steps ---- */

static void fold_amounts(struct timeline_amounts *amounts)
{
    size_t kept = 0;
    for (size_t i = 0; i < amounts->count; i++) {
        const struct timeline_amount item = {amounts->items[i].step / 2, amounts->items[i].amount};
        if (kept > 0 && amounts->items[kept - 1].step == item.step)
            amounts->items[kept - 1].amount += item.amount;
        else
            amounts->items[kept++] = item;
    }
    amounts->count = kept;
}

static void fold_step(struct timeline_step *to, const struct timeline_step *first,
                      const struct timeline_step *second)
{
    struct timeline_step both = *second;
    if (both.most_bytes < first->most_bytes)
        both.most_bytes = first->most_bytes;
    both.collections += first->collections;
    both.freed_bytes += first->freed_bytes;
    both.freed_objects += first->freed_objects;
    *to = both;
}

/* Called when all steps are full. */
static void timeline_fold(struct timeline *timeline)
{
    for (size_t i = 0; i < TIMELINE_STEPS / 2; i++)
        fold_step(&timeline->steps[i], &timeline->steps[2 * i], &timeline->steps[2 * i + 1]);
    memset(timeline->steps + TIMELINE_STEPS / 2, 0, TIMELINE_STEPS / 2 * sizeof *timeline->steps);
    struct timeline_thread *thread;
    for (uint32_t i = 0; (thread = id_table_next(&timeline->threads, &i)) != NULL; i++) {
        fold_amounts(&thread->allocated_bytes);
        fold_amounts(&thread->calls);
    }
    timeline->step = TIMELINE_STEPS / 2;
    timeline->step_ns *= 2;
}

static void timeline_advance(struct timeline *timeline, uint64_t time_ns)
{
    while (time_ns >= timeline->step_end_ns) {
        end_step(timeline);
        if (++timeline->step == TIMELINE_STEPS)
            timeline_fold(timeline);
        timeline->steps[timeline->step].most_bytes = timeline->live_bytes;
        if (__builtin_mul_overflow(timeline->step + 1, timeline->step_ns, &timeline->step_end_ns) ||
            __builtin_add_overflow(timeline->step_end_ns, timeline->start_ns,
                                   &timeline->step_end_ns))
            timeline->step_end_ns = UINT64_MAX; /* time cannot exceed this */
        if (timeline->step_end_ns == UINT64_MAX)
            return;
    }
}

/* ---- events ---- */

static bool count_in(struct timeline_amounts *amounts, size_t step, uint64_t amount)
{
    if (amounts->count == 0 || amounts->items[amounts->count - 1].step != step) {
        if (amounts->count == amounts->capacity) {
            size_t capacity = amounts->capacity * 2 + 1; /* most threads have few */
            struct timeline_amount *grown =
                realloc(amounts->items, capacity * sizeof *amounts->items);
            if (grown == NULL)
                return false;
            amounts->items = grown;
            amounts->capacity = capacity;
        }
        amounts->items[amounts->count++] = (struct timeline_amount){.step = step};
    }
    amounts->items[amounts->count - 1].amount += amount;
    return true;
}

static bool timeline_put_alloc(struct timeline *timeline, const struct trace_event *event)
{
    uint64_t *bytes = id_table_get(&timeline->class_bytes, event->class_id);
    struct timeline_thread *thread = id_table_get(&timeline->threads, event->thread_id);
    if (bytes == NULL || thread == NULL)
        return false;
    *bytes += event->size;
    timeline->live_bytes += event->size;
    timeline->live_objects++;
    struct timeline_step *step = &timeline->steps[timeline->step];
    if (step->most_bytes < timeline->live_bytes)
        step->most_bytes = timeline->live_bytes;
    if ((event->flags & TRACE_EXISTING) != 0)
        return true;
    return count_in(&thread->allocated_bytes, timeline->step, event->size);
}

static bool timeline_put_free(struct timeline *timeline, const struct trace_event *event)
{
    struct timeline_step *step = &timeline->steps[timeline->step];
    if (!collection_clock_put_free(&timeline->clock, event))
        return false;
    step->freed_bytes += event->size;
    step->freed_objects++;
    if ((event->flags & TRACE_BORN_KNOWN) == 0)
        return true;
    uint64_t *bytes = id_table_get(&timeline->class_bytes, event->class_id);
    if (bytes == NULL)
        return false;
    *bytes -= event->size < *bytes ? event->size : *bytes;
    timeline->live_bytes -= event->size < timeline->live_bytes ? event->size : timeline->live_bytes;
    if (timeline->live_objects > 0)
        timeline->live_objects--;
    return true;
}

static bool timeline_put_call(struct timeline *timeline, const struct trace_event *event)
{
    struct timeline_thread *thread = id_table_get(&timeline->threads, event->thread_id);
    return thread != NULL && count_in(&thread->calls, timeline->step, 1);
}

static void go_to(struct timeline *timeline, uint64_t time_ns)
{
    if (time_ns >= timeline->step_end_ns && timeline->step_end_ns != UINT64_MAX)
        timeline_advance(timeline, time_ns);
}

static void count_collection(struct timeline *timeline)
{
    timeline->collections++;
    timeline->steps[timeline->step].collections++;
}

bool timeline_put(struct timeline *timeline, const struct trace_event *events, size_t count)
{
    struct collection over;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        if (timeline->is_empty) {
            timeline->is_empty = false;
            timeline->start_ns = event->time_ns;
            timeline->step_end_ns = event->time_ns + timeline->step_ns;
        }
        while (collection_clock_ends_before(&timeline->clock, event, &over)) {
            go_to(timeline, over.time);
            count_collection(timeline);
        }
        go_to(timeline, event->time_ns);
        bool ok = event->kind == EVENT_OBJECT_ALLOC   ? timeline_put_alloc(timeline, event)
                  : event->kind == EVENT_OBJECT_FREE  ? timeline_put_free(timeline, event)
                  : event->kind == EVENT_METHOD_ENTRY ? timeline_put_call(timeline, event)
                                                      : true;
        if (!ok)
            return false;
    }
    return true;
}

void timeline_finish(struct timeline *timeline)
{
    struct collection over;
    while (collection_clock_finish(&timeline->clock, &over))
        count_collection(timeline);
    if (!timeline->is_empty)
        end_step(timeline);
}
