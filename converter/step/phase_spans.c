/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs the records of begins and ends of phases. */
#include "converter/step/phase_spans.h"

#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/numbers/trace_ticks.h"
#include "format/core/grow.h"

enum step_status phase_spans_open(struct phase_spans *spans, const struct java_records *java,
                                  struct step_error *error)
{
    const char *names[] = {step_java_trace_definition.records[STEP_JAVA_PHASE].name};
    *spans = (struct phase_spans){.java = java};
    id_table_init(&spans->threads, sizeof(struct open_spans));
    if (java_record_of(java, STEP_JAVA_PHASE) == STEP_NO_RECORD)
        return STEP_STATUS_OK;
    enum step_status status = step_selection_create(step_reader_borrow_definition(java->reader),
                                                    names, 1, true, &spans->selection, error);
    return status == STEP_STATUS_OK
               ? step_records_create(java->reader, spans->selection, &spans->records, error)
               : status;
}

void phase_spans_reset(struct phase_spans *spans)
{
    for (uint32_t id = 0; id_table_next(&spans->threads, &id); id++)
        free(((struct open_spans *) id_table_find(&spans->threads, id))->items);
    id_table_reset(&spans->threads);
    free(spans->program.items);
    step_records_destroy(spans->records);
    step_selection_destroy(spans->selection);
    *spans = (struct phase_spans){0};
}

static bool phase_spans_push(struct open_spans *open, const struct open_span *span)
{
    if (!STEP_MAKE_ROOM(open->items, open->capacity, open->count + 1))
        return false;
    open->items[open->count++] = *span;
    return true;
}

/* Removes the phase of that name that began last.  Returns false if there is none: its begin was
 * lost. */
static bool phase_spans_take(struct open_spans *open, uint32_t name, struct open_span *span)
{
    size_t at = open->count;
    while (at > 0 && open->items[at - 1].name != name)
        at--;
    if (at == 0)
        return false;
    *span = open->items[at - 1];
    for (; at < open->count; at++)
        open->items[at - 1] = open->items[at];
    open->count--;
    return true;
}

static struct trace_phase phase_of(const struct phase_spans *spans, const struct open_span *span,
                                   bool of_program)
{
    struct step_java_phase_name entry;
    bool is_known = step_java_phase_name_look_up(&spans->java->binding, spans->java->reader,
                                                 span->name, &entry);
    return (struct trace_phase){.name = is_known ? entry.name : step_text("?"),
                                .number = span->name,
                                .thread_id = span->thread_id,
                                .depth = span->depth,
                                .of_program = of_program,
                                .begin_ns = span->begin_ns,
                                .end_ns = UINT64_MAX};
}

/* Sets `*phase` and returns FOUND if the record ends one. */
enum taken { FOUND, PASSED, FAILED };

static enum taken phase_spans_take_record(struct phase_spans *spans,
                                          const struct step_record_view *view,
                                          struct trace_phase *phase)
{
    const struct java_records *java = spans->java;
    struct step_java_phase mark;
    struct open_span span;
    if (!step_java_phase_get(&java->binding, view, &mark))
        return PASSED;
    bool of_program = mark.scope != 0;
    uint64_t time_ns = trace_ticks_ns(mark.time, java->resolution_ns);
    struct open_spans *open =
        of_program ? &spans->program : id_table_get(&spans->threads, java_id(mark.thread));
    if (open == NULL)
        return FAILED;
    if ((java_kind_of(java, view->record)->traits & JAVA_ENDS_PHASE) == 0) {
        span = (struct open_span){java_id(mark.name), java_id(mark.thread), mark.depth, time_ns};
        return phase_spans_push(open, &span) ? PASSED : FAILED;
    }
    if (!phase_spans_take(open, java_id(mark.name), &span))
        return PASSED;
    *phase = phase_of(spans, &span, of_program);
    phase->end_ns = time_ns;
    return FOUND;
}

/* Returns the next phase that is open at the end of the trace. */
static enum step_status take_open(struct phase_spans *spans, struct trace_phase *phase)
{
    if (spans->program.count > 0) {
        *phase = phase_of(spans, &spans->program.items[--spans->program.count], true);
        return STEP_STATUS_OK;
    }
    for (; id_table_next(&spans->threads, &spans->next_thread); spans->next_thread++) {
        struct open_spans *open = id_table_find(&spans->threads, spans->next_thread);
        if (open->count == 0)
            continue;
        *phase = phase_of(spans, &open->items[--open->count], false);
        return STEP_STATUS_OK;
    }
    return STEP_STATUS_END;
}

enum step_status phase_spans_next(struct phase_spans *spans, struct trace_phase *phase,
                                  struct step_error *error)
{
    struct step_record_view view;
    while (spans->records != NULL && !spans->at_end) {
        enum step_status status = step_records_next(spans->records, &view, error);
        spans->at_end = status == STEP_STATUS_END;
        if (status != STEP_STATUS_OK && !spans->at_end)
            return status;
        enum taken taken = spans->at_end ? PASSED : phase_spans_take_record(spans, &view, phase);
        if (taken == FAILED)
            return no_memory(error);
        if (taken == FOUND)
            return STEP_STATUS_OK;
    }
    return take_open(spans, phase);
}
