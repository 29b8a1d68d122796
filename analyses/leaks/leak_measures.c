/* SPDX-License-Identifier: Apache-2.0 */
/* Survivors and their growth as measures, for gates. */
#include "analyses/leaks/leak_rows.h"

#include <math.h>
#include <stdlib.h>

#include "converter/statistics/lasting_names.h"

static void measure_row(struct measures *measures, enum measure_axis axis, uint32_t number,
                        const struct leak_row *row)
{
    uint64_t *sums = measures_sums(measures, axis, number, measures->run_count);
    double *variances = measures_variances(measures, axis, number, measures->run_count);
    bool is_sampled = row->old_samples.samples > 0;
    sums[SUM_LEAKED_BYTES] += row->old.bytes;
    sums[SUM_LEAKED_OBJECTS] += row->old.objects;
    if (is_sampled ? row->rank > 0 : row->slope > 0)
        sums[SUM_GROWTH_BYTES] += (uint64_t) llround(row->slope);
    if (!is_sampled || variances == NULL)
        return;
    variances[SUM_LEAKED_BYTES] += row->old_samples.bytes_variance;
    variances[SUM_LEAKED_OBJECTS] += row->old_samples.objects_variance;
    if (row->rank > 0)
        variances[SUM_GROWTH_BYTES] +=
            row->trend.more.bytes_variance + row->trend.fewer.bytes_variance;
}

/* Adds the rows of the axes `axes` to the sums of `axis`. */
static bool measure_axis(const struct leak_tracker *tracker, const struct leak_limits *limits,
                         struct suppressions *suppressions, const uint32_t *site_rows,
                         enum measure_axis axis, unsigned axes, struct measures *measures,
                         struct sample_sums *samples)
{
    struct leak_rows rows;
    bool ok = leak_rows_make(tracker, limits, axes, suppressions, &rows);
    for (size_t i = 0; ok && i < rows.count; i++) {
        const struct heap_key *key = &rows.rows[i].key;
        uint32_t number = axis == AXIS_SITE ? site_rows[key->site] : 1;
        if (axis == AXIS_CLASS)
            number = measure_class_row(measures, tracker->heap.sites.names, key->class_id);
        ok = number != 0;
        if (ok)
            measure_row(measures, axis, number, &rows.rows[i]);
    }
    *samples = rows.all_samples;
    leak_rows_reset(&rows);
    return ok;
}

/* In so few collections nothing can have survived as many, whatever the program keeps. */
static void note_too_few(const struct leak_tracker *tracker, const struct leak_limits *limits,
                         struct measures *measures)
{
    if (tracker->sample_count < LEAK_LINE_LEAST)
        measures->lacks_sums |= 1u << SUM_GROWTH_BYTES;
    if (tracker->time_count < limits->survived)
        measures->lacks_sums |= 1u << SUM_LEAKED_BYTES | 1u << SUM_LEAKED_OBJECTS;
}

bool leak_rows_measure(const struct leak_tracker *tracker, const struct leak_limits *limits,
                       struct suppressions *suppressions, enum measure_side side,
                       struct measures *measures)
{
    uint32_t *site_rows = measure_sites(measures, &tracker->heap.sites);
    uint64_t interval_bytes = tracker->heap.samples.weights.interval_bytes;
    struct sample_sums samples = {.samples = 0};
    bool ok = site_rows != NULL && (interval_bytes == 0 || measures_expect_estimates(measures)) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_PROGRAM,
                           HEAP_BY_CLASS | HEAP_BY_SITE, measures, &samples) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_CLASS, HEAP_BY_CLASS,
                           measures, &samples) &&
              measure_axis(tracker, limits, suppressions, site_rows, AXIS_SITE, HEAP_BY_SITE,
                           measures, &samples);
    free(site_rows);
    if (tracker->heap.deaths.are_missing)
        measures->lacks_kinds |= TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    note_too_few(tracker, limits, measures);
    measures->lacks_sizes |= tracker->heap.lacks_sizes;
    if (ok)
        measures->runs[measures->run_count++] = (struct measure_run){
            .side = side,
            .samples = samples.samples,
            .sampling = tracker->heap.samples.weights.sampling,
            .widest_interval_bytes = sample_sums_interval(&samples, (double) interval_bytes)};
    return ok;
}
