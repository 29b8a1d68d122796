/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and formats moments. */
#include "converter/trace/heap_moment.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/numbers/quantity.h"

bool heap_moment_parse(const char *text, struct heap_moment *moment)
{
    const char *fault;
    *moment = (struct heap_moment){.kind = HEAP_AT_END};
    if (strcmp(text, "end") == 0)
        return true;
    if (strcmp(text, "peak") == 0) {
        moment->kind = HEAP_AT_PEAK;
        return true;
    }
    if (strncmp(text, "gc:", 3) == 0) {
        moment->kind = HEAP_AT_COLLECTION;
        return take_count(&moment->value, text + 3, &fault) && moment->value > 0;
    }
    moment->kind = HEAP_AT_TIME;
    return take_time(&moment->value, text, &fault);
}

bool take_moment(void *moment_target, const char *value, const char **fault)
{
    *fault = "peak, end, gc:N or a time is expected";
    return heap_moment_parse(value, moment_target);
}

void heap_moment_print(const struct heap_moment *moment, enum time_unit unit, char *out,
                       size_t out_size)
{
    switch (moment->kind) {
    case HEAP_AT_END:
        snprintf(out, out_size, "end");
        break;
    case HEAP_AT_PEAK:
        snprintf(out, out_size, "peak");
        break;
    case HEAP_AT_TIME:
        snprintf(out, out_size, "%s", quantity_of_time((double) moment->value, unit).text);
        break;
    case HEAP_AT_COLLECTION:
        snprintf(out, out_size, "gc:%" PRIu64, moment->value);
        break;
    }
}

enum step_status heap_moment_missing(enum step_status status, const char *path, uint64_t end,
                                     enum time_unit unit, uint64_t collections,
                                     struct step_error *error)
{
    return step_error_set(
        error, status, path, STEP_NO_OFFSET,
        "the trace has no such moment: it ends at %s and has %" PRIu64 " collection%s",
        quantity_of_time((double) end, unit).text, collections, plural(collections));
}
