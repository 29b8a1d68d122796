/* SPDX-License-Identifier: Apache-2.0 */
/* Stores rows by name, and computes medians over runs. */
#include "converter/numbers/measures.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS ((size_t) 64)

const char *const axis_names[AXIS_COUNT] = {"program", "class", "site", "thread", "method"};
const char *const axis_plurals[AXIS_COUNT] = {"programs", "classes", "sites", "threads", "methods"};

bool measures_init(struct measures *measures, size_t run_capacity)
{
    static const struct step_bytes all = {(const uint8_t *) "program", 7};
    *measures = (struct measures){.run_capacity = run_capacity};
    trace_names_init(&measures->copies);
    measures->runs = calloc(run_capacity, sizeof *measures->runs);
    return measures->runs != NULL && measures_row(measures, AXIS_PROGRAM, 0, all) == 1;
}

void measures_reset(struct measures *measures)
{
    for (unsigned i = 0; i < AXIS_COUNT; i++) {
        name_index_reset(&measures->tables[i].index);
        free(measures->tables[i].sums);
    }
    for (size_t i = 0; i < measures->run_count; i++)
        free(measures->runs[i].curve);
    free(measures->runs);
    trace_names_reset(&measures->copies);
    *measures = (struct measures){.runs = NULL};
}

/* Sums of new rows are zeros. */
static bool grow(struct measure_table *table, size_t run_capacity)
{
    size_t capacity = table->capacity == 0 ? FIRST_ROWS : table->capacity * 2;
    size_t row_sums = run_capacity * SUM_COUNT;
    if (capacity > SIZE_MAX / sizeof *table->sums / row_sums)
        return false;
    uint64_t *sums = realloc(table->sums, capacity * row_sums * sizeof *sums);
    if (sums == NULL)
        return false;
    memset(sums + table->capacity * row_sums, 0,
           (capacity - table->capacity) * row_sums * sizeof *sums);
    table->sums = sums;
    table->capacity = capacity;
    return true;
}

static struct step_bytes site_of(const void *frames, uint64_t *row, char room[FRAME_TEXT])
{
    const struct measures *measures = frames;
    struct step_bytes text = measures_text(measures, AXIS_SITE, (uint32_t) *row);
    (void) room;
    *row = measures_parent(measures, (uint32_t) *row);
    return text;
}

static struct step_bytes text_of(const void *table, uint64_t *row, char room[FRAME_TEXT])
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
    return axis == AXIS_SITE ? (struct stack_text){site_of, measures, row, depth}
                             : (struct stack_text){text_of, &measures->tables[axis], row, 0};
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
    struct step_bytes copy;
    bool is_new = false;
    uint32_t row = name_index_put(&table->index, parent, text, &is_new);
    if (!is_new)
        return row;
    if (!trace_names_copy(&measures->copies, text, &copy))
        return 0;
    name_index_set_text(&table->index, row, copy);
    return row < table->capacity || grow(table, measures->run_capacity) ? row : 0;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *) left, b = *(const double *) right;
    return a < b ? -1 : a > b;
}

struct measured measured_of(double *values, size_t count)
{
    if (count == 0)
        return (struct measured){0};
    qsort(values, count, sizeof *values, by_value);
    double median =
        count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
    return (struct measured){count, median, values[0], values[count - 1]};
}

struct measured measures_get(const struct measures *measures, enum measure_axis axis, uint32_t row,
                             const struct metric *metric, enum measure_side side)
{
    double values[MEASURE_RUNS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < measures->run_count && count < MEASURE_RUNS_MOST; i++)
        if (measures->runs[i].side == side)
            values[count++] = metric_value(metric, measures_sums(measures, axis, row, i));
    return measured_of(values, count);
}
