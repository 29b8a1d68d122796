/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the events of a trace. */
#include "converter/statistics/statistics.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/sample_totals.h"
#include "steptrace/live.h"

void statistics_init(struct statistics *statistics, const struct trace_names *names,
                     bool lifetimes_in_bytes)
{
    *statistics = (struct statistics){.names = names, .lifetimes_in_bytes = lifetimes_in_bytes};
    id_table_init(&statistics->classes, sizeof(struct class_totals));
    id_table_init(&statistics->threads, sizeof(struct thread_totals));
    id_table_init(&statistics->methods, sizeof(struct method_totals));
    level_curve_init(&statistics->curve);
}

void statistics_reset(struct statistics *statistics)
{
    struct thread_totals *thread;
    for (uint32_t i = 0; (thread = id_table_next(&statistics->threads, &i)) != NULL; i++)
        call_stack_reset(&thread->stack);
    struct class_totals *class;
    for (uint32_t i = 0; (class = id_table_next(&statistics->classes, &i)) != NULL; i++)
        lifetimes_reset(&class->lifetimes);
    lifetimes_reset(&statistics->all.lifetimes);
    id_table_reset(&statistics->classes);
    id_table_reset(&statistics->threads);
    id_table_reset(&statistics->methods);
    object_table_reset(&statistics->births);
    sample_weights_reset(&statistics->weights);
}

/* ---- objects ---- */

static void count_alloc(struct object_totals *totals, const struct trace_event *event)
{
    if ((event->flags & TRACE_EXISTING) != 0) {
        totals->existing_objects++;
        totals->existing_bytes += event->size;
    } else {
        totals->allocated_objects++;
        totals->allocated_bytes += event->size;
    }
}

static void weigh_alloc(struct statistics *statistics, const struct trace_event *event,
                        struct class_totals *class, struct thread_totals *thread)
{
    double weight = sample_weights_of(&statistics->weights, event);
    struct sample_sums *const sums[] = {&class->sampled.allocated,
                                        &statistics->all.sampled.allocated, &thread->sampled};
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        sample_weights_add(&statistics->weights, sums[i], event->object, event->size, weight);
}

static void weigh_free(struct statistics *statistics, const struct trace_event *event,
                       struct class_totals *class, bool has_life, uint64_t life)
{
    double weight = sample_weights_of(&statistics->weights, event);
    struct sampled_totals *const totals[] = {&class->sampled, &statistics->all.sampled};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        sample_weights_add(&statistics->weights, &totals[i]->freed, event->object, event->size,
                           weight);
        if (has_life)
            sample_lives_weigh(&totals[i]->lives, weight, (double) life);
    }
}

static bool stats_put_alloc(struct statistics *statistics, const struct trace_event *event,
                            struct thread_totals *thread)
{
    struct class_totals *class = id_table_get(&statistics->classes, event->class_id);
    if (class == NULL)
        return false;
    if (statistics->lifetimes_in_bytes &&
        !object_table_put(&statistics->births,
                          &(struct live_object){.object = event->object,
                                                .value = statistics->all.objects.allocated_bytes}))
        return false;
    count_alloc(&class->objects, event);
    count_alloc(&statistics->all.objects, event);
    if ((event->flags & TRACE_EXISTING) == 0) {
        thread->allocated_objects++;
        thread->allocated_bytes += event->size;
    }
    if (statistics->weights.interval_bytes != 0)
        weigh_alloc(statistics, event, class, thread);
    statistics->live_objects++;
    statistics->live_bytes += event->size;
    if (peak_passed(&statistics->peak, statistics->live_bytes, statistics->live_objects))
        statistics->peak_ns = event->time_ns;
    level_curve_put(&statistics->curve, event->time_ns, statistics->live_bytes,
                    statistics->live_objects);
    return true;
}

/* Returns false if the object's birth is unknown. */
static bool find_lifetime(struct statistics *statistics, const struct trace_event *event,
                          uint64_t *lifetime)
{
    if (statistics->lifetimes_in_bytes) {
        struct live_object birth;
        if (!object_table_take(&statistics->births, event->object, &birth))
            return false;
        *lifetime = statistics->all.objects.allocated_bytes - birth.value;
        return true;
    }
    if ((event->flags & TRACE_BORN_KNOWN) == 0)
        return false;
    *lifetime = event->time_ns > event->born_ns ? event->time_ns - event->born_ns : 0;
    return true;
}

