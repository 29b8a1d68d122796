/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates the rules of gates, and reports the results as text and as verdicts. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/files/trace_gap.h"
#include "converter/formats/input.h"
#include "converter/statistics/gate_rule.h"
#include "converter/statistics/measured.h"
#include "converter/verdicts/verdict.h"

/* ---- evaluation of rules: rows are added up and compared with a limit, and the largest
 * contributors are found ---- */

#define GATE_TOP 3u /* number of contributors reported */

struct gate_top {
    enum measure_axis axis;
    uint32_t row;
    double value; /* the change, if the rule limits a change */
};

struct gate_verdict {
    const struct gate_rule *rule;
    bool fails;
    bool is_lost;   /* not judged: what it names, or the selection, matches nothing */
    bool is_none;   /* not judged: what matches has no such value */
    bool is_noise;  /* would fail, but runs vary more, or the interval reaches across the limit */
    size_t matched; /* number of rows */
    uint32_t row;   /* of an `any` rule: the row that is farthest beyond the limit; 0: none */
    size_t failing; /* of an `any` rule: number of rows for which it holds */
    struct measured_pair measured;
    double value; /* compared with the limit: the value, or the change */
    double limit;
    struct gate_top top[2 * GATE_TOP];
    size_t top_count;
};

/* Sums of several rows, by run. */
struct totals {
    uint64_t sums[MEASURE_RUNS_MOST * SIDE_COUNT][SUM_COUNT];
    double variances[MEASURE_RUNS_MOST * SIDE_COUNT][SUM_COUNT];
    size_t rows;
    bool is_one_size;
};

static void gate_report_add(struct totals *totals, const struct measures *measures,
                            enum measure_axis axis, uint32_t row)
{
    totals->is_one_size = totals->rows++ == 0 && measures_row_has_one_size(measures, axis, row);
    for (size_t run = 0; run < measures->run_count; run++) {
        const uint64_t *sums = measures_sums(measures, axis, row, run);
        const double *variances = measures_variances(measures, axis, row, run);
        for (size_t i = 0; i < SUM_COUNT; i++) {
            totals->sums[run][i] += sums[i];
            totals->variances[run][i] += variances != NULL ? variances[i] : 0;
        }
    }
}

static const uint64_t *sums_of_totals(const void *user, size_t run, struct sums_spread *spread)
{
    const struct totals *totals = user;
    *spread = (struct sums_spread){totals->variances[run], totals->is_one_size};
    return totals->sums[run];
}

/* Returns what the value exceeds the limit by.  A share's limit is as uncertain as what it is a
 * share of. */
static struct estimate excess_of(const struct gate_verdict *verdict)
{
    const struct gate_rule *rule = verdict->rule;
    double factor = rule->is_percent ? fmax(0, 1 + rule->limit / 100) : 1;
    double limit = rule->is_percent ? 0 : rule->limit;
    struct estimate before = rule->is_change
                                 ? estimate_times(verdict->measured.before.amount.range, factor)
                                 : estimate_exactly(0);
    struct estimate excess = estimate_difference(verdict->measured.after.amount.range, before);
    return (struct estimate){excess.value - limit, excess.low - limit, excess.high - limit,
                             excess.scale};
}

/* Of an estimate, a rule holds only if it holds for the whole interval. */
static bool holds_surely(const struct gate_rule *rule, struct estimate excess)
{
    return gate_rule_holds(rule, excess.low, 0) && gate_rule_holds(rule, excess.high, 0) &&
           (rule->operator!= GATE_NOT_EQUAL || !estimate_contains(excess, 0));
}

/* Returns a share of what was before; what equals it but for the rounding of a decimal fraction, as
 * of 1.4 %, which no binary one equals, is returned as it is. */
static double share_of(double before, double percent, double change)
{
    double share = before * percent / 100;
    return fabs(share - change) <= 4 * DBL_EPSILON * fabs(share) ? change : share;
}

static bool is_estimate(const struct gate_verdict *verdict)
{
    return verdict->measured.after.amount.is_estimate ||
           (verdict->rule->is_change && verdict->measured.before.amount.is_estimate);
}

