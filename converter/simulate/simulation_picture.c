/* SPDX-License-Identifier: Apache-2.0 */
/* Draws what each model moved or marked over the sizes of its space. */
#include <math.h>
#include <string.h>

#include "converter/base/svg_chart.h"
#include "converter/simulate/simulation.h"

#define X_STEPS_MOST 8

static struct quantity size_label(double log_size)
{
    return quantity_of_bytes(exp2(log_size));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- the axes ---- */

static void take_size(struct svg_chart *chart, uint64_t size)
{
    double log_size = log2((double) size);
    chart->x_least = log_size < chart->x_least ? log_size : chart->x_least;
    chart->x_most = larger(chart->x_most, log_size);
}

static void take_generations(struct svg_chart *chart, const struct generation_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        take_size(chart, list->items[i].young);
        chart->y_most = larger(chart->y_most, (double) list->items[i].copied);
        chart->y_most = larger(chart->y_most, (double) list->items[i].promoted);
    }
}

static void take_spaces(struct svg_chart *chart, const struct space_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        take_size(chart, list->items[i].heap);
        if (!list->items[i].is_too_small)
            chart->y_most = larger(chart->y_most, (double) list->items[i].kept);
    }
}

static void set_axes(struct svg_chart *chart, const struct simulation *simulation)
{
    chart->x_least = HUGE_VAL;
    chart->x_most = 0;
    chart->y_most = 1;
    take_generations(chart, &simulation->young);
    take_generations(chart, &simulation->regions);
    take_spaces(chart, &simulation->semi_space);
    take_spaces(chart, &simulation->mark_compact);
    chart->y_most *= 1.05;
    if (chart->x_most <= chart->x_least) { /* one size */
        chart->x_least -= 1;
        chart->x_most += 1;
    }
    double doublings = ceil(chart->x_most - chart->x_least);
    chart->x_steps = (size_t) (doublings < X_STEPS_MOST ? larger(doublings, 1) : X_STEPS_MOST);
}

/* ---- the curves ---- */

static void draw_generations(struct svg_chart *chart, const struct generation_list *list,
                             const char *promoted, const char *copied)
{
    if (list->count == 0)
        return;
    svg_chart_begin_curve(chart, false);
    for (size_t i = 0; i < list->count; i++)
        svg_chart_point(chart, log2((double) list->items[i].young),
                        (double) list->items[i].promoted);
    svg_chart_end_curve(chart, promoted, false);
    svg_chart_begin_curve(chart, false);
    for (size_t i = 0; i < list->count; i++)
        svg_chart_point(chart, log2((double) list->items[i].young), (double) list->items[i].copied);
    svg_chart_end_curve(chart, copied, false);
}

static void draw_spaces(struct svg_chart *chart, const struct space_list *list, const char *name)
{
    if (list->count == 0)
        return;
    svg_chart_begin_curve(chart, false);
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].is_too_small)
            svg_chart_point(chart, log2((double) list->items[i].heap),
                            (double) list->items[i].kept);
    svg_chart_end_curve(chart, name, false);
}

bool simulation_print_picture(const void *simulation_pointer, FILE *out)
{
    const struct simulation *simulation = simulation_pointer;
    const char *slash = strrchr(simulation->path, '/');
    struct svg_chart chart = {.out = out,
                              .title = simulation_precision(simulation) == SIMULATION_EXACT
                                           ? "Bytes moved or marked by collectors"
                                           : "Bytes moved or marked by collectors (estimates)",
                              .subject = slash != NULL ? slash + 1 : simulation->path,
                              .x_name = "size of the young generation, or of the heap",
                              .x_label = size_label};
    set_axes(&chart, simulation);
    svg_chart_begin(&chart);
    draw_generations(&chart, &simulation->young, "promoted", "copied");
    draw_generations(&chart, &simulation->regions, "promoted, regions", "copied, regions");
    draw_spaces(&chart, &simulation->semi_space, "semi-space");
    draw_spaces(&chart, &simulation->mark_compact, "mark-compact");
    svg_chart_end(&chart);
    return true;
}
