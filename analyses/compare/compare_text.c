/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a comparison as tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/compare/compare_report.h"
#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/amount.h"

/* Prints both values, the change, and what share it is of the first. */
static void print_pair(const struct measured_pair *pair)
{
    double before = measured_value(&pair->before), change = measured_pair_change(pair);
    measured_pair_print(pair, stdout);
    const struct amount percent = amount_real_change(100 * change / before, AMOUNT_PERCENT);
    if (before > 0 && measured_pair_is_known(pair))
        printf("%8s", amount_scaled(&percent).text);
    else
        printf("%8s", change > 0 ? "new" : "");
}

/* ---- the programs ---- */

static void print_runs(const struct compare_report *report, enum measure_side side,
                       const char *title)
{
    for (size_t i = 0; i < report->measures->run_count; i++) {
        const struct measure_run *run = &report->measures->runs[i];
        if (run->side != side)
            continue;
        printf("%-8s ", title);
        print_shown_text(run->path, stdout);
        if (run->program[0] != '\0') {
            printf(" (");
            print_shown_text(run->program, stdout);
            putchar(')');
        }
        if (death_dates_are_exact(&run->deaths))
            printf(", exact deaths");
        if (run->sampling != NULL) {
            printf(", ");
            estimate_print_source(run->samples, run->sampling);
        } else if (report->measures->has_estimates) {
            printf(", with all objects");
        }
        putchar('\n');
        title = "";
    }
}

static void print_spread(const struct measured *measured)
{
    if (measured->runs > 1 && measured_is_known(measured))
        printf("  %s to %s",
               amount_scaled_value(&measured->amount, measured->amount.range.low).text,
               amount_scaled_value(&measured->amount, measured->amount.range.high).text);
}

static void print_ranges(const struct measured_pair *pair)
{
    if (!pair->change.is_estimate) {
        print_spread(&pair->before);
        if (pair->before.runs > 1 && pair->after.runs > 1)
            printf(" ->");
        print_spread(&pair->after);
    } else {
        putchar(' ');
        measured_pair_print_range(pair, stdout);
    }
}

static void print_totals(const struct compare_report *report)
{
    printf("\n%-16s %12s %12s %12s %8s\n", "", "before", "after", "change", "%");
    for (size_t i = 0; i < report->measures->metrics.count; i++) {
        const struct metric *metric = report->measures->metrics.items[i];
        if (metric->group != METRICS_OF_TRACES || !compare_has(report, metric))
            continue;
        struct measured_pair pair = measures_pair(report->measures, AXIS_PROGRAM, 1, metric);
        printf("%-16s ", metric->title);
        print_pair(&pair);
        print_ranges(&pair);
        puts(pair.is_noise && measured_pair_change(&pair) != 0 ? "  ~" : "");
    }
}

/* ---- the tables ---- */

/* Additional columns, by sort metric. */
static const char *const beside[AXIS_COUNT][4] = {
    [AXIS_CLASS] = {"allocated_objects", "alive_at_peak", "alive_at_end", "lifetime"},
    [AXIS_SITE] = {"allocated_objects", "alive_at_peak", "alive_at_end", "lifetime"},
    [AXIS_THREAD] = {"allocated_objects", "alive_at_end", "calls", NULL},
    [AXIS_METHOD] = {"calls", "time", "exceptions", NULL},
};

static void print_beside(const struct compare_report *report, enum measure_axis axis, uint32_t row)
{
    for (size_t i = 0; i < 4 && beside[axis][i] != NULL; i++) {
        const struct metric *metric = metric_by_name(beside[axis][i], strlen(beside[axis][i]));
        if (!measures_have(report->measures, metric))
            continue;
        struct measured_pair pair = measures_pair(report->measures, axis, row, metric);
        if (metric->sum == SUM_LIVED_US)
            printf(" %10s %10s", amount_scaled(&pair.before.amount).text,
                   amount_scaled(&pair.after.amount).text);
        else
            printf(" %12s", amount_scaled(&pair.change).text);
    }
}

#define CHANGE_WIDTH 25

static void print_interval(const struct compare_report *report, const struct measured_pair *pair)
{
    if (report->measures->has_estimates)
        printf(" %-*s", CHANGE_WIDTH, amount_range_of(&pair->change, true).text);
}

static void compare_text_print_head(const struct compare_report *report,
                                    const struct metric *metric, enum measure_axis axis)
{
    printf("\n%12s %12s %12s %8s  ", "before", "after", metric->title, "%");
    if (report->measures->has_estimates)
        printf(" (change, %s)%*s", estimate_level(measures_are_biased(report->measures)),
               CHANGE_WIDTH - 14, "");
    for (size_t i = 0; i < 4 && beside[axis][i] != NULL; i++) {
        const struct metric *other = metric_by_name(beside[axis][i], strlen(beside[axis][i]));
        if (!measures_have(report->measures, other))
            continue;
        if (other->sum == SUM_LIVED_US)
            printf(" %10s %10s", "mean life", "then");
        else
            printf(" %12s", other->title);
    }
    printf("  %s\n", axis_names[axis]);
}

