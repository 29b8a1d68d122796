/* SPDX-License-Identifier: Apache-2.0 */
/* The table `phases`: one row a phase, when it ends. */
#include "analyses/tables/makers.h"
#include "converter/step/phase_spans.h"

#define PHASES_COLUMNS(X)                                                                          \
    X(PHASES_PHASE, "phase", "", "its name", TABLE_TEXT, false)                                    \
    X(PHASES_PROGRAM, "program", "", "it has the events of all threads", TABLE_BOOL, false)        \
    X(PHASES_THREAD, "thread", "", "that began it", TABLE_UINT, false)                             \
    X(PHASES_DEPTH, "depth", "", "1: outermost", TABLE_UINT, false)                                \
    X(PHASES_STARTED, "started", "ns", "", TABLE_TIME, false)                                      \
    X(PHASES_ENDED, "ended", "ns", "null: it was open at the end", TABLE_TIME, true)               \
    X(PHASES_DURATION, "duration", "ns", "", TABLE_DURATION, true)
enum { PHASES_COLUMNS(COLUMN_NUMBER) };
static const struct java_column columns[] = {PHASES_COLUMNS(MADE_COLUMN)};

struct phase_rows {
    struct table_rows base;
    struct phase_spans spans;
};

static void phase_rows_put(struct row_builder *builder, const struct trace_phase *phase)
{
    bool is_open = phase->end_ns == UINT64_MAX;
    row_put_text(builder, PHASES_PHASE, phase->name);
    row_put_flag(builder, PHASES_PROGRAM, phase->of_program);
    row_put(builder, PHASES_THREAD, phase->thread_id, false);
    row_put(builder, PHASES_DEPTH, phase->depth, false);
    row_put(builder, PHASES_STARTED, phase->begin_ns, false);
    row_put(builder, PHASES_ENDED, phase->end_ns, is_open);
    row_put(builder, PHASES_DURATION, phase->end_ns - phase->begin_ns, is_open);
    row_builder_end_row(builder);
}

static enum step_status phase_rows_step(struct table_rows *base, bool *has_more,
                                        struct step_error *error)
{
    struct phase_rows *self = (struct phase_rows *) base;
    struct trace_phase phase;
    enum step_status status = phase_spans_next(&self->spans, &phase, error);
    *has_more = status != STEP_STATUS_END;
    if (status == STEP_STATUS_OK)
        phase_rows_put(&base->builder, &phase);
    return *has_more ? status : STEP_STATUS_OK;
}

static enum step_status phase_rows_open(struct table_rows *base, struct step_error *error)
{
    struct phase_rows *self = (struct phase_rows *) base;
    return phase_spans_open(&self->spans, &base->tables->java, error);
}

static void phase_rows_reset(struct table_rows *base)
{
    struct phase_rows *self = (struct phase_rows *) base;
    phase_spans_reset(&self->spans);
}

static const struct table_rows_operations rows_of_phases = {.size_bytes = sizeof(struct phase_rows),
                                                            .open = phase_rows_open,
                                                            .step = phase_rows_step,
                                                            .reset = phase_rows_reset};

const struct java_table phases_table =
    MADE_TABLE("phases", "one row per phase", columns, rows_of_phases, false, STEP_JAVA_PHASE_BEGIN,
               "phases (the agent's option phase=CLASS.METHOD)");
