/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a STEP trace, from begin to end (docs/phases.md). */
#ifndef CONVERTER_STEP_PHASE_SPANS_H
#define CONVERTER_STEP_PHASE_SPANS_H

#include "converter/containers/id_table.h"
#include "converter/step/java_records.h"
#include "converter/trace/event_source.h"
#include "steptrace/records.h"

struct open_span {
    uint32_t name; /* number in the dictionary */
    uint32_t thread_id;
    uint64_t depth;
    uint64_t begin_ns;
};
struct open_spans {
    struct open_span *items;
    size_t count, capacity;
};

/* Memory is proportional to the open phases and the threads that have had any. */
struct phase_spans {
    const struct java_records *java; /* borrowed */
    struct step_selection *selection;
    struct step_records *records; /* NULL: the trace has no phases */
    struct id_table threads;      /* struct open_spans */
    struct open_spans program;
    bool at_end;
    uint32_t next_thread; /* whose open phases are returned next */
};

/* Opens the phases.  Reset is allowed after a failure. */
enum step_status phase_spans_open(struct phase_spans *spans, const struct java_records *java,
                                  struct step_error *error);
/* Returns the next phase, in the order of their ends, and after them those that are open at the end
 * of the trace; END after the last.  The name lives as long as the reader. */
enum step_status phase_spans_next(struct phase_spans *spans, struct trace_phase *phase,
                                  struct step_error *error);
void phase_spans_reset(struct phase_spans *spans);

#endif
