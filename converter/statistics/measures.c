/* SPDX-License-Identifier: Apache-2.0 */
/* Stores rows by name. */
#include "converter/statistics/measures.h"

#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "format/core/grow.h"

bool measures_init(struct measures *measures, size_t run_capacity)
{
    static const struct step_bytes all = {(const uint8_t *) "program", 7};
    *measures = (struct measures){.run_capacity = run_capacity};
    metric_list_init(&measures->metrics);
    measures->runs = calloc(run_capacity, sizeof *measures->runs);
    return measures->runs != NULL && measures_row(measures, AXIS_PROGRAM, 0, all) == 1;
}

void measures_reset(struct measures *measures)
{
    for (unsigned i = 0; i < AXIS_COUNT; i++) {
        name_index_reset(&measures->tables[i].index);
        name_index_reset(&measures->known[i]);
        free(measures->tables[i].sums);
        free(measures->tables[i].variances);
    }
    for (size_t i = 0; i < measures->run_count; i++)
        free(measures->runs[i].curve);
    free(measures->runs);
    *measures = (struct measures){.runs = NULL};
}

/* Makes room for the sums of all rows.  Returns false if memory runs out. */
static bool measures_make_room(const struct measures *measures, struct measure_table *table)
{
    size_t need = (table->index.count + 1) * measures->run_capacity * SUM_COUNT;
    return STEP_MAKE_ZEROED_ROOM(table->sums, table->sum_capacity, need) &&
           (!measures->has_estimates ||
            STEP_MAKE_ZEROED_ROOM(table->variances, table->variance_capacity, need));
}

void measures_report_mixture(const struct measure_run *first, const struct measure_run *second)
{
    bool is_first = first->sampling != NULL, is_second = second->sampling != NULL;
    if (is_first != is_second)
        report_line("%s has estimates from a sample of the new objects, %s all objects, with those "
                    "that existed before",
                    is_first ? first->path : second->path, is_first ? second->path : first->path);
}

bool measures_expect_estimates(struct measures *measures)
{
    bool ok = true;
    measures->has_estimates = true;
    for (unsigned i = 0; ok && i < AXIS_COUNT; i++)
        ok = measures_make_room(measures, &measures->tables[i]);
    return ok;
}

static struct step_bytes measures_site_of(const void *frames, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measures *measures = frames;
    struct step_bytes text = measures_text(measures, AXIS_SITE, (uint32_t) *row);
    (void) room;
    *row = measures_parent(measures, (uint32_t) *row);
    return text;
}

static struct step_bytes measures_text_of(const void *table, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measure_table *rows = table;
    struct step_bytes text = rows->index.entries[*row].text;
    (void) room;
    *row = 0;
    return text;
}

struct stack_text measures_name(const struct measures *measures, enum measure_axis axis,
                                uint32_t row, uint64_t depth)
{
    return axis == AXIS_SITE
               ? (struct stack_text){measures_site_of, measures, row, depth}
               : (struct stack_text){measures_text_of, &measures->tables[axis], row, 0};
}

void measures_put_name(const struct measures *measures, enum measure_axis axis, uint32_t row,
                       struct json_output *json)
{
    if (axis == AXIS_SITE)
        stack_put_json(measures_name(measures, axis, row, 0), json, axis_names[axis]);
    else
        json_bytes(json, axis_names[axis], measures_text(measures, axis, row));
}

uint32_t measures_row(struct measures *measures, enum measure_axis axis, uint32_t parent,
                      struct step_bytes text)
{
    struct measure_table *table = &measures->tables[axis];
    bool is_new = false;
    uint32_t row = name_index_put(&table->index, parent, text, &is_new);
    if (!is_new)
        return row;
    return measures_make_room(measures, table) ? row : 0;
}

bool measures_row_has_one_size(const struct measures *measures, enum measure_axis axis,
                               uint32_t row)
{
    return axis == AXIS_CLASS && class_has_one_size(measures_text(measures, axis, row));
}

bool measures_are_biased(const struct measures *measures)
{
    bool is_biased = false;
    for (size_t i = 0; i < measures->run_count; i++)
        is_biased |= measure_run_is_biased(&measures->runs[i]);
    return is_biased;
}

/* ---- stacks of different depth ---- */

static uint64_t depth_of(const struct measures *measures, uint32_t row)
{
    uint64_t depth = 0;
    for (; row != 0; row = measures_parent(measures, row))
        depth++;
    return depth;
}

/* Returns the row of the site's innermost `depth` frames, or 0 if memory runs out. */
static uint32_t cut_row(struct measures *measures, uint32_t row, uint64_t depth)
{
    uint32_t parent = measures_parent(measures, row), cut_parent = 0;
    if (parent != 0 && depth > 1) {
        cut_parent = cut_row(measures, parent, depth - 1);
        if (cut_parent == 0)
            return 0;
    }
    return measures_row(measures, AXIS_SITE, cut_parent, measures_text(measures, AXIS_SITE, row));
}

static void move_sums(struct measures *measures, uint32_t from, uint32_t to)
{
    for (size_t run = 0; run < measures->run_count; run++) {
        uint64_t *old = measures_sums(measures, AXIS_SITE, from, run);
        uint64_t *sums = measures_sums(measures, AXIS_SITE, to, run);
        double *old_variances = measures_variances(measures, AXIS_SITE, from, run);
        double *variances = measures_variances(measures, AXIS_SITE, to, run);
        for (size_t i = 0; i < SUM_COUNT; i++) {
            sums[i] += old[i];
            old[i] = 0;
        }
        for (size_t i = 0; variances != NULL && i < SUM_COUNT; i++) {
            variances[i] += old_variances[i];
            old_variances[i] = 0;
        }
    }
}

bool measures_cut_sites(struct measures *measures, uint64_t depth)
{
    size_t count = measures_count(measures, AXIS_SITE);
    for (uint32_t row = 1; row <= count; row++) {
        if (depth_of(measures, row) <= depth)
            continue;
        uint32_t cut = cut_row(measures, row, depth);
        if (cut == 0)
            return false;
        move_sums(measures, row, cut);
    }
    return true;
}
