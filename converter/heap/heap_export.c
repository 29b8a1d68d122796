/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of an export, and its options. */
#include "converter/heap/heap_export.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/arguments.h"

uint64_t heap_export_least_bytes(const struct heap_export *options, uint64_t total_bytes)
{
    if (!options->has_least)
        return 0;
    return options->least_is_percent ? (uint64_t) ((double) total_bytes * options->least / 100)
                                     : (uint64_t) options->least;
}

bool take_heap_moment(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    *fault = "peak, end, gc:N or a time is expected";
    heap->has_moment = true;
    return heap_moment_parse(value, &heap->at);
}

bool take_heap_series(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    heap->every_collection = strcmp(value, "gc") == 0;
    *fault = "gc or a time is expected";
    return heap->every_collection ||
           (take_time(&heap->every_ns, value, fault) && heap->every_ns > 0);
}

bool take_heap_least(void *export_target, const char *value, const char **fault)
{
    struct heap_export *heap = export_target;
    char *end;
    *fault = "bytes or a share are expected, as in 4096 or 0.5%";
    heap->least = strtod(value, &end);
    heap->least_is_percent = strcmp(end, "%") == 0;
    heap->has_least = true;
    return end != value && (*end == '\0' || heap->least_is_percent) && heap->least >= 0 &&
           heap->least < 1e18 && (!heap->least_is_percent || heap->least <= 100);
}