static bool print_table(const struct compare_report *report, enum measure_axis axis)
{
    const struct metric *metric = compare_metric(report, axis);
    struct change_ranking ranking;
    size_t beyond_noise = 0;
    if (!rank_changes(report->measures, axis, metric, report->with_times, report->top, &ranking))
        return false;
    if (ranking.count > 0)
        compare_text_print_head(report, metric, axis);
    for (size_t i = 0; i < ranking.shown; i++) {
        const struct change_row *row = &ranking.rows[i];
        print_pair(&row->pair);
        beyond_noise += !row->pair.is_noise;
        printf(" %c", row->pair.is_noise ? '~' : ' ');
        print_interval(report, &row->pair);
        print_beside(report, axis, row->row);
        printf("  ");
        stack_print(measures_name(report->measures, axis, row->row, report->depth), stdout);
        putchar('\n');
    }
    table_print_rest(ranking.shown, ranking.count, axis_plurals[axis]);
    if (ranking.count == 0)
        printf("\nno change by %s\n", axis_names[axis]);
    else if (report->measures->has_estimates && beyond_noise == 0)
        printf("no difference beyond noise by %s\n", axis_names[axis]);
    free(ranking.rows);
    return true;
}

bool compare_print_text(const struct compare_report *report)
{
    print_runs(report, SIDE_BEFORE, "before");
    print_runs(report, SIDE_AFTER, "after");
    print_totals(report);
    bool ok = true;
    for (unsigned axis = AXIS_CLASS; ok && axis < AXIS_COUNT; axis++)
        if ((report->axes >> axis & 1) != 0)
            ok = print_table(report, (enum measure_axis) axis);
    return ok;
}

/* ---- a comparison as a tree of call sites, the outermost frame first ---- */

struct node {
    uint32_t row, parent;
    double before, after; /* of the site and its children */
    double moved;         /* sum of the absolute changes below it */
};

static int by_parent_then_change(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->moved != b->moved)
        return a->moved > b->moved ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Adds sums of children to their parents, whose rows have lower numbers.  Returns NULL if memory
 * runs out. */
static struct node *make_nodes(const struct compare_report *report, const struct metric *metric)
{
    const struct measures *measures = report->measures;
    size_t count = measures_count(measures, AXIS_SITE);
    struct node *nodes = calloc(count + 1, sizeof *nodes);
    for (uint32_t row = (uint32_t) count; nodes != NULL && row > 0; row--) {
        struct node *node = &nodes[row];
        const struct measured_pair pair = measures_pair(measures, AXIS_SITE, row, metric);
        node->row = row;
        node->parent = measures_parent(measures, row);
        node->before += measured_value(&pair.before);
        node->after += measured_value(&pair.after);
        node->moved += fabs(measured_pair_change(&pair));
        nodes[node->parent].before += node->before;
        nodes[node->parent].after += node->after;
        nodes[node->parent].moved += node->moved;
    }
    return nodes;
}

struct printing {
    const struct compare_report *report;
    const struct metric *metric;
    struct node *nodes; /* sorted by parent */
    size_t count;
    double least;
};

static size_t first_child(const struct printing *printing, uint32_t parent)
{
    size_t low = 0, high = printing->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (printing->nodes[middle].parent < parent)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void print_node(const struct printing *printing, const struct node *node, unsigned depth)
{
    enum amount_unit unit = printing->metric->unit;
    const struct measured_pair pair =
        measured_pair_of((struct measured){.amount = amount_real(node->before, unit)},
                         (struct measured){.amount = amount_real(node->after, unit)});
    measured_pair_print(&pair, stdout);
    printf(" %*s", (int) (2 * depth), "");
    if (node->row == 0)
        printf("all");
    else
        print_shown(measures_text(printing->report->measures, AXIS_SITE, node->row), stdout);
    putchar('\n');
}

#define DEEPEST 256u

/* Prints nodes in depth-first order, without recursion because a trace's stacks may be deep. */
static void print_nodes(const struct printing *printing)
{
    size_t at[DEEPEST + 1];
    uint32_t parents[DEEPEST + 1];
    unsigned depth = 0;
    at[0] = first_child(printing, 0);
    parents[0] = 0;
    for (;;) {
        const struct node *node = &printing->nodes[at[depth]];
        bool is_there = at[depth] < printing->count && node->parent == parents[depth] &&
                        node->moved >= printing->least && node->moved > 0;
        if (!is_there) {
            if (depth-- == 0)
                return;
            at[depth]++;
            continue;
        }
        print_node(printing, node, depth + 1);
        if (depth == DEEPEST) {
            at[depth]++;
            continue;
        }
        depth++;
        parents[depth] = node->row;
        at[depth] = first_child(printing, node->row);
    }
}

bool compare_print_tree(const struct compare_report *report)
{
    const struct metric *metric = compare_metric(report, AXIS_SITE);
    struct node *nodes = make_nodes(report, metric);
    if (nodes == NULL)
        return false;
    size_t count = measures_count(report->measures, AXIS_SITE);
    const struct node all = nodes[0];
    struct printing printing = {.report = report,
                                .metric = metric,
                                .nodes = nodes + 1,
                                .count = count,
                                .least = report->least * all.moved};
    qsort(printing.nodes, count, sizeof *nodes, by_parent_then_change);
    printf("%12s %12s %12s  %s, by site\n", "before", "after", "change", metric->title);
    print_node(&printing, &all, 0);
    if (count > 0)
        print_nodes(&printing);
    free(nodes);
    return true;
}
