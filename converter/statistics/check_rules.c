/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each event of a trace against the events before it. */
#include "converter/statistics/check_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "converter/trace/call_stack.h"

enum thread_state { THREAD_UNSEEN, THREAD_STARTED, THREAD_ENDED };

struct check_thread {
    uint8_t state;
    bool was_named; /* used before its start; reported once */
    uint64_t time_ns;
    struct call_stack calls;
};

static const char *const texts[CHECK_RULE_COUNT + 1] = {
    "",
    "VS, VI come first and VD comes last",
    "objects that existed before are listed directly after VI, with its time",
    "classes, objects and threads are defined before they are used",
    "identifiers are used once",
    "an object is freed at most once, after its allocation, with its class",
    "calls nest in each thread",
    "time never goes back",
    "calls of instance methods carry the object, those of static methods 0",
    "references are of objects that live",
    "walks of eden add up, and no more survived than was allocated",
};

const char *check_rule_text(unsigned rule)
{
    return rule <= CHECK_RULE_COUNT ? texts[rule] : "";
}

void check_rules_init(struct check_rules *rules, const struct trace_names *names,
                      check_report report, void *user)
{
    *rules = (struct check_rules){.names = names, .report = report, .user = user};
    id_table_init(&rules->classes, sizeof(uint8_t));
    id_table_init(&rules->threads, sizeof(struct check_thread));
    rules->judged = UINT32_MAX;
    rules->names_objects = true;
}

void check_rules_reset(struct check_rules *rules)
{
    struct check_thread *thread;
    for (uint32_t i = 0; (thread = id_table_next(&rules->threads, &i)) != NULL; i++)
        call_stack_reset(&thread->calls);
    id_set_reset(&rules->allocated);
    id_set_reset(&rules->freed);
    id_table_reset(&rules->classes);
    id_table_reset(&rules->threads);
}

void rules_breach(struct check_rules *rules, unsigned rule, const struct trace_event *event,
                  const char *format, ...)
{
    char text[512];
    va_list values;
    if ((rules->judged >> rule & 1) == 0)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    rules->breaches[rule]++;
    rules->report(rules->user,
                  &(struct check_breach){rule, rules->event_count,
                                         event != NULL ? event->time_ns : rules->time_ns, text});
}

/* Limits the length of names in messages. */
#define NAME_FORMAT "%.*s"
#define NAME(bytes) (int) ((bytes).length < 160 ? (bytes).length : 160), (const char *) (bytes).data

static const char *kind_name(const struct trace_event *event)
{
    return step_text_kind_name((enum step_text_kind) event->kind);
}

/* ---- rules 1 and 2: beginning and end ---- */

static void check_place(struct check_rules *rules, const struct trace_event *event)
{
    uint32_t bit = TRACE_KIND_BIT(event->kind);
    uint64_t number = rules->event_count;
    bool is_frame = event->kind == EVENT_VM_START || event->kind == EVENT_VM_INIT ||
                    event->kind == EVENT_VM_DEATH;
    if ((rules->seen_kinds & TRACE_KIND_BIT(EVENT_VM_DEATH)) != 0)
        rules_breach(rules, 1, event, "%s comes after VD", kind_name(event));
    else if (number == 1 && event->kind != EVENT_VM_START)
        rules_breach(rules, 1, event, "the first event is %s and not VS", kind_name(event));
    else if (number == 2 && event->kind != EVENT_VM_INIT)
        rules_breach(rules, 1, event, "the second event is %s and not VI", kind_name(event));
    else if (is_frame && (rules->seen_kinds & bit) != 0)
        rules_breach(rules, 1, event, "a second %s", kind_name(event));
    if (event->kind == EVENT_VM_INIT)
        rules->init_ns = event->time_ns;
    if ((event->flags & TRACE_EXISTING) != 0 && event->time_ns != rules->init_ns)
        rules_breach(rules, 2, event,
                     "%s of what existed before has not the time of VI (%" PRIu64 ")",
                     kind_name(event), rules->init_ns);
    rules->seen_kinds |= bit;
}

/* ---- rule 7: time ---- */

static void check_time(struct check_rules *rules, const struct trace_event *event,
                       struct check_thread *thread)
{
    if (thread != NULL && event->time_ns < thread->time_ns)
        rules_breach(rules, 7, event, "time goes back in thread %" PRIu64 ", from %" PRIu64,
                     trace_thread_of(rules->names, event->thread_id)->number, thread->time_ns);
    else if (event->time_ns < rules->time_ns)
        rules_breach(rules, 7, event, "time goes back from %" PRIu64, rules->time_ns);
    if (thread != NULL)
        thread->time_ns = event->time_ns;
    rules->time_ns = event->time_ns;
}

/* ---- rules 3 to 5: names, objects, threads ---- */

