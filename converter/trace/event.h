/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event model of the converter: what every source gives and every sink takes.  Classes, methods
 * and threads are numbers in the source's names (names.h).
 */
#ifndef CONVERTER_TRACE_EVENT_H
#define CONVERTER_TRACE_EVENT_H

#include <stdint.h>

#include "steptrace/text.h"

/* The kinds of events.  The text format has two letters for each: steptrace/text.h. */
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
    TRACE_EXISTING = 1,   /* CL, TB, OA: it was there when tracing started */
    TRACE_BORN_KNOWN = 2, /* OF: the allocation was seen; born_ns and size are its own */
    TRACE_BORN_CLASS = 4, /* OF: class_id is the class of that allocation */
    TRACE_DATED = 8,  /* OF: it became unreachable then; collected_ns is the collection's time */
    TRACE_BOUND = 16, /* with TRACE_DATED: it was reachable until then at least, */
    TRACE_BY_COLLECTION = 32 /* or nothing is known but the collection */
};

struct trace_event {
    uint64_t time_ns;
    uint64_t object;  /* OA, OF, MN */
    uint64_t size;    /* OA, OF: bytes; 0 if not known */
    uint64_t born_ns; /* OF with TRACE_BORN_KNOWN: when it was allocated */
    union {
        struct {
            uint32_t method_id; /* MN, MX, FP */
            uint32_t stack_id;  /* OA: the frame (names.h) that it comes from; 0: not known */
        };
        uint64_t collected_ns; /* OF with TRACE_DATED: when a collection found it dead */
    };
    uint32_t class_id;  /* CL, OA, OF; 0: not known */
    uint32_t thread_id; /* index in the names; 0: the VM, or not known */
    uint8_t kind;       /* enum step_text_kind */
    uint8_t flags;
};

/* A set of kinds as bits. */
#define TRACE_KIND_BIT(kind) (UINT32_C(1) << (kind))
#define TRACE_ALL_KINDS (TRACE_KIND_BIT(EVENT_KIND_COUNT) - 1)

#endif
