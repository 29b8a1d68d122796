/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of method events: totals by method, and each call when it ends. */
#ifndef CONVERTER_FORMATS_JFR_JFR_CALLS_H
#define CONVERTER_FORMATS_JFR_JFR_CALLS_H

#include "converter/base/id_table.h"
#include "converter/heap/heap_sites.h"
#include "converter/trace/event.h"

/* Totals of a method.  The time of recursive calls is in `inclusive_ns` once. */
struct jfr_method_calls {
    uint64_t calls, exceptions;
    uint64_t inclusive_ns, exclusive_ns;
    uint64_t minimum_ns, maximum_ns; /* of a call, callees included */
    bool is_counted;                 /* for the caller: the trace has its totals */
};

/* A call that has ended. */
struct jfr_call {
    uint32_t thread_id, method_id;
    uint32_t caller; /* site; 0: none */
    uint64_t begin_ns, end_ns;
};

typedef void (*jfr_call_visit)(void *user, const struct jfr_call *call);

struct jfr_calls {
    struct heap_sites *sites; /* borrowed: gets the callers; NULL: nobody asks for each call */
    jfr_call_visit visit;     /* of each call that has ended; NULL: the same */
    void *user;
    struct id_table threads; /* struct call_stack */
    struct id_table methods; /* struct jfr_method_calls */
    uint64_t last_ns;
};

void jfr_calls_init(struct jfr_calls *calls);
void jfr_calls_reset(struct jfr_calls *calls);
/* Takes an event of any kind.  An exit ends the calls within its own, too; one without an entry is
 * ignored.  Returns false if out of memory. */
bool jfr_calls_put(struct jfr_calls *calls, const struct trace_event *event);
/* Ends the open calls at the time of the last event. */
void jfr_calls_finish(struct jfr_calls *calls);

#endif
