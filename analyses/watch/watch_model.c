/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events in the rows of the watch model. */
#include "analyses/watch/watch_feed.h"

#include <math.h>
#include <string.h>

#include "format/core/hash.h"

static uint64_t watch_model_larger(uint64_t left, uint64_t right)
{
    return left > right ? left : right;
}

static struct watch_sums highest(const struct watch_sums *shown, const struct watch_sums *now)
{
    return (struct watch_sums){
        .objects = watch_model_larger(shown->objects, now->objects),
        .bytes = watch_model_larger(shown->bytes, now->bytes),
        .existing_objects = watch_model_larger(shown->existing_objects, now->existing_objects),
        .existing_bytes = watch_model_larger(shown->existing_bytes, now->existing_bytes),
        .freed_objects = watch_model_larger(shown->freed_objects, now->freed_objects),
        .freed_bytes = watch_model_larger(shown->freed_bytes, now->freed_bytes),
        .calls = watch_model_larger(shown->calls, now->calls)};
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

/* Limit for ids of deaths that wait for their births; more means that the trace lacks the
 * births. */
#define EARLY_MOST (UINT64_C(1) << 26)

struct origin {
    uint32_t class_id, stack, thread;
};

static uint64_t watch_model_pack(const struct origin *origin)
{
    return (uint64_t) origin->stack << 32 | origin->thread;
}

static struct origin origin_of(const struct live_object *object)
{
    return (struct origin){.class_id = object->class_id,
                           .stack = (uint32_t) (object->value >> 32),
                           .thread = (uint32_t) object->value};
}

void watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected)
{
    *model = (struct watch_model){.names = names};
    for (int i = 0; i < WATCH_AXES; i++) {
        id_table_init(&model->rows[i], sizeof(struct watch_row));
        id_table_init(&model->estimates[i], sizeof(struct watch_estimates));
    }
    watch_curve_init(&model->curve);
    trace_filter_init(&model->filter, selected);
}

void watch_model_reset(struct watch_model *model)
{
    for (int i = 0; i < WATCH_AXES; i++) {
        id_table_reset(&model->rows[i]);
        id_table_reset(&model->estimates[i]);
    }
    sample_weights_reset(&model->weights);
    id_set_reset(&model->early);
    id_set_reset(&model->early_pending);
    object_table_reset(&model->live);
    trace_filter_reset(&model->filter);
}

static void forget_early(struct id_set *set, uint64_t *count)
{
    id_set_reset(set);
    *count = 0;
}

static void forget_estimates(struct watch_model *model)
{
    for (int axis = 0; axis < WATCH_AXES; axis++) {
        id_table_reset(&model->estimates[axis]);
        id_table_init(&model->estimates[axis], sizeof(struct watch_estimates));
    }
    for (size_t i = 0; i < sizeof model->places / sizeof model->places[0]; i++)
        model->places[i].is_known = false;
    model->total_estimates = (struct watch_estimates){.live = {0}};
    model->gave_up = model->has_live = false;
}

void watch_model_restart(struct watch_model *model, const struct event_selection *selected,
                         bool forget)
{
    for (int axis = -1; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; axis < 0 ? id == 0 : id_table_next(&model->rows[axis], &id) != NULL;
             id++) {
            struct watch_row *row =
                axis < 0 ? &model->total : id_table_find(&model->rows[axis], id);
            struct watch_sums shown = row->shown;
            *row = (struct watch_row){.marked = row->marked};
            if (!forget)
                row->shown = shown;
        }
    forget_early(&model->early, &model->early_count);
    forget_estimates(model);
    object_table_reset(&model->live);
    trace_filter_reset(&model->filter);
    watch_curve_init(&model->curve);
    trace_filter_init(&model->filter, selected);
}

void watch_model_drop_rows(struct watch_model *model)
{
    for (int axis = 0; axis < WATCH_AXES; axis++) {
        id_table_reset(&model->rows[axis]);
        id_table_init(&model->rows[axis], sizeof(struct watch_row));
    }
    forget_estimates(model);
}

/* ---- rows ---- */

static struct watch_row *watch_model_row_of(struct watch_model *model, enum watch_axis axis,
                                            uint32_t id)
{
    struct watch_row *row = id_table_get(&model->rows[axis], id);
    model->no_memory |= row == NULL;
    return row;
}