static void judge_totals(const struct totals *totals, const struct measures *measures,
                         struct gate_verdict *verdict)
{
    const struct gate_rule *rule = verdict->rule;
    verdict->measured = measured_pair_of(
        measured_of_runs(measures, rule->metric, SIDE_BEFORE, sums_of_totals, totals),
        measured_of_runs(measures, rule->metric, SIDE_AFTER, sums_of_totals, totals));
    verdict->is_none = rule->is_change ? !measured_pair_is_known(&verdict->measured)
                                       : !measured_is_known(&verdict->measured.after);
    if (verdict->is_none)
        return;
    double before = measured_value(&verdict->measured.before);
    verdict->value = measured_value(&verdict->measured.after) - (rule->is_change ? before : 0);
    verdict->limit = rule->is_percent ? share_of(before, rule->limit, verdict->value) : rule->limit;
    bool holds = gate_rule_holds(rule, verdict->value, verdict->limit);
    if (is_estimate(verdict))
        verdict->is_noise = holds && !holds_surely(rule, excess_of(verdict));
    else
        verdict->is_noise = holds && rule->is_change && verdict->measured.is_noise;
    verdict->fails = holds && !verdict->is_noise;
}

/* ---- the largest contributors ---- */

static double part_of(const struct gate_rule *rule, const struct measures *measures,
                      enum measure_axis axis, uint32_t row)
{
    const struct measured_pair pair = measures_pair(measures, axis, row, rule->metric);
    return rule->is_change ? measured_pair_change(&pair) : measured_value(&pair.after);
}

