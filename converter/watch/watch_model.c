/* SPDX-License-Identifier: Apache-2.0 */
/* Events into rows. */
#include "converter/watch/watch_model.h"

/* What an object's entry in the table of what lives tells: weight, thread, call stack. */
#define WEIGHT_BITS 12u
#define THREAD_BITS 20u
#define STACK_SHIFT (WEIGHT_BITS + THREAD_BITS)

/* Numbers of the dead that wait for their birth; far more are no late births but a trace that does
 * not have them. */
#define EARLY_MOST (UINT64_C(1) << 26)

struct origin {
    uint32_t stack, thread, weight;
};

static uint64_t pack(const struct origin *origin)
{
    uint64_t thread = origin->thread < (1u << THREAD_BITS) ? origin->thread : 0;
    return (uint64_t) origin->stack << STACK_SHIFT | thread << WEIGHT_BITS | origin->weight;
}

static struct origin unpack(uint64_t value)
{
    return (struct origin){.stack = (uint32_t) (value >> STACK_SHIFT),
                           .thread = (uint32_t) (value >> WEIGHT_BITS) & ((1u << THREAD_BITS) - 1),
                           .weight = (uint32_t) value & ((1u << WEIGHT_BITS) - 1)};
}

bool watch_model_init(struct watch_model *model, const struct trace_names *names,
                      const struct event_selection *selected)
{
    *model = (struct watch_model){.names = names, .stride = 1};
    for (int i = 0; i < WATCH_AXES; i++)
        id_table_init(&model->rows[i], sizeof(struct watch_row));
    id_set_init(&model->early);
    watch_curve_init(&model->curve);
    bool has_filter = trace_filter_init(&model->filter, selected);
    return object_table_init(&model->live) && has_filter;
}

void watch_model_reset(struct watch_model *model)
{
    for (int i = 0; i < WATCH_AXES; i++)
        id_table_reset(&model->rows[i]);
    id_set_reset(&model->early);
    object_table_reset(&model->live);
    trace_filter_reset(&model->filter);
}

/* ---- rows ---- */

static void each_row(struct watch_model *model,
                     void (*visit)(struct watch_model *, struct watch_row *))
{
    visit(model, &model->total);
    for (int axis = 0; axis < WATCH_AXES; axis++)
        for (uint32_t id = 0; id_table_next(&model->rows[axis], &id); id++)
            visit(model, id_table_find(&model->rows[axis], id));
}

static void clear_row(struct watch_model *model, struct watch_row *row)
{
    (void) model;
    *row = (struct watch_row){.marked = row->marked};
}

bool watch_model_restart(struct watch_model *model, const struct event_selection *selected)
{
    each_row(model, clear_row);
    id_set_reset(&model->early);
    id_set_init(&model->early);
    model->early_count = 0;
    model->stride = 1;
    object_table_reset(&model->live);
    trace_filter_reset(&model->filter);
    watch_curve_init(&model->curve);
    bool has_filter = trace_filter_init(&model->filter, selected);
    return object_table_init(&model->live) && has_filter;
}

static struct watch_row *row_of(struct watch_model *model, enum watch_axis axis, uint32_t id)
{
    struct watch_row *row = id_table_get(&model->rows[axis], id);
    model->no_memory |= row == NULL;
    return row;
}

static struct watch_sums *sums_of(struct watch_model *model, struct watch_row *row, bool pending)
{
    if (!pending)
        return &row->sums;
    if (row->look != model->look) {
        row->look = model->look;
        row->pending = (struct watch_sums){0};
    }
    return &row->pending;
}

static void add(struct watch_sums *sums, const struct watch_sums *more)
{
    sums->objects += more->objects;
    sums->bytes += more->bytes;
    sums->freed_objects += more->freed_objects;
    sums->freed_bytes += more->freed_bytes;
    sums->calls += more->calls;
}