static struct watch_sums *watch_model_sums_of(const struct watch_model *model,
                                              struct watch_row *row, bool pending)
{
    if (!pending)
        return &row->sums;
    if (row->look != model->look) {
        row->look = model->look;
        row->pending = (struct watch_sums){0};
    }
    return &row->pending;
}

static inline void watch_model_add(struct watch_sums *sums, const struct watch_sums *more)
{
    sums->objects += more->objects;
    sums->bytes += more->bytes;
    sums->existing_objects += more->existing_objects;
    sums->existing_bytes += more->existing_bytes;
    sums->freed_objects += more->freed_objects;
    sums->freed_bytes += more->freed_bytes;
    sums->calls += more->calls;
}

static void watch_model_add_row(struct watch_model *model, struct watch_place *place,
                                enum watch_axis axis, uint32_t id)
{
    struct watch_row *row = watch_model_row_of(model, axis, id);
    if (row != NULL)
        place->rows[place->count++] = row;
    if (!watch_model_is_sampled(model))
        return;
    struct watch_estimates *estimates = id_table_get(&model->estimates[axis], id);
    if (estimates != NULL)
        place->estimates[place->estimate_count++] = estimates;
    model->no_memory |= estimates == NULL;
}

/* A frame without a name may get one later, and then its method too. */
static void find_rows(struct watch_model *model, const struct origin *origin,
                      struct watch_place *place)
{
    uint32_t method =
        origin->stack != 0 ? trace_frame_of(model->names, origin->stack)->method_id : 0;
    *place = (struct watch_place){.is_known = origin->stack == 0 || method != 0,
                                  .class_id = origin->class_id,
                                  .stack = origin->stack,
                                  .thread = origin->thread,
                                  .rows = {&model->total},
                                  .count = 1,
                                  .estimates = {&model->total_estimates},
                                  .estimate_count = watch_model_is_sampled(model) ? 1 : 0};
    watch_model_add_row(model, place, WATCH_CLASSES, origin->class_id);
    watch_model_add_row(model, place, WATCH_THREADS, origin->thread);
    if (origin->stack != 0)
        watch_model_add_row(model, place, WATCH_SITES, origin->stack);
    if (method != 0)
        watch_model_add_row(model, place, WATCH_METHODS, method);
}

static const struct watch_place *watch_model_place_of(struct watch_model *model,
                                                      const struct origin *origin)
{
    uint64_t hash =
        step_hash_join((uint64_t) origin->class_id << 32 | origin->thread, origin->stack);
    struct watch_place *place = &model->places[hash & ((1u << WATCH_PLACE_BITS) - 1)];
    if (!place->is_known || place->class_id != origin->class_id || place->stack != origin->stack ||
        place->thread != origin->thread)
        find_rows(model, origin, place);
    return place;
}

/* Inlined, so that what is constantly zero is not added. */
static inline void watch_model_count(struct watch_model *model, const struct origin *origin,
                                     struct watch_sums more, bool pending)
{
    const struct watch_place *place = watch_model_place_of(model, origin);
    for (size_t i = 0; i < place->count; i++)
        watch_model_add(watch_model_sums_of(model, place->rows[i], pending), &more);
}

static void watch_model_count_birth(struct watch_model *model, const struct origin *origin,
                                    const struct trace_event *event, bool pending)
{
    struct watch_sums more = {.objects = 1, .bytes = event->size};
    if ((event->flags & TRACE_EXISTING) != 0)
        more = (struct watch_sums){.existing_objects = 1, .existing_bytes = event->size};
    watch_model_count(model, origin, more, pending);
}

static void count_death(struct watch_model *model, const struct origin *origin, uint64_t bytes,
                        bool pending)
{
    watch_model_count(model, origin, (struct watch_sums){.freed_objects = 1, .freed_bytes = bytes},
                      pending);
}

/* ---- samples ---- */

/* Adds a birth or a death to the estimates of its rows.  Births come before deaths. */
static void weigh(struct watch_model *model, const struct trace_event *event,
                  const struct origin *origin)
{
    if (!watch_model_is_sampled(model))
        return;
    double weight = sample_weights_of(&model->weights, event);
    const struct watch_place *place = watch_model_place_of(model, origin);
    for (size_t i = 0; i < place->estimate_count; i++)
        sample_sums_weigh(event->kind == EVENT_OBJECT_ALLOC ? &place->estimates[i]->allocated
                                                            : &place->estimates[i]->freed,
                          event->size, weight, model->weights.sampling);
    model->no_memory |= model->weights.no_memory;
}

