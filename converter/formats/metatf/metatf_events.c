/* SPDX-License-Identifier: Apache-2.0 */
/* Fields by kind, then what they refer to. */
#include "converter/formats/metatf/metatf_events.h"

static const uint8_t kinds[] = {
    [STEP_JAVA_METATF_EVENTS_VMSTART] = EVENT_VM_START,
    [STEP_JAVA_METATF_EVENTS_VMINIT] = EVENT_VM_INIT,
    [STEP_JAVA_METATF_EVENTS_VMDEATH] = EVENT_VM_DEATH,
    [STEP_JAVA_METATF_EVENTS_CLASSLOAD] = EVENT_CLASS_LOAD,
    [STEP_JAVA_METATF_EVENTS_THREADSTART] = EVENT_THREAD_BEGIN,
    [STEP_JAVA_METATF_EVENTS_THREADEND] = EVENT_THREAD_END,
    [STEP_JAVA_METATF_EVENTS_ALLOC] = EVENT_OBJECT_ALLOC,
    [STEP_JAVA_METATF_EVENTS_FREE] = EVENT_OBJECT_FREE,
    [STEP_JAVA_METATF_EVENTS_ENTER] = EVENT_METHOD_ENTRY,
    [STEP_JAVA_METATF_EVENTS_LEAVE] = EVENT_METHOD_EXIT,
    [STEP_JAVA_METATF_EVENTS_POP] = EVENT_METHOD_POP,
};

/* What an event refers to, by offset. */
struct references {
    uint64_t class_place, method_place, frame_place;
};

static struct references take_fields(const struct step_java_metatf_event *in,
                                     struct trace_event *event)
{
    struct references refer = {0, 0, 0};
    switch (in->kind) {
    case STEP_JAVA_METATF_EVENTS_CLASSLOAD:
        refer.class_place = in->as.events_classLoad.class_;
        event->flags = (uint8_t) in->as.events_classLoad.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_THREADSTART:
        event->flags = (uint8_t) in->as.events_threadStart.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_ALLOC:
        refer.class_place = in->as.events_alloc.class_;
        refer.frame_place = in->as.events_alloc.frame;
        event->size = in->as.events_alloc.size;
        event->object = in->as.events_alloc.object;
        event->flags = (uint8_t) in->as.events_alloc.flags & TRACE_EXISTING;
        break;
    case STEP_JAVA_METATF_EVENTS_FREE:
        refer.class_place = in->as.events_free.class_;
        event->object = in->as.events_free.object;
        break;
    case STEP_JAVA_METATF_EVENTS_ENTER:
        refer.method_place = in->as.events_enter.method;
        event->object = in->as.events_enter.object;
        break;
    case STEP_JAVA_METATF_EVENTS_LEAVE:
        refer.method_place = in->as.events_leave.method;
        break;
    case STEP_JAVA_METATF_EVENTS_POP:
        refer.method_place = in->as.events_pop.method;
        break;
    default:
        break;
    }
    return refer;
}

bool metatf_event_take(const struct metatf_tables *tables, const struct step_java_metatf_event *in,
                       struct trace_event *event, struct metatf_dangling *dangling)
{
    /* time and thread stand first in each struct of an event */
    const struct step_java_metatf_events_vmStart *common = &in->as.events_vmStart;
    *event = (struct trace_event){.kind = kinds[in->kind], .time_ns = common->time};
    struct references refer = take_fields(in, event);
    return metatf_tables_find(tables, METATF_THREADS, common->thread, &event->thread_id,
                              dangling) &&
           metatf_tables_find(tables, METATF_CLASSES, refer.class_place, &event->class_id,
                              dangling) &&
           metatf_tables_find(tables, METATF_METHODS, refer.method_place, &event->method_id,
                              dangling) &&
           metatf_tables_find(tables, METATF_FRAMES, refer.frame_place, &event->stack_id, dangling);
}