static bool stats_put_free(struct statistics *statistics, const struct trace_event *event)
{
    struct class_totals *class = id_table_get(&statistics->classes, event->class_id);
    uint64_t lifetime;
    if (class == NULL)
        return false;
    if ((event->flags & TRACE_BORN_KNOWN) != 0 && event->born_ns < statistics->from_ns)
        return true; /* as its allocation, which the selection leaves out */
    death_dates_put(&statistics->deaths, event);
    class->objects.freed_objects++;
    class->objects.freed_bytes += event->size;
    statistics->all.objects.freed_objects++;
    statistics->all.objects.freed_bytes += event->size;
    if ((event->flags & TRACE_BORN_KNOWN) != 0 && statistics->live_objects > 0) {
        statistics->live_objects--;
        statistics->live_bytes -=
            event->size < statistics->live_bytes ? event->size : statistics->live_bytes;
    }
    bool has_life = find_lifetime(statistics, event, &lifetime);
    if (statistics->weights.interval_bytes != 0)
        weigh_free(statistics, event, class, has_life, has_life ? lifetime : 0);
    if (has_life && (!lifetimes_add(&class->lifetimes, lifetime) ||
                     !lifetimes_add(&statistics->all.lifetimes, lifetime)))
        return false;
    level_curve_put(&statistics->curve, event->time_ns, statistics->live_bytes,
                    statistics->live_objects);
    return true;
}

/* ---- calls ---- */

/* What `site` of a call's frame says. */
enum { IS_COUNTED = 1, IS_WITHIN_COUNTED = 2 /* it, or an outer call of its method */ };

static bool stats_enter(struct statistics *statistics, const struct trace_event *event,
                        struct thread_totals *thread)
{
    struct call_stack *stack = &thread->stack;
    bool is_counted = (event->flags & TRACE_FOLLOWED) == 0;
    if (is_counted && id_table_get(&statistics->methods, event->method_id) == NULL)
        return false;
    size_t outer = call_stack_find(stack, event->method_id);
    bool is_within = outer != 0 && (stack->frames[outer - 1].site & IS_WITHIN_COUNTED) != 0;
    const struct call_frame frame = {.method_id = event->method_id,
                                     .site = (is_counted ? IS_COUNTED : 0) |
                                             (is_counted || is_within ? IS_WITHIN_COUNTED : 0),
                                     .entered_ns = event->time_ns};
    return call_stack_push(stack, &frame);
}

/* Ends the innermost call.  It counts now and not when it began, because a call that began before
 * the selected time counts only if it is open at the start of that time. */
static void stats_leave(struct statistics *statistics, struct thread_totals *thread,
                        uint64_t time_ns)
{
    struct call_stack *stack = &thread->stack;
    const struct call_frame *frame = call_stack_pop(stack);
    uint64_t took = time_ns > frame->entered_ns ? time_ns - frame->entered_ns : 0;
    if (stack->depth > 0)
        stack->frames[stack->depth - 1].inner_ns += took;
    if ((frame->site & IS_COUNTED) == 0)
        return;
    struct method_totals *method = id_table_find(&statistics->methods, frame->method_id);
    method->calls++;
    thread->calls++;
    method->exclusive_ns += took > frame->inner_ns ? took - frame->inner_ns : 0;
    if (frame->outer == 0 || (stack->frames[frame->outer - 1].site & IS_WITHIN_COUNTED) == 0)
        method->inclusive_ns += took;
}

static void stats_put_exit(struct statistics *statistics, const struct trace_event *event,
                           struct thread_totals *thread)
{
    size_t depth = call_stack_find(&thread->stack, event->method_id);
    if (depth == 0) {
        statistics->unmatched_exits += trace_event_is_selected(event);
        return;
    }
    if ((event->flags & TRACE_BEFORE) != 0) {
        call_stack_cut(&thread->stack, depth - 1);
        return;
    }
    bool is_counted = (thread->stack.frames[depth - 1].site & IS_COUNTED) != 0;
    while (thread->stack.depth >= depth)
        stats_leave(statistics, thread, event->time_ns);
    if (event->kind == EVENT_METHOD_POP && is_counted) {
        struct method_totals *method = id_table_find(&statistics->methods, event->method_id);
        method->exceptions++;
    }
}

static void end_calls(struct statistics *statistics, struct thread_totals *thread, uint64_t time_ns)
{
    for (size_t i = 0; i < thread->stack.depth; i++)
        statistics->open_calls += (thread->stack.frames[i].site & IS_COUNTED) != 0;
    while (thread->stack.depth > 0)
        stats_leave(statistics, thread, time_ns);
    call_stack_reset(&thread->stack);
}

static bool put_call(struct statistics *statistics, const struct trace_event *event,
                     struct thread_totals *thread)
{
    if (event->kind == EVENT_METHOD_ENTRY)
        return stats_enter(statistics, event, thread);
    if (event->kind == EVENT_METHOD_EXIT || event->kind == EVENT_METHOD_POP)
        stats_put_exit(statistics, event, thread);
    else if (event->kind == EVENT_THREAD_END && (event->flags & TRACE_BEFORE) != 0)
        call_stack_reset(&thread->stack);
    else if (event->kind == EVENT_THREAD_END)
        end_calls(statistics, thread, event->time_ns);
    return true;
}