/* The same for the live file's events. */
static void weigh_pending(struct watch_model *model, const struct origin *origin, uint64_t size,
                          double weight, bool is_birth)
{
    const struct watch_place *place = watch_model_place_of(model, origin);
    for (size_t i = 0; i < place->estimate_count; i++) {
        struct watch_estimates *estimates = place->estimates[i];
        if (estimates->look != model->look)
            estimates->pending = estimates->pending_freed = (struct sample_sums){.samples = 0};
        estimates->look = model->look;
        sample_sums_weigh(is_birth ? &estimates->pending : &estimates->pending_freed, size, weight,
                          model->weights.sampling);
    }
}

struct watch_estimates watch_estimates_now(const struct watch_model *model,
                                           const struct watch_estimates *estimates)
{
    struct watch_estimates now = *estimates;
    if (now.look == model->look) {
        sample_sums_merge(&now.allocated, &now.pending);
        sample_sums_merge(&now.freed, &now.pending_freed);
    }
    return now;
}

static void watch_model_add_live(void *user, const struct live_object *object, double weight)
{
    struct watch_model *model = user;
    struct live_object known;
    if (!object_table_find(&model->live, object->object, &known))
        return;
    struct origin origin = origin_of(&known);
    const struct watch_place *place = watch_model_place_of(model, &origin);
    for (size_t i = 0; i < place->estimate_count; i++)
        sample_sums_weigh(&place->estimates[i]->live, object->size, weight,
                          model->weights.sampling);
}

void watch_model_finish(struct watch_model *model)
{
    if (!watch_model_is_sampled(model) || sample_weights_are_whole(&model->weights) ||
        model->has_live)
        return;
    sample_weights_each_live(&model->weights, watch_model_add_live, model);
    model->has_live = true;
}

struct sample_sums watch_estimates_live(const struct watch_model *model,
                                        const struct watch_estimates *estimates)
{
    return model->has_live ? estimates->live
                           : sample_sums_without(&estimates->allocated, &estimates->freed);
}

/* ---- events of the file ---- */

static void note_time(struct watch_model *model, uint64_t time_ns)
{
    if (time_ns > model->last_ns)
        model->last_ns = time_ns;
}

static void bury_sample(struct watch_model *model, const struct live_object *object,
                        const struct origin *origin, uint64_t time_ns, bool pending)
{
    double weight;
    if (!pending) {
        weigh(model,
              &(struct trace_event){.kind = EVENT_OBJECT_FREE,
                                    .object = object->object,
                                    .size = object->size,
                                    .time_ns = time_ns},
              origin);
    } else if (watch_model_is_sampled(model)) {
        sample_weights_now(&model->weights, object->object, object->size, &weight);
        weigh_pending(model, origin, object->size, weight, false);
    }
}

static void bury(struct watch_model *model, const struct live_object *object, uint64_t time_ns,
                 bool pending)
{
    struct origin origin = origin_of(object);
    count_death(model, &origin, object->size, pending);
    bury_sample(model, object, &origin, time_ns, pending);
    watch_curve_put(&model->curve, time_ns, 0 - object->size, pending);
}

static void watch_model_put_alloc(struct watch_model *model, const struct trace_event *event)
{
    struct origin origin = {event->class_id, event->stack_id, event->thread_id};
    struct live_object object = {event->object, watch_model_pack(&origin), event->size,
                                 event->class_id};
    watch_model_count_birth(model, &origin, event, false);
    weigh(model, event, &origin);
    watch_curve_put(&model->curve, event->time_ns, event->size, false);
    if (model->early_count > 0 && id_set_has(&model->early, event->object))
        bury(model, &object, event->time_ns, false);
    else if (!object_table_put(&model->live, &object))
        model->no_memory = true;
}

static void note_early(struct watch_model *model, struct id_set *set, uint64_t *count,
                       uint64_t object)
{
    bool is_new = false;
    if (*count >= EARLY_MOST)
        forget_early(set, count);
    if (!id_set_add(set, object, &is_new))
        model->no_memory = true;
    *count += is_new;
}

static void watch_model_put_free(struct watch_model *model, const struct trace_event *event)
{
    struct live_object object;
    if (object_table_take(&model->live, event->object, &object))
        bury(model, &object, event->time_ns, false);
    else if (event->object != 0)
        note_early(model, &model->early, &model->early_count, event->object);
}