static bool load_class(struct check_rules *rules, uint32_t class_id)
{
    uint8_t *loaded = id_table_get(&rules->classes, class_id);
    if (loaded != NULL)
        *loaded = 1;
    return loaded != NULL;
}

static void check_class(struct check_rules *rules, const struct trace_event *event,
                        uint32_t class_id)
{
    const uint8_t *loaded = id_table_find(&rules->classes, class_id);
    if (class_id == 0)
        rules_breach(rules, 3, event, "%s of object %" PRIu64 " whose class is not known",
                     kind_name(event), event->object);
    else if (loaded == NULL || *loaded == 0)
        rules_breach(rules, 3, event, "%s names class " NAME_FORMAT " before its CL",
                     kind_name(event), NAME(trace_class_of(rules->names, class_id)->name));
}

static bool check_alloc(struct check_rules *rules, const struct trace_event *event)
{
    bool is_new;
    check_class(rules, event, event->class_id);
    if (event->object == 0) {
        rules_breach(rules, 4, event, "OA of object 0");
        return true;
    }
    if (!id_set_add(&rules->allocated, event->object, &is_new))
        return false;
    if (!is_new)
        rules_breach(rules, 4, event, "a second OA of object %" PRIu64, event->object);
    return true;
}

/* The source knows the births of what lives: then `allocated` need not be asked. */
static bool check_free(struct check_rules *rules, const struct trace_event *event)
{
    bool is_new, is_live = (event->flags & TRACE_BORN_KNOWN) != 0;
    check_class(rules, event, event->class_id);
    if (event->object == 0 || (!is_live && !id_set_has(&rules->allocated, event->object))) {
        rules_breach(rules, 3, event, "OF of object %" PRIu64 " before its OA", event->object);
        return true;
    }
    if (!id_set_add(&rules->freed, event->object, &is_new))
        return false;
    if (!is_new)
        rules_breach(rules, 5, event, "a second OF of object %" PRIu64, event->object);
    else if (!is_live)
        return true;
    else if (event->time_ns < event->born_ns)
        rules_breach(rules, 5, event,
                     "OF of object %" PRIu64 " is earlier than its OA (%" PRIu64 ")", event->object,
                     event->born_ns);
    else if ((event->flags & TRACE_BORN_CLASS) == 0)
        rules_breach(rules, 5, event, "OF of object %" PRIu64 " has another class than its OA",
                     event->object);
    return true;
}

static void start_thread(struct check_rules *rules, const struct trace_event *event,
                         struct check_thread *thread)
{
    if (thread->state != THREAD_UNSEEN)
        rules_breach(rules, 4, event, "a second TB of thread %" PRIu64,
                     trace_thread_of(rules->names, event->thread_id)->number);
    else
        thread->state = THREAD_STARTED;
}

static void check_thread(struct check_rules *rules, const struct trace_event *event,
                         struct check_thread *thread)
{
    if (event->kind == EVENT_THREAD_BEGIN) {
        start_thread(rules, event, thread);
        return;
    }
    if (thread->state == THREAD_ENDED)
        rules_breach(rules, 7, event, "%s of thread %" PRIu64 " after its TE", kind_name(event),
                     trace_thread_of(rules->names, event->thread_id)->number);
    else if (thread->state == THREAD_UNSEEN && !thread->was_named)
        rules_breach(rules, 3, event, "%s of thread %" PRIu64 " before its TB", kind_name(event),
                     trace_thread_of(rules->names, event->thread_id)->number);
    thread->was_named = thread->state == THREAD_UNSEEN;
    if (event->kind == EVENT_THREAD_END)
        thread->state = THREAD_ENDED;
}

/* ---- rules 6 and 8: calls ---- */

static bool is_constructor(const struct trace_method *method)
{
    return method->name.length == 6 && memcmp(method->name.data, "<init>", 6) == 0;
}

static void breach_of_receiver(struct check_rules *rules, const struct trace_event *event)
{
    rules_breach(rules, 8, event, "MN of instance method " NAME_FORMAT " carries no object",
                 NAME(trace_method_of(rules->names, event->method_id)->name));
}

/* In a truncated trace, a constructor that is open may be the first to name its object, and the end
 * of the call decides whether that is a breach.  The frame's `site` marks such a call, and its
 * `inner_ns` stores the number of the event. */
static bool is_judged_later(const struct check_rules *rules, const struct trace_event *event)
{
    return rules->is_cut && event->thread_id != 0 &&
           is_constructor(trace_method_of(rules->names, event->method_id));
}

