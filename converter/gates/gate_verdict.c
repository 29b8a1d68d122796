/* SPDX-License-Identifier: Apache-2.0 */
/* Rows added up, compared with a limit, and which of them had most part in it. */
#include "converter/gates/gate_verdict.h"

#include <math.h>
#include <string.h>

/* The rows of one run: their sums, added up. */
struct totals {
    uint64_t sums[MEASURE_RUNS_MOST * SIDE_COUNT][SUM_COUNT];
};

static void add(struct totals *totals, const struct measures *measures, enum measure_axis axis,
                uint32_t row)
{
    for (size_t run = 0; run < measures->run_count; run++) {
        const uint64_t *sums = measures_sums(measures, axis, row, run);
        for (size_t i = 0; i < SUM_COUNT; i++)
            totals->sums[run][i] += sums[i];
    }
}

static struct measured side_of(const struct totals *totals, const struct measures *measures,
                               const struct metric *metric, enum measure_side side)
{
    double values[MEASURE_RUNS_MOST];
    size_t count = 0;
    for (size_t run = 0; run < measures->run_count && count < MEASURE_RUNS_MOST; run++)
        if (measures->runs[run].side == side)
            values[count++] = metric_value(metric, totals->sums[run]);
    return measured_of(values, count);
}

/* Runs of one program differ: a change counts where no run before is like one after. */
static bool overlap(const struct measured *a, const struct measured *b)
{
    return (a->runs > 1 || b->runs > 1) && a->least <= b->most && b->least <= a->most;
}

static void judge_totals(const struct totals *totals, const struct measures *measures,
                         struct gate_verdict *verdict)
{
    const struct gate_rule *rule = verdict->rule;
    verdict->before = side_of(totals, measures, rule->metric, SIDE_BEFORE);
    verdict->after = side_of(totals, measures, rule->metric, SIDE_AFTER);
    verdict->value = verdict->after.median - (rule->is_change ? verdict->before.median : 0);
    verdict->limit = rule->is_percent ? verdict->before.median * rule->limit / 100 : rule->limit;
    bool holds = gate_rule_holds(rule, verdict->value, verdict->limit);
    verdict->is_noise = holds && rule->is_change && overlap(&verdict->before, &verdict->after);
    verdict->fails = holds && !verdict->is_noise;
}

/* ---- who had most part in it ---- */

static double part_of(const struct gate_rule *rule, const struct measures *measures,
                      enum measure_axis axis, uint32_t row)
{
    double after = measures_get(measures, axis, row, rule->metric, SIDE_AFTER).median;
    return rule->is_change
               ? after - measures_get(measures, axis, row, rule->metric, SIDE_BEFORE).median
               : after;
}

static void note_top(struct gate_verdict *verdict, size_t first, const struct gate_top *candidate)
{
    size_t end = first;
    while (end < verdict->top_count)
        end++;
    size_t at = end;
    while (at > first && fabs(verdict->top[at - 1].value) < fabs(candidate->value))
        at--;
    if (at - first >= GATE_TOP)
        return;
    if (end - first == GATE_TOP)
        end--;
    memmove(&verdict->top[at + 1], &verdict->top[at], (end - at) * sizeof verdict->top[0]);
    verdict->top[at] = *candidate;
    verdict->top_count = end + 1;
}

static void find_top(struct gate_verdict *verdict, const struct measures *measures,
                     enum measure_axis axis)
{
    const struct gate_rule *rule = verdict->rule;
    size_t first = verdict->top_count;
    for (uint32_t row = 1; row <= measures_count(measures, axis); row++) {
        if (rule->axis == axis && !gate_rule_names(rule, measures, row))
            continue;
        struct gate_top candidate = {axis, row, part_of(rule, measures, axis, row)};
        if (candidate.value != 0)
            note_top(verdict, first, &candidate);
    }
}

void gate_judge(const struct gate_rule *rule, const struct measures *measures,
                struct gate_verdict *verdict)
{
    static const struct totals nothing;
    struct totals totals = nothing;
    *verdict = (struct gate_verdict){.rule = rule};
    for (uint32_t row = 1; row <= measures_count(measures, rule->axis); row++) {
        if (!gate_rule_names(rule, measures, row))
            continue;
        verdict->matched++;
        if (rule->any)
            totals = nothing;
        add(&totals, measures, rule->axis, row);
        if (!rule->any)
            continue;
        judge_totals(&totals, measures, verdict);
        verdict->row = row;
        if (verdict->fails)
            break;
    }
    if (!rule->any)
        judge_totals(&totals, measures, verdict);
    if (!verdict->fails)
        verdict->row = 0;
    if (!verdict->fails || rule->any)
        return;
    bool is_of_calls = rule->metric->sum >= SUM_CALLS && rule->metric->sum <= SUM_TIME_NS;
    find_top(verdict, measures,
             rule->axis != AXIS_PROGRAM ? rule->axis
             : is_of_calls              ? AXIS_METHOD
                                        : AXIS_CLASS);
    if (rule->axis != AXIS_SITE && rule->axis != AXIS_METHOD && !is_of_calls)
        find_top(verdict, measures, AXIS_SITE);
}