static void add_to(struct watch_model *model, enum watch_axis axis, uint32_t id,
                   const struct watch_sums *more, bool pending)
{
    struct watch_row *row = row_of(model, axis, id);
    if (row != NULL)
        add(sums_of(model, row, pending), more);
}

static uint32_t method_of_stack(const struct watch_model *model, uint32_t stack)
{
    return stack != 0 ? trace_frame_of(model->names, stack)->method_id : 0;
}

/* To all rows that an object has a place in. */
static void add_object(struct watch_model *model, uint32_t class_id, const struct origin *origin,
                       const struct watch_sums *more, bool pending)
{
    uint32_t method = method_of_stack(model, origin->stack);
    add(sums_of(model, &model->total, pending), more);
    add_to(model, WATCH_CLASSES, class_id, more, pending);
    add_to(model, WATCH_THREADS, origin->thread, more, pending);
    if (origin->stack != 0)
        add_to(model, WATCH_SITES, origin->stack, more, pending);
    if (method != 0)
        add_to(model, WATCH_METHODS, method, more, pending);
}

/* ---- events ---- */

static void note_time(struct watch_model *model, uint64_t time_ns)
{
    if (time_ns > model->last_ns)
        model->last_ns = time_ns;
}

/* The object's death, in rows and over time. */
static void bury(struct watch_model *model, const struct live_object *object, uint64_t time_ns,
                 bool pending)
{
    struct origin origin = unpack(object->value);
    uint64_t bytes = object->size * origin.weight;
    add_object(model, object->class_id, &origin,
               &(struct watch_sums){.freed_objects = origin.weight, .freed_bytes = bytes}, pending);
    if (pending)
        watch_curve_pend(&model->curve, time_ns, -(int64_t) bytes);
    else
        watch_curve_free(&model->curve, time_ns, bytes);
}

void watch_model_thin(struct watch_model *model, uint32_t stride)
{
    struct object_table kept, all = model->live;
    uint32_t times = stride / model->stride;
    struct live_object object;
    if (!object_table_init(&kept)) {
        object_table_reset(&kept);
        return;
    }
    model->stride = stride;
    for (size_t i = 0; i <= all.mask; i++) {
        uint64_t number = all.slots[i].object;
        if (number == 0 || !watch_model_samples(model, number) ||
            !object_table_find(&all, number, &object))
            continue;
        struct origin origin = unpack(object.value);
        origin.weight =
            origin.weight <= WATCH_WEIGHT_MOST / times ? origin.weight * times : WATCH_WEIGHT_MOST;
        object.value = pack(&origin);
        model->no_memory |= !object_table_put(&kept, &object);
    }
    object_table_reset(&all);
    model->live = kept;
}

static void put_alloc(struct watch_model *model, const struct trace_event *event, uint32_t weight)
{
    weight =
        weight <= WATCH_WEIGHT_MOST / model->stride ? weight * model->stride : WATCH_WEIGHT_MOST;
    struct origin origin = {event->stack_id, event->thread_id, weight};
    uint64_t bytes = event->size * weight;
    struct live_object object = {event->object, pack(&origin), event->size, event->class_id};
    add_object(model, event->class_id, &origin,
               &(struct watch_sums){.objects = weight, .bytes = bytes}, false);
    watch_curve_alloc(&model->curve, event->time_ns, bytes);
    if (model->early_count > 0 && id_set_has(&model->early, event->object))
        bury(model, &object, event->time_ns, false);
    else if (!object_table_put(&model->live, &object))
        model->no_memory = true;
}

static void put_free(struct watch_model *model, const struct trace_event *event)
{
    struct live_object object;
    bool is_new = false;
    if (object_table_take(&model->live, event->object, &object)) {
        bury(model, &object, event->time_ns, false);
        return;
    }
    if (event->object == 0)
        return;
    if (model->early_count >= EARLY_MOST) {
        id_set_reset(&model->early);
        id_set_init(&model->early);
        model->early_count = 0;
    }
    if (!id_set_add(&model->early, event->object, &is_new))
        model->no_memory = true;
    model->early_count += is_new;
}