/* A free's class and site come from the live object, so the filter only checks births. */
static bool watch_model_is_wanted(struct watch_model *model, const struct trace_event *event)
{
    const struct event_selection *selected = &model->filter.selected;
    if (model->filter.everything)
        return true;
    if (event->kind != EVENT_OBJECT_FREE)
        return trace_filter_takes(&model->filter, model->names, event);
    trace_filter_takes(&model->filter, model->names, event);
    return event->time_ns >= selected->from_ns && event->time_ns <= selected->to_ns;
}

void watch_model_put(struct watch_model *model, const struct trace_event *event)
{
    note_time(model, event->time_ns);
    if (!watch_model_is_wanted(model, event))
        return;
    switch (event->kind) {
    case EVENT_OBJECT_ALLOC:
        watch_model_put_alloc(model, event);
        break;
    case EVENT_OBJECT_FREE:
        watch_model_put_free(model, event);
        break;
    case EVENT_METHOD_ENTRY:
        watch_model_put_calls(model, event->method_id, 1);
        break;
    default:
        break;
    }
}

static void add_calls(struct watch_model *model, uint32_t method_id, uint64_t calls, bool pending)
{
    const struct watch_sums more = {.calls = calls};
    struct watch_row *row = watch_model_row_of(model, WATCH_METHODS, method_id);
    watch_model_add(watch_model_sums_of(model, &model->total, pending), &more);
    if (row != NULL)
        watch_model_add(watch_model_sums_of(model, row, pending), &more);
}

void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls)
{
    add_calls(model, method_id, calls, false);
}

/* ---- events of the live file ---- */

void watch_model_begin_pending(struct watch_model *model)
{
    model->look++;
    forget_early(&model->early_pending, &model->early_pending_count);
    memset(model->curve.pending, 0, sizeof model->curve.pending);
}

static bool pending_is_wanted(struct watch_model *model, const struct trace_event *event)
{
    return model->filter.everything ||
           (event->kind == EVENT_OBJECT_ALLOC
                ? trace_filter_takes_object(&model->filter, model->names, event)
                : trace_filter_takes(&model->filter, model->names, event));
}

static void pend_free(struct watch_model *model, const struct trace_event *event)
{
    const struct event_selection *selected = &model->filter.selected;
    struct live_object object;
    if (event->time_ns < selected->from_ns || event->time_ns > selected->to_ns)
        return;
    if (object_table_find(&model->live, event->object, &object))
        bury(model, &object, event->time_ns, true);
    else
        note_early(model, &model->early_pending, &model->early_pending_count, event->object);
}

static bool is_dead(const struct watch_model *model, uint64_t object)
{
    return (model->early_count > 0 && id_set_has(&model->early, object)) ||
           (model->early_pending_count > 0 && id_set_has(&model->early_pending, object));
}

void watch_model_pend(struct watch_model *model, const struct trace_event *event)
{
    note_time(model, event->time_ns);
    if (event->kind == EVENT_OBJECT_FREE)
        pend_free(model, event);
    else if (event->kind == EVENT_METHOD_ENTRY && pending_is_wanted(model, event))
        add_calls(model, event->method_id, 1, true);
    else if (event->kind == EVENT_OBJECT_ALLOC && !object_table_has(&model->live, event->object))
        watch_model_pend_object(model, event, !is_dead(model, event->object));
}

void watch_model_pend_object(struct watch_model *model, const struct trace_event *event, bool lives)
{
    const struct origin origin = {event->class_id, event->stack_id, event->thread_id};
    note_time(model, event->time_ns);
    if (!pending_is_wanted(model, event))
        return;
    watch_model_count_birth(model, &origin, event, true);
    if (watch_model_is_sampled(model)) {
        double weight =
            sample_weight(event->size, event->drawn_bytes != 0 ? event->drawn_bytes
                                                               : model->weights.interval_bytes);
        weigh_pending(model, &origin, event->size, weight, true);
        if (!lives)
            weigh_pending(model, &origin, event->size, weight, false);
    }
    if (lives)
        watch_curve_put(&model->curve, event->time_ns, event->size, true);
    else
        count_death(model, &origin, event->size, true);
}

struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row)
{
    struct watch_sums sums = row->sums;
    if (row->look == model->look)
        watch_model_add(&sums, &row->pending);
    return sums;
}
