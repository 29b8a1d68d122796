/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events by their two letters; a thread by its number. */
#include "converter/events/selection_options.h"

#include <string.h>
#include <strings.h>

#include "steptrace/text.h"

bool take_selected_thread(void *selection_target, const char *value, const char **fault)
{
    struct event_selection *selected = selection_target;
    selected->has_thread = true;
    return take_count(&selected->thread, value, fault);
}

bool take_kinds(void *uint32_target, const char *value, const char **fault)
{
    uint32_t kinds = 0;
    *fault = "kinds are VS, VI, VD, CL, OA, OF, TB, TE, MN, MX, FP, with commas between";
    for (const char *at = value;; at++) {
        unsigned kind = 0;
        while (kind < EVENT_KIND_COUNT &&
               strncasecmp(at, step_text_kind_name((enum step_text_kind) kind), 2) != 0)
            kind++;
        if (kind == EVENT_KIND_COUNT || (at[2] != ',' && at[2] != '\0'))
            return false;
        kinds |= TRACE_KIND_BIT(kind);
        at += 2;
        if (*at == '\0')
            break;
    }
    *(uint32_t *) uint32_target = kinds;
    return true;
}
