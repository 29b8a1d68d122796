/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The converter's event model, which all sources produce and all sinks consume.  Classes, methods
 * and threads are ids in the source's names (names.h).
 */
#ifndef CONVERTER_TRACE_EVENT_H
#define CONVERTER_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/text.h"

/* Event kinds.  The text format has a two-letter name for each (steptrace/text.h). */
#define EVENT_VM_START STEP_TEXT_VS
#define EVENT_VM_INIT STEP_TEXT_VI
#define EVENT_VM_DEATH STEP_TEXT_VD
#define EVENT_CLASS_LOAD STEP_TEXT_CL
#define EVENT_OBJECT_ALLOC STEP_TEXT_OA
#define EVENT_OBJECT_FREE STEP_TEXT_OF
#define EVENT_THREAD_BEGIN STEP_TEXT_TB
#define EVENT_THREAD_END STEP_TEXT_TE
#define EVENT_METHOD_ENTRY STEP_TEXT_MN
#define EVENT_METHOD_EXIT STEP_TEXT_MX
#define EVENT_METHOD_POP STEP_TEXT_FP
#define EVENT_KIND_COUNT STEP_TEXT_KIND_COUNT

enum trace_event_flag {
    TRACE_EXISTING = 1,       /* CL, TB, OA: existed when tracing started */
    TRACE_BORN_KNOWN = 2,     /* OF: the allocation is in the trace; born_ns and size are its own */
    TRACE_BORN_CLASS = 4,     /* OF: class_id is the class of that allocation */
    TRACE_DATED = 8,          /* OF: it became unreachable at time_ns, see collected_ns */
    TRACE_BOUND = 16,         /* with TRACE_DATED: time_ns is a lower bound */
    TRACE_BY_COLLECTION = 32, /* with TRACE_DATED: only the collection is known */
    TRACE_IN_PHASE = 64,      /* in one of the selected phases (event_selection.h) */
    /* What is read besides the selected events, if `follows_calls` (event_selection.h): */
    TRACE_FOLLOWED = 128, /* not selected */
    TRACE_BEFORE = 256    /* before the selected time: time_ns is the start of that time */
};

struct trace_event {
    uint64_t time_ns;
    uint64_t object;  /* OA, OF, MN */
    uint64_t size;    /* OA, OF: bytes; 0: unknown */
    uint64_t born_ns; /* OF with TRACE_BORN_KNOWN: time of the allocation */
    union {
        struct {
            union {
                uint32_t method_id; /* MN, MX, FP */
                uint32_t phase_set; /* OA, of a selection with `names_phases`: event_selection.h */
            };
            uint32_t stack_id; /* OA: innermost frame of the call stack (names.h); 0: unknown.
                                  From TRACE_DERIVED_FRAME on: derived (derived_stacks.h) */
        };
        uint64_t collected_ns; /* OF with TRACE_DATED: time of the collection that found it dead */
    };
    uint32_t class_id;    /* CL, OA, OF; 0: unknown */
    uint32_t thread_id;   /* id in the names; 0: the VM, or unknown */
    uint32_t drawn_bytes; /* OA of engine=sampled: the interval with which it was drawn; 0: that of
                           * the trace */
    uint8_t kind;         /* enum step_text_kind */
    uint8_t padding;      /* OA: bytes after an array's elements, if the agent had layout=yes */
    uint16_t flags;
};

/* Number of the first frame that method events make; frames of the trace have lower ones. */
#define TRACE_DERIVED_FRAME (UINT32_C(1) << 31)

/* Returns the stack of an allocation if it was recorded, else 0: copies have no derived ones. */
static inline uint32_t trace_recorded_stack(const struct trace_event *event)
{
    return event->stack_id < TRACE_DERIVED_FRAME ? event->stack_id : 0;
}

/* Returns whether the event is selected, and not only read to follow calls. */
static inline bool trace_event_is_selected(const struct trace_event *event)
{
    return (event->flags & (TRACE_FOLLOWED | TRACE_BEFORE)) == 0;
}

/* Sets `*first` to the first of the selected events from `*first` on, and returns how many follow
 * it without a gap; 0: there are none. */
static inline size_t trace_next_selected(const struct trace_event *events, size_t count,
                                         size_t *first)
{
    size_t end;
    while (*first < count && !trace_event_is_selected(&events[*first]))
        ++*first;
    for (end = *first; end < count && trace_event_is_selected(&events[end]); end++)
        continue;
    return end - *first;
}

/* Sets of event kinds are bitmaps. */
#define TRACE_KIND_BIT(kind) (UINT32_C(1) << (kind))
#define TRACE_ALL_KINDS (TRACE_KIND_BIT(EVENT_KIND_COUNT) - 1)

#endif
