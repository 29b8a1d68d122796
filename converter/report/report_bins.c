/* SPDX-License-Identifier: Apache-2.0 */
/* The tracker's running sums at the ends of bins, as differences. */
#include "converter/report/report_bins.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"

#define FIRST_STEP_NS UINT64_C(1000)

void report_bins_init(struct report_bins *bins)
{
    *bins = (struct report_bins){.step_ns = FIRST_STEP_NS};
}

void report_bins_reset(struct report_bins *bins)
{
    for (size_t i = 0; i < bins->count; i++)
        free(bins->bins[i].changes);
    free(bins->before);
    bins->count = 0;
    bins->before = NULL;
}

/* ---- two bins become one ---- */

static bool merge(struct report_bin *a, struct report_bin *b, struct report_bin *out)
{
    size_t i = 0, k = 0;
    out->count = 0;
    out->changes = malloc((a->count + b->count + 1) * sizeof *out->changes);
    if (out->changes == NULL)
        return false;
    while (i < a->count || k < b->count) {
        bool has_a = i < a->count && (k == b->count || a->changes[i].cell <= b->changes[k].cell);
        bool has_b = k < b->count && (i == a->count || b->changes[k].cell <= a->changes[i].cell);
        struct bin_change *to = &out->changes[out->count++];
        *to = has_a ? a->changes[i] : b->changes[k];
        if (has_a && has_b) {
            to->objects += b->changes[k].objects;
            to->bytes += b->changes[k].bytes;
            to->dead_objects += b->changes[k].dead_objects;
            to->dead_bytes += b->changes[k].dead_bytes;
        }
        i += has_a;
        k += has_b;
    }
    return true;
}

static bool fold(struct report_bins *bins)
{
    for (size_t i = 0; i < REPORT_BINS / 2; i++) {
        struct report_bin both, *first = &bins->bins[2 * i], *second = first + 1;
        if (!merge(first, second, &both))
            return false;
        free(first->changes);
        free(second->changes);
        *first = *second = (struct report_bin){.changes = NULL};
        bins->bins[i] = both;
    }
    bins->count = REPORT_BINS / 2;
    bins->step_ns *= 2;
    return true;
}

/* ---- the end of a bin ---- */

static bool make_room(struct report_bins *bins, size_t count)
{
    if (count <= bins->before_count)
        return true;
    struct bin_change *before = realloc(bins->before, count * sizeof *before);
    if (before == NULL)
        return false;
    memset(before + bins->before_count, 0, (count - bins->before_count) * sizeof *before);
    bins->before = before;
    bins->before_count = count;
    return true;
}

/* What a cell's sums come to. */
static struct bin_change totals_of(uint32_t cell, const struct heap_sums *now)
{
    return (struct bin_change){cell, now->allocated_objects, now->allocated_bytes,
                               now->allocated_objects - now->objects,
                               now->allocated_bytes - now->bytes};
}

static bool has_changed(const struct bin_change *totals, const struct bin_change *before)
{
    return totals->objects != before->objects || totals->dead_objects != before->dead_objects;
}

static bool close_bin(struct report_bins *bins, const struct heap_tracker *tracker)
{
    const struct heap_cells *cells = &tracker->cells;
    struct report_bin *bin = &bins->bins[bins->count];
    size_t changed = 0;
    if (!make_room(bins, cells->count))
        return false;
    for (size_t i = 0; i < cells->count; i++) {
        struct bin_change totals = totals_of((uint32_t) i, &cells->items[i].now);
        changed += has_changed(&totals, &bins->before[i]);
    }
    *bin = (struct report_bin){.changes = malloc((changed + 1) * sizeof *bin->changes)};
    if (bin->changes == NULL)
        return false;
    bins->count++;
    for (size_t i = 0; i < cells->count && changed > 0; i++) {
        struct bin_change *before = &bins->before[i];
        struct bin_change totals = totals_of((uint32_t) i, &cells->items[i].now);
        if (!has_changed(&totals, before))
            continue;
        bin->changes[bin->count++] = (struct bin_change){
            (uint32_t) i, totals.objects - before->objects, totals.bytes - before->bytes,
            totals.dead_objects - before->dead_objects, totals.dead_bytes - before->dead_bytes};
        *before = totals;
    }
    return true;
}

static bool advance(struct report_bins *bins, const struct heap_tracker *tracker, uint64_t time_ns)
{
    while (time_ns >= bins->end_ns && bins->end_ns != UINT64_MAX) {
        if (!close_bin(bins, tracker) || (bins->count == REPORT_BINS && !fold(bins)))
            return false;
        uint64_t length;
        if (__builtin_mul_overflow(bins->count + 1, bins->step_ns, &length) ||
            __builtin_add_overflow(bins->start_ns, length, &bins->end_ns))
            bins->end_ns = UINT64_MAX;
    }
    return true;
}

enum step_status report_bins_put(struct report_bins *bins, struct heap_tracker *tracker,
                                 const struct trace_event *events, size_t count,
                                 struct step_error *error)
{
    size_t first = 0;
    enum step_status status = STEP_STATUS_OK;
    if (count > 0 && !bins->has_begun) {
        bins->has_begun = true;
        bins->start_ns = events[0].time_ns;
        bins->end_ns = bins->start_ns + bins->step_ns;
    }
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        if (events[i].time_ns < bins->end_ns || bins->end_ns == UINT64_MAX)
            continue;
        status = heap_tracker_put(tracker, events + first, i - first, error);
        first = i;
        if (status == STEP_STATUS_OK && !advance(bins, tracker, events[i].time_ns))
            status = no_memory(error);
    }
    if (status == STEP_STATUS_OK)
        status = heap_tracker_put(tracker, events + first, count - first, error);
    return status;
}

bool report_bins_finish(struct report_bins *bins, const struct heap_tracker *tracker)
{
    return close_bin(bins, tracker);
}