static void check_receiver(struct check_rules *rules, const struct trace_event *event)
{
    const struct trace_method *method = trace_method_of(rules->names, event->method_id);
    bool is_static =
        method->descriptor.length > 0 && (method->modifiers & TRACE_METHOD_STATIC) != 0;
    bool is_instance = is_constructor(method) || (method->descriptor.length > 0 && !is_static);
    if (is_static && event->object != 0)
        rules_breach(rules, 8, event, "MN of static method " NAME_FORMAT " carries object %" PRIu64,
                     NAME(method->name), event->object);
    if (is_instance && event->object == 0 && rules->names_objects && !is_judged_later(rules, event))
        breach_of_receiver(rules, event);
    if (event->object == 0)
        return;
    if (!id_set_has(&rules->allocated, event->object))
        rules_breach(rules, 3, event, "MN names object %" PRIu64 " before its OA", event->object);
    else if (id_set_has(&rules->freed, event->object))
        rules_breach(rules, 5, event, "MN names object %" PRIu64 " after its OF", event->object);
}

static bool open_call(struct check_rules *rules, const struct trace_event *event,
                      struct check_thread *thread)
{
    bool waits = rules->names_objects && event->object == 0 && is_judged_later(rules, event);
    const struct call_frame frame = {.method_id = event->method_id,
                                     .site = waits,
                                     .entered_ns = event->time_ns,
                                     .inner_ns = rules->event_count};
    return call_stack_push(&thread->calls, &frame);
}

/* Judges the calls from `depth` on, which have ended. */
static void judge_receivers(struct check_rules *rules, const struct call_stack *calls, size_t depth)
{
    uint64_t number = rules->event_count;
    for (size_t i = depth; i < calls->depth; i++) {
        const struct call_frame *frame = &calls->frames[i];
        if (frame->site == 0)
            continue;
        rules->event_count = frame->inner_ns;
        breach_of_receiver(rules, &(struct trace_event){.method_id = frame->method_id,
                                                        .time_ns = frame->entered_ns});
    }
    rules->event_count = number;
}

static void check_rules_close_calls(struct check_rules *rules, struct call_stack *calls,
                                    size_t depth)
{
    judge_receivers(rules, calls, depth);
    call_stack_cut(calls, depth);
}

static bool check_call(struct check_rules *rules, const struct trace_event *event,
                       struct check_thread *thread)
{
    const struct trace_method *method = trace_method_of(rules->names, event->method_id);
    check_class(rules, event, method->class_id);
    if (event->kind == EVENT_METHOD_ENTRY) {
        check_receiver(rules, event);
        return thread == NULL || open_call(rules, event, thread);
    }
    if (thread == NULL)
        return true;
    size_t depth = call_stack_find(&thread->calls, event->method_id);
    if (depth == 0)
        rules_breach(rules, 6, event, "%s of " NAME_FORMAT " that was not entered",
                     kind_name(event), NAME(method->name));
    else if (depth < thread->calls.depth)
        rules_breach(rules, 6, event, "%s of " NAME_FORMAT " while %zu calls made by it are open",
                     kind_name(event), NAME(method->name), thread->calls.depth - depth);
    if (depth != 0)
        check_rules_close_calls(rules, &thread->calls, depth - 1);
    return true;
}

bool check_rules_put(struct check_rules *rules, const struct trace_event *event)
{
    struct check_thread *thread = NULL;
    rules->event_count++;
    if (event->thread_id != 0) {
        thread = id_table_get(&rules->threads, event->thread_id);
        if (thread == NULL)
            return false;
    }
    check_place(rules, event);
    check_time(rules, event, thread);
    if (thread != NULL)
        check_thread(rules, event, thread);
    switch (event->kind) {
    case EVENT_CLASS_LOAD:
        return load_class(rules, event->class_id);
    case EVENT_OBJECT_ALLOC:
        return check_alloc(rules, event);
    case EVENT_OBJECT_FREE:
        return check_free(rules, event);
    case EVENT_METHOD_ENTRY:
    case EVENT_METHOD_EXIT:
    case EVENT_METHOD_POP:
        return check_call(rules, event, thread);
    default:
        return true;
    }
}

static uint64_t count_waiting(const struct call_stack *calls)
{
    uint64_t count = 0;
    for (size_t i = 0; i < calls->depth; i++)
        count += calls->frames[i].site;
    return count;
}

/* The end of a thread also ends its open calls. */
static void finish_thread(struct check_rules *rules, struct check_thread *thread)
{
    if (thread->state == THREAD_ENDED)
        check_rules_close_calls(rules, &thread->calls, 0);
    else
        rules->unknown_objects += count_waiting(&thread->calls);
}

void check_rules_finish(struct check_rules *rules)
{
    struct check_thread *thread;
    for (uint32_t i = 0; rules->is_cut && (thread = id_table_next(&rules->threads, &i)) != NULL;
         i++)
        finish_thread(rules, thread);
    rules->event_count++;
    if (rules->is_cut)
        return;
    if (rules->event_count == 1)
        rules_breach(rules, 1, NULL, "the trace has no events");
    else if ((rules->seen_kinds & TRACE_KIND_BIT(EVENT_VM_DEATH)) == 0)
        rules_breach(rules, 1, NULL, "the trace ends without VD");
}