/* What a free is of is known by what lives, so the filter is asked of births alone. */
static bool is_wanted(struct watch_model *model, const struct trace_event *event)
{
    const struct event_selection *selected = &model->filter.selected;
    if (model->filter.everything)
        return true;
    if (event->kind != EVENT_OBJECT_FREE)
        return trace_filter_takes(&model->filter, model->names, event);
    trace_filter_takes(&model->filter, model->names, event);
    return event->time_ns >= selected->from_ns && event->time_ns <= selected->to_ns;
}

void watch_model_put(struct watch_model *model, const struct trace_event *event, uint32_t weight)
{
    note_time(model, event->time_ns);
    if (!is_wanted(model, event))
        return;
    switch (event->kind) {
    case EVENT_OBJECT_ALLOC:
        put_alloc(model, event, weight);
        break;
    case EVENT_OBJECT_FREE:
        put_free(model, event);
        break;
    case EVENT_METHOD_ENTRY:
        watch_model_put_calls(model, event->method_id, weight);
        break;
    default:
        break;
    }
}

void watch_model_put_calls(struct watch_model *model, uint32_t method_id, uint64_t calls)
{
    const struct watch_sums more = {.calls = calls};
    add(&model->total.sums, &more);
    add_to(model, WATCH_METHODS, method_id, &more, false);
}

void watch_model_begin_pending(struct watch_model *model)
{
    model->look++;
    model->pending_frees = 0;
    watch_curve_begin_pending(&model->curve);
    sums_of(model, &model->total, true);
}

static bool pending_is_wanted(struct watch_model *model, const struct trace_event *event)
{
    return model->filter.everything ||
           (event->kind == EVENT_OBJECT_ALLOC
                ? trace_filter_takes_object(&model->filter, model->names, event)
                : trace_filter_takes(&model->filter, model->names, event));
}

void watch_model_pend(struct watch_model *model, const struct trace_event *event, uint32_t weight)
{
    struct live_object object;
    note_time(model, event->time_ns);
    if (event->kind == EVENT_OBJECT_FREE) {
        model->pending_frees += weight;
        if (watch_model_samples(model, event->object) &&
            object_table_find(&model->live, event->object, &object))
            bury(model, &object, event->time_ns, true);
    } else if (!pending_is_wanted(model, event)) {
        return;
    } else if (event->kind == EVENT_OBJECT_ALLOC) {
        struct origin origin = {event->stack_id, event->thread_id, weight};
        add_object(model, event->class_id, &origin,
                   &(struct watch_sums){.objects = weight, .bytes = event->size * weight}, true);
        watch_curve_pend(&model->curve, event->time_ns, (int64_t) (event->size * weight));
    } else if (event->kind == EVENT_METHOD_ENTRY) {
        const struct watch_sums more = {.calls = weight};
        add(sums_of(model, &model->total, true), &more);
        add_to(model, WATCH_METHODS, event->method_id, &more, true);
    }
}

void watch_model_pend_object(struct watch_model *model, const struct trace_event *event, bool lives)
{
    const struct origin origin = {event->stack_id, event->thread_id, 1};
    struct watch_sums sums = {.objects = 1, .bytes = event->size};
    note_time(model, event->time_ns);
    if (!pending_is_wanted(model, event))
        return;
    if (!lives) {
        sums.freed_objects = 1;
        sums.freed_bytes = event->size;
    } else {
        watch_curve_pend(&model->curve, event->time_ns, (int64_t) event->size);
    }
    add_object(model, event->class_id, &origin, &sums, true);
}

/* ---- moments ---- */

struct watch_sums watch_row_now(const struct watch_model *model, const struct watch_row *row)
{
    struct watch_sums sums = row->sums;
    if (row->look == model->look)
        add(&sums, &row->pending);
    return sums;
}
