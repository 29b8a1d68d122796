/* SPDX-License-Identifier: Apache-2.0 */
/* Reports faults of a DTD. */
#include "format/metatf/dtd_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void *dtd_zeroed(struct dtd_parse *parse, size_t size)
{
    void *memory = step_arena_zeroed(parse->arena, size);
    parse->out_of_memory = parse->out_of_memory || memory == NULL;
    return memory;
}

static void dtd_tree_find_line(const struct dtd_parse *parse, uint32_t line,
                               struct step_fault *fault)
{
    const char *at = parse->text;
    const char *end = parse->text + parse->text_length;
    while (--line > 0 && at < end) {
        const char *feed = memchr(at, '\n', (size_t) (end - at));
        at = feed != NULL ? feed + 1 : end;
    }
    const char *feed = memchr(at, '\n', (size_t) (end - at));
    fault->text = at;
    fault->text_length = (size_t) ((feed != NULL ? feed : end) - at);
}

void dtd_fault(struct dtd_parse *parse, struct dtd_place place, const char *format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (parse->fault_count++ == 0)
        step_error_set(parse->error, STEP_STATUS_INVALID, parse->name, STEP_NO_OFFSET, "%u:%u: %s",
                       place.line, place.column, message);
    if (parse->report == NULL || parse->fault_count > DTD_FAULT_LIMIT)
        return;
    struct step_fault fault = {.name = parse->name,
                               .line = place.line,
                               .column = place.column,
                               .message = message,
                               .text_column = place.column};
    dtd_tree_find_line(parse, place.line, &fault);
    parse->report(parse->user, &fault);
}