/* ---- all ---- */

static void stats_put_thread_event(const struct trace_event *event, struct thread_totals *thread)
{
    if (event->kind == EVENT_THREAD_BEGIN) {
        thread->has_start = true;
        thread->start_ns = event->time_ns;
    } else if (event->kind == EVENT_THREAD_END) {
        thread->has_end = true;
    }
}

/* Mostly the thread is that of the event before. */
static struct thread_totals *stats_thread(struct statistics *statistics, uint32_t thread_id)
{
    if (statistics->last_thread == NULL || statistics->last_thread_id != thread_id)
        statistics->last_thread = id_table_get(&statistics->threads, thread_id);
    statistics->last_thread_id = thread_id;
    return statistics->last_thread;
}

/* Puts the first event, and those like it: births, or deaths, that follow each other in a thread.
 */
static bool put_some(struct statistics *statistics, const struct trace_event *events, size_t count,
                     size_t *taken)
{
    const struct trace_event *first = &events[0];
    struct thread_totals *thread = stats_thread(statistics, first->thread_id);
    bool is_birth = first->kind == EVENT_OBJECT_ALLOC, is_death = first->kind == EVENT_OBJECT_FREE;
    bool ok = thread != NULL && (is_birth || is_death || put_call(statistics, first, thread));
    uint64_t latest_ns = first->time_ns;
    size_t n = 0;
    if (ok && (is_birth || is_death) && trace_event_is_selected(first))
        for (; ok && n < count && events[n].kind == first->kind &&
               events[n].thread_id == first->thread_id && trace_event_is_selected(&events[n]);
             n++) {
            latest_ns = events[n].time_ns > latest_ns ? events[n].time_ns : latest_ns;
            ok = is_birth ? stats_put_alloc(statistics, &events[n], thread)
                          : stats_put_free(statistics, &events[n]);
        }
    *taken = n == 0 ? 1 : n;
    if (latest_ns > statistics->calls_end_ns)
        statistics->calls_end_ns = latest_ns;
    if (!ok || !trace_event_is_selected(first))
        return ok;
    if (!is_birth && !is_death)
        stats_put_thread_event(first, thread);
    if (statistics->event_count == 0)
        statistics->first_ns = first->time_ns;
    if (latest_ns > statistics->last_ns)
        statistics->last_ns = latest_ns;
    statistics->event_count += *taken;
    statistics->kinds[first->kind] += *taken;
    if (!thread->is_used && first->kind != EVENT_THREAD_BEGIN)
        thread->start_ns = first->time_ns;
    thread->is_used = true;
    thread->end_ns = events[*taken - 1].time_ns;
    return true;
}

bool statistics_put(struct statistics *statistics, const struct trace_event *events, size_t count)
{
    for (size_t i = 0, taken; i < count; i += taken)
        if (!put_some(statistics, &events[i], count - i, &taken) || statistics->weights.no_memory)
            return false;
    return true;
}

/* Of a sampled trace, a class without a sample has a row, too. */
static enum step_status note_class(struct statistics *statistics, const struct trace_fact *fact)
{
    const struct sample_totals *totals = statistics->weights.totals;
    const struct sample_known *known =
        totals != NULL && fact->is_of_class
            ? sample_totals_of(totals, trace_class_of(statistics->names, fact->class_id)->name)
            : NULL;
    if (known == NULL || known->class_id != fact->class_id || known->objects <= 0)
        return STEP_STATUS_OK;
    struct class_totals *class = id_table_get(&statistics->classes, fact->class_id);
    if (class == NULL)
        return STEP_STATUS_NO_MEMORY;
    class->is_known = true;
    return STEP_STATUS_OK;
}

static void put_survivors(struct survivor_totals *totals, const struct trace_fact *fact)
{
    totals->of_objects += fact->objects;
    totals->of_bytes += fact->bytes;
    totals->objects += fact->survived;
    totals->bytes += fact->survived_bytes;
}

static enum step_status put_eden_class(struct statistics *statistics, const struct trace_fact *fact)
{
    if (!fact->is_of_class)
        statistics->eden.not_known += fact->bytes;
    if (statistics->weights.interval_bytes != 0)
        return note_class(statistics, fact);
    statistics->all.objects.allocated_bytes += fact->bytes;
    statistics->all.objects.allocated_objects += fact->objects;
    if (!fact->is_of_class)
        return STEP_STATUS_OK;
    struct class_totals *class = id_table_get(&statistics->classes, fact->class_id);
    if (class == NULL)
        return STEP_STATUS_NO_MEMORY;
    class->objects.allocated_bytes += fact->bytes;
    class->objects.allocated_objects += fact->objects;
    if (fact->has_survivors) {
        put_survivors(&class->survivors, fact);
        put_survivors(&statistics->all.survivors, fact);
    }
    return STEP_STATUS_OK;
}

