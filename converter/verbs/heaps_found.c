/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the heaps that were found.  Gates measure them before the report adds up rows, and are
 * evaluated after printing. */
#include "converter/verbs/heaps_found.h"

#include "converter/base/no_memory.h"
#include "converter/base/quantity.h"
#include "converter/formats/input.h"
#include "converter/heap/heap_table.h"
#include "converter/heap/heap_tree.h"
#include "converter/numbers/measure_heap.h"

/* Of two moments, the first is the side before. */
static bool measure(const struct heaps_found *found, struct measures *measures)
{
    const struct heap_asked *asked = found->asked;
    size_t count = asked->gates.count > 0 ? asked->moment_count : 0;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = measure_heap(measures, found->sites, &found->snapshots[i],
                          i + 1 < count ? SIDE_BEFORE : SIDE_AFTER);
    return ok;
}

static bool print_heaps(struct heaps_found *found)
{
    const struct heap_asked *asked = found->asked;
    struct heap_report report = asked->report;
    report.path = found->path;
    report.sites = found->sites;
    report.is_import = found->is_import;
    if (asked->moment_count == 2)
        return heap_print_changes(&report, &found->snapshots[0], &found->snapshots[1]);
    if (asked->ages) {
        heap_print_ages(&report, &found->snapshots[0], &found->ages);
        return true;
    }
    if (report.tree != HEAP_NO_TREE)
        return heap_print_tree(&report, &found->snapshots[0]);
    return heap_print_table(&report, &found->snapshots[0]);
}

static enum step_status check_found(const struct heaps_found *found, struct step_error *error)
{
    bool is_missing = false;
    for (size_t i = 0; i < found->asked->moment_count; i++)
        is_missing |= found->snapshots[i].rows == NULL;
    if (is_missing && found->is_import)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, found->path, STEP_NO_OFFSET,
                              "the file has no such dump");
    if (is_missing)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, found->path, STEP_NO_OFFSET,
                              "the trace has no such moment: it ends at %s and has %llu "
                              "collection%s",
                              quantity_of_ns((double) found->end_ns).text,
                              (unsigned long long) found->collections, plural(found->collections));
    return STEP_STATUS_OK;
}

enum step_status heaps_found_print(struct heaps_found *found, size_t *failed)
{
    const struct gates *gates = &found->asked->gates;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (check_found(found, &error) != STEP_STATUS_OK)
        return report_error(&error);
    struct measures measures;
    bool ok = measures_init(&measures, HEAP_MOMENTS_MOST) && measure(found, &measures) &&
              (gates->is_quiet || print_heaps(found));
    enum step_status status = ok ? STEP_STATUS_OK : no_memory(&error);
    if (ok && gates->count > 0)
        status = gates_judge(gates, "heap", &measures, failed);
    measures_reset(&measures);
    return ok ? status : report_error(&error);
}

void heaps_found_reset(struct heaps_found *found)
{
    for (size_t i = 0; i < HEAP_MOMENTS_MOST; i++)
        heap_snapshot_reset(&found->snapshots[i]);
}