static void note_top(struct gate_verdict *verdict, size_t first, const struct gate_top *candidate)
{
    size_t end = verdict->top_count, at = end;
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

/* Judges each row by itself, and keeps the verdict of the one that is farthest beyond the limit. */
static void judge_any(const struct gate_rule *rule, const struct measures *measures,
                      struct gate_verdict *verdict)
{
    static const struct totals nothing;
    struct totals totals;
    size_t matched = 0, failing = 0;
    double farthest = -1;
    for (uint32_t row = 1; row <= measures_count(measures, rule->axis); row++) {
        if (!gate_rule_names(rule, measures, row))
            continue;
        struct gate_verdict of_row = {.rule = rule, .row = row};
        totals = nothing;
        gate_report_add(&totals, measures, rule->axis, row);
        judge_totals(&totals, measures, &of_row);
        matched++;
        failing += of_row.fails;
        /* a row without a value is passed over, if any other has one */
        if (of_row.is_none && verdict->row != 0)
            continue;
        double beyond = of_row.fails ? fabs(of_row.value - of_row.limit) : -1;
        if (beyond > farthest || (farthest < 0 && !verdict->is_noise) || verdict->is_none)
            *verdict = of_row;
        farthest = fmax(farthest, beyond);
    }
    verdict->matched = matched;
    verdict->failing = failing;
    if (!verdict->fails)
        verdict->row = 0;
}

static void gate_judge(const struct gate_rule *rule, const struct measures *measures,
                       struct gate_verdict *verdict)
{
    static const struct totals nothing;
    struct totals totals = nothing;
    *verdict = (struct gate_verdict){.rule = rule};
    if (rule->any) {
        judge_any(rule, measures, verdict);
        return;
    }
    for (uint32_t row = 1; row <= measures_count(measures, rule->axis); row++) {
        if (!gate_rule_names(rule, measures, row))
            continue;
        verdict->matched++;
        gate_report_add(&totals, measures, rule->axis, row);
    }
    judge_totals(&totals, measures, verdict);
    if (!verdict->fails)
        return;
    bool is_of_calls = rule->metric->sum >= SUM_CALLS && rule->metric->sum <= SUM_TIME_NS;
    find_top(verdict, measures,
             rule->axis != AXIS_PROGRAM ? rule->axis
             : is_of_calls              ? AXIS_METHOD
                                        : AXIS_CLASS);
    if (rule->axis != AXIS_SITE && rule->axis != AXIS_METHOD && !is_of_calls)
        find_top(verdict, measures, AXIS_SITE);
}

#define FRAMES_SHOWN 4u

static void print_measured(const struct measured *measured, FILE *out)
{
    fputs(amount_scaled_value(&measured->amount, measured_value(measured)).text, out);
    measured_print_range(measured, out);
}

/* Returns a value as the rule looks at it: with a sign if it is a change. */
static struct quantity value_text(const struct gate_verdict *verdict, double value)
{
    const struct measured_pair *measured = &verdict->measured;
    return amount_scaled_value(
        verdict->rule->is_change ? &measured->change : &measured->after.amount, value);
}

static void print_value(const struct gate_verdict *verdict, FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    if (!rule->is_change) {
        print_measured(&verdict->measured.after, out);
        return;
    }
    double before = measured_value(&verdict->measured.before);
    fputs(value_text(verdict, verdict->value).text, out);
    const struct amount percent = amount_real_change(100 * verdict->value / before, AMOUNT_PERCENT);
    if (before > 0)
        fprintf(out, " (%s %%)", amount_scaled(&percent).text);
    if (is_estimate(verdict))
        measured_pair_print_range(&verdict->measured, out);
    fputs(", from ", out);
    print_measured(&verdict->measured.before, out);
    fputs(" to ", out);
    print_measured(&verdict->measured.after, out);
}

static void print_limit(const struct gate_verdict *verdict, FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    if (rule->is_percent)
        fprintf(out, "%+.10g %%, which is ", rule->limit);
    fputs(value_text(verdict, verdict->limit).text, out);
}

/* Prints the full value too if value and limit look equal after rounding. */
static void print_exact(const struct gate_verdict *verdict, double value, FILE *out)
{
    enum amount_unit unit = verdict->rule->metric->unit;
    const struct amount *amount = &verdict->measured.after.amount;
    if (verdict->value != verdict->limit &&
        strcmp(amount_scaled_value(amount, fabs(verdict->value)).text,
               amount_scaled_value(amount, fabs(verdict->limit)).text) == 0)
        fprintf(out, " = %.15g%s", value,
                unit == AMOUNT_BYTES ? " bytes"
                : unit == AMOUNT_NS  ? " ns"
                                     : "");
}

static void print_details(const struct gate_verdict *verdict, const struct measures *measures,
                          FILE *out)
{
    const struct gate_rule *rule = verdict->rule;
    fputs("  measured  ", out);
    print_value(verdict, out);
    print_exact(verdict, verdict->value, out);
    fputs("\n  limit     ", out);
    print_limit(verdict, out);
    print_exact(verdict, verdict->limit, out);
    fputc('\n', out);
    if (verdict->row != 0) {
        fprintf(out, "  %-9s ", axis_names[rule->axis]);
        stack_print(measures_name(measures, rule->axis, verdict->row, FRAMES_SHOWN), out);
        fputc('\n', out);
    }
    if (verdict->failing > 1)
        fprintf(out, "  it holds for %zu more, which exceed the limit by less\n",
                verdict->failing - 1);
    for (size_t i = 0; i < verdict->top_count; i++) {
        const struct gate_top *top = &verdict->top[i];
        fprintf(out, "  %-9s %10s  ", axis_names[top->axis], value_text(verdict, top->value).text);
        stack_print(measures_name(measures, top->axis, top->row, FRAMES_SHOWN), out);
        fputc('\n', out);
    }
}

#define NOT_JUDGED "not judged, "
#define REASON_ROOM (sizeof NOT_JUDGED + TRACE_GAP_ROOM)

static const char *why_not_judged(const struct gate_verdict *verdict,
                                  const struct measures *measures)
{
    return measures->lack != NULL  ? measures->lack
           : verdict->matched == 0 ? "no name matches"
           : verdict->is_none      ? "what is measured has no such value"
                                   : "a pattern of the selection matches nothing";
}

static void gate_report_print_verdict(const struct gate_verdict *verdict, const char *verb,
                                      const struct measures *measures)
{
    const struct gate_rule *rule = verdict->rule;
    const char *what = verdict->fails     ? "the gate fails"
                       : verdict->is_lost ? why_not_judged(verdict, measures)
                       : verdict->is_noise && is_estimate(verdict)
                           ? "it holds for the estimate, but not for its whole interval"
                       : verdict->is_noise     ? "within the variation between runs"
                       : verdict->matched == 0 ? "no name matches"
                                               : NULL;
    if (what == NULL)
        return;
    fprintf(stderr, "steptrace %s: %s%s: ", verb, verdict->is_lost ? NOT_JUDGED : "", what);
    print_shown_text(rule->text, stderr);
    if (rule->file != NULL) {
        fputs(" (", stderr);
        print_shown_text(rule->file, stderr);
        fprintf(stderr, ":%zu)", rule->line);
    }
    fputc('\n', stderr);
    if (verdict->fails || verdict->is_noise)
        print_details(verdict, measures, stderr);
}

/* ---- for reviewers ---- */

/* Returns the details as text, or NULL if memory runs out. */
static char *details_text(const struct gate_verdict *verdict, const struct measures *measures)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    print_details(verdict, measures, stream);
    return fclose(stream) == 0 ? text : NULL;
}

