/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a comparison as a tree of call sites, the outermost frame first. */
#include <math.h>
#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/numbers/compare_report.h"

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
        double before = measures_get(measures, AXIS_SITE, row, metric, SIDE_BEFORE).median;
        double after = measures_get(measures, AXIS_SITE, row, metric, SIDE_AFTER).median;
        node->row = row;
        node->parent = measures_parent(measures, row);
        node->before += before;
        node->after += after;
        node->moved += fabs(after - before);
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
    const struct metric *metric = printing->metric;
    printf("%12s %12s %12s  %*s", metric_quantity(metric, node->before).text,
           metric_quantity(metric, node->after).text,
           metric_change(metric, node->after - node->before).text, (int) (2 * depth), "");
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