const char *eden_totals_why(const struct eden_totals *eden)
{
    return eden->left_out == eden->not_seen ? "the agent's option share"
           : eden->left_out == 0
               ? "the JVM did not announce them, or a walk was refused"
               : "the agent's option share, or not announced by the JVM, or refused";
}

static void put_eden_walk(struct statistics *statistics, const struct trace_fact *fact)
{
    bool is_walk = fact->how != STEP_LIVE_EDEN_COUNTED;
    statistics->eden.walks += is_walk;
    statistics->eden.readings += !is_walk;
    statistics->eden.not_seen += is_walk && fact->how != STEP_LIVE_EDEN_WALKED;
    statistics->eden.left_out += fact->how == STEP_LIVE_EDEN_LEFT_OUT;
    statistics->eden.bytes += fact->counted;
}

enum step_status statistics_put_fact(void *user, const struct trace_fact *fact)
{
    struct statistics *statistics = user;
    if (fact->kind == TRACE_GIVEN_UP || fact->kind == TRACE_EDEN_AGE)
        return STEP_STATUS_OK;
    if (fact->kind == TRACE_EDEN_CLASS)
        return put_eden_class(statistics, fact);
    if (fact->kind == TRACE_EDEN_WALK) {
        statistics->is_whole = true;
        put_eden_walk(statistics, fact);
        return STEP_STATUS_OK;
    }
    if (fact->kind == TRACE_NOT_PROBED) {
        statistics->not_probed++;
        return STEP_STATUS_OK;
    }
    struct method_totals *method = id_table_get(&statistics->methods, fact->method_id);
    if (method == NULL)
        return STEP_STATUS_NO_MEMORY;
    method->calls += fact->calls;
    method->exceptions += fact->exceptions;
    method->inclusive_ns += fact->inclusive_ns;
    method->exclusive_ns += fact->exclusive_ns;
    return STEP_STATUS_OK;
}

/* ---- sampled traces ---- */

enum step_status statistics_sampled_init(struct statistics *statistics, struct event_source *source,
                                         struct step_error *error)
{
    statistics->not_recorded = event_source_not_recorded(source);
    statistics->deaths.are_missing =
        (statistics->not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
    return sample_weights_read(&statistics->weights, source, error);
}

static void stats_add_live(void *user, const struct live_object *object, double weight)
{
    struct statistics *statistics = user;
    struct class_totals *class = id_table_find(&statistics->classes, object->class_id);
    if (class != NULL)
        sample_weights_add(&statistics->weights, &class->sampled.live, object->object, object->size,
                           weight);
    sample_weights_add(&statistics->weights, &statistics->all.sampled.live, object->object,
                       object->size, weight);
}

static void finish_sampled(struct statistics *statistics)
{
    struct class_totals *class;
    for (uint32_t i = 0; (class = id_table_next(&statistics->classes, &i)) != NULL; i++)
        class->sampled.has_live = true;
    statistics->all.sampled.has_live = true;
    sample_weights_each_live(&statistics->weights, stats_add_live, statistics);
}

/* Facts are put in only where all events are selected: then rows of classes are whole. */
static void finish_totals(struct statistics *statistics)
{
    const struct sample_totals *totals = statistics->weights.totals;
    struct sample_sums *all = &statistics->all.sampled.allocated;
    struct class_totals *class;
    if (totals == NULL || !statistics->is_whole)
        return;
    for (uint32_t i = 0; (class = id_table_next(&statistics->classes, &i)) != NULL; i++) {
        struct sample_sums *allocated = &class->sampled.allocated;
        if (allocated->samples == 0 && !class->is_known)
            continue;
        allocated->sampling = statistics->weights.sampling;
        *allocated = sample_sums_of_class(*allocated, trace_class_of(statistics->names, i)->name);
        sample_sums_make_whole(allocated);
    }
    all->sampling = statistics->weights.sampling;
    all->known = &totals->all;
    all->is_whole = true;
}

void statistics_finish(struct statistics *statistics)
{
    finish_totals(statistics);
    if (!sample_weights_are_whole(&statistics->weights))
        finish_sampled(statistics);
    struct thread_totals *thread;
    for (uint32_t i = 0; (thread = id_table_next(&statistics->threads, &i)) != NULL; i++) {
        if (thread->stack.depth == 0)
            continue;
        if (thread->is_used)
            thread->end_ns = statistics->last_ns;
        end_calls(statistics, thread, statistics->calls_end_ns);
    }
    level_curve_put(&statistics->curve, statistics->last_ns, statistics->live_bytes,
                    statistics->live_objects);
}