/* Returns false if out of memory. */
static bool gate_report_note(const struct gate_verdict *judged, const struct measures *measures,
                             struct verdict_list *list)
{
    const struct gate_rule *rule = judged->rule;
    struct verdict *verdict = verdict_list_add(list);
    if (verdict == NULL)
        return false;
    verdict->state = judged->is_lost ? VERDICT_NOT_JUDGED
                     : judged->fails ? VERDICT_FAILED
                                     : VERDICT_PASSED;
    verdict->kind = rule->metric->name;
    verdict->name = strdup(rule->text);
    verdict->line = rule->line;
    verdict->file = rule->file != NULL ? strdup(rule->file) : NULL;
    char reason[REASON_ROOM];
    snprintf(reason, sizeof reason, NOT_JUDGED "%s", why_not_judged(judged, measures));
    verdict->text = judged->is_lost ? strdup(reason)
                    : judged->fails ? details_text(judged, measures)
                                    : NULL;
    return verdict->name != NULL && (verdict->file != NULL || rule->file == NULL) &&
           (verdict->text != NULL || !verdict_is_shown(verdict));
}

/* For a metric that not all runs have. */
static void gate_report_refuse(const struct gate_rule *rule, const struct measures *measures,
                               struct step_error *error)
{
    const struct metric *metric = rule->metric;
    uint32_t lacks = measures->lacks_kinds & metric->needs;
    bool has_too_few = (measures->lacks_sums >> metric->sum & 1) != 0;
    const char *text = "'%s': a trace of engine=sampled has no estimate of %s";
    if (measures_have(measures, metric))
        text = "'%s': no interval of %s is valid, so the rule is not judged: a JVM sampled with a "
               "bias (docs/engine-sampled.md)";
    else if ((lacks & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0)
        text = "'%s': a trace without allocations (the agent's option events=alloc) has no %s";
    else if ((lacks & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0)
        text = "'%s': a trace without deaths (the agent's option events=free) has no %s";
    else if (lacks != 0)
        text = "'%s': a trace without method events (the agent's option events=method) has no %s";
    else if (measures->lacks_times && metric->unit == AMOUNT_NS)
        text = "'%s': a trace without a clock (resolution=none) has no %s";
    else if (measures->lacks_sizes && metric->unit == AMOUNT_BYTES)
        text = "'%s': a trace of objects without sizes (the text format) has no %s";
    else if (has_too_few && metric->sum == SUM_GROWTH_BYTES)
        text = "'%s': not judged: fewer than three collections show no %s: record longer, or with "
               "-O collect=8m";
    else if (has_too_few)
        text = "'%s': not judged: the trace has fewer collections than %s takes (--survived): "
               "record longer, or with -O collect=8m";
    step_error_set(error, STEP_STATUS_CORRUPT, NULL, STEP_NO_OFFSET, text, rule->text,
                   metric->name);
}

/* A rule whose name is misspelt must not hold for ever.  A trace without names cannot tell. */
static bool is_lost(const struct gate_verdict *verdict, const struct measures *measures)
{
    const struct gate_rule *rule = verdict->rule;
    bool has_names =
        measures->known[AXIS_CLASS].count > 0 || measures->known[AXIS_METHOD].count > 0;
    if (verdict->fails)
        return false;
    if (measures->lack != NULL)
        return true;
    if (verdict->is_noise || gate_rule_is_of_absence(rule))
        return false;
    if (measures->is_unmatched)
        return true;
    return has_names && rule->axis != AXIS_PROGRAM && verdict->matched == 0 &&
           !gate_rule_is_known(rule, measures);
}

enum step_status gates_judge(const struct gates *gates, const char *verb,
                             const struct measures *measures, int *exit_code)
{
    struct gate_verdict *verdicts = calloc(gates->count + 1, sizeof *verdicts);
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct verdict_list list = {.verb = verb};
    bool ok = true;
    for (size_t i = 0; verdicts != NULL && i < gates->count; i++) {
        bool is_biased = measures->has_estimates && measures_are_biased(measures);
        if (measures_have(measures, gates->rules[i].metric) && !is_biased)
            continue;
        free(verdicts);
        gate_report_refuse(&gates->rules[i], measures, &error);
        return report_error(&error);
    }
    if (verdicts == NULL)
        return report_no_memory();
    for (size_t i = 0; i < gates->count; i++) {
        gate_judge(&gates->rules[i], measures, &verdicts[i]);
        verdicts[i].is_lost = is_lost(&verdicts[i], measures) || verdicts[i].is_none;
        gate_report_print_verdict(&verdicts[i], verb, measures);
        ok = gate_report_note(&verdicts[i], measures, &list) && ok;
    }
    bool is_any_lost = verdict_list_count(&list, VERDICT_NOT_JUDGED) > 0;
    if (verdict_list_count(&list, VERDICT_FAILED) > 0)
        *exit_code = GATE_EXIT_CODE;
    enum step_status status = ok ? verdicts_show(&list, &gates->files) : report_no_memory();
    verdict_list_reset(&list);
    free(verdicts);
    return status == STEP_STATUS_OK && is_any_lost ? STEP_STATUS_CORRUPT : status;
}
