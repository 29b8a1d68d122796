/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of a Java program's live file that are not in the trace yet. */
#include <stdio.h>

#include "converter/watch/watch_feed.h"
#include "steptrace/live.h"

static uint64_t written_of(void *user, uint64_t stream)
{
    const struct watch_feed *feed = user;
    return watch_tail_written(&feed->tail, stream);
}

/* Takes names that the file's dictionaries do not have yet from the live file. */
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
    else if (from->kind == STEP_LIVE_DEFINE_METHOD && from->modifiers != STEP_LIVE_IS_PHASE_NAME)
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

static void visit_pending(void *user, const struct step_live_event *from)
{
    struct watch_feed *feed = user;
    struct trace_event event = {.time_ns = watch_tail_time_ns(&feed->tail, from->ticks),
                                .object = from->object,
                                .size = from->size,
                                .class_id = (uint32_t) from->class_,
                                .method_id = (uint32_t) from->method,
                                .stack_id = (uint32_t) from->stack,
                                .drawn_bytes = java_interval(from->interval),
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
    case STEP_LIVE_FACT:
        feed->model.gave_up |= from->gave_up;
        return;
    default:
        return;
    }
    watch_tail_name_frame(&feed->tail, event.kind != EVENT_OBJECT_FREE ? event.stack_id : 0);
    if (watch_tail_has_names(&feed->tail, &event) || feed->model.filter.everything)
        watch_model_pend(&feed->model, &event);
}

/* ---- phases ---- */

struct peeking_phases {
    struct watch_phases *phases;
    struct watch_tail *tail;
    bool ok;
};

static uint64_t phases_written_of(void *user, uint64_t stream)
{
    const struct peeking_phases *peeking = user;
    return watch_tail_written(peeking->tail, stream);
}

static void take_phase_name(void *user, const struct step_live_entry *from)
{
    struct peeking_phases *peeking = user;
    const struct trace_names *names = &peeking->tail->names;
    struct step_bytes name;
    if (from->kind != STEP_LIVE_DEFINE_METHOD || from->modifiers != STEP_LIVE_IS_PHASE_NAME ||
        from->number == 0 || from->number >= UINT32_MAX)
        return;
    const struct trace_phase_name *known = id_table_find(&names->phases, (uint32_t) from->number);
    if (known != NULL && known->known)
        return;
    peeking->ok =
        peeking->ok && trace_names_copy(&peeking->tail->names, from->name, &name) &&
        watch_phases_name(peeking->phases, &peeking->tail->names, (uint32_t) from->number, name);
}

static void visit_phase(void *user, const struct step_live_event *from)
{
    struct peeking_phases *peeking = user;
    const struct watch_mark mark = {.time_ns = watch_tail_time_ns(peeking->tail, from->ticks),
                                    .name = java_id(from->method),
                                    .begins = (from->object & STEP_LIVE_PHASE_ENDS) == 0};
    if (from->kind == STEP_LIVE_FACT && (from->object & STEP_LIVE_PHASE_OF_PROGRAM) != 0)
        peeking->ok = peeking->ok && watch_phases_mark(peeking->phases, &mark);
}

bool watch_feed_peek_phases(struct watch_feed *feed)
{
    char path[4096];
    struct peeking_phases peeking = {&feed->phases, &feed->tail, true};
    const struct step_live_look look = {.user = &peeking,
                                        .written = phases_written_of,
                                        .visit = visit_phase,
                                        .define = take_phase_name};
    uint64_t dropped;
    int length = snprintf(path, sizeof path, "%s%s", feed->tail.path, STEP_LIVE_SUFFIX);
    watch_phases_begin_marks(&feed->phases);
    if (feed->tail.state == WATCH_RUNNING && length > 0 && (size_t) length < sizeof path)
        step_live_peek(path, &look, &dropped, NULL);
    return peeking.ok;
}

/* ---- events ---- */

void watch_feed_peek(struct watch_feed *feed)
{
    char path[4096];
    const struct step_live_look look = {
        .user = feed, .written = written_of, .visit = visit_pending, .define = take_entry};
    uint64_t dropped;
    int length = snprintf(path, sizeof path, "%s%s", feed->tail.path, STEP_LIVE_SUFFIX);
    if (length > 0 && (size_t) length < sizeof path &&
        step_live_peek(path, &look, &dropped, NULL) == STEP_STATUS_OK)
        feed->tail.dropped = dropped;
}
