/* SPDX-License-Identifier: Apache-2.0 */
/* Parses patterns, ranges, moments and event kinds. */
#include "converter/trace/selection_options.h"

#include <string.h>
#include <strings.h>

#include "steptrace/text.h"

bool take_names(void *globs_target, const char *value, const char **fault)
{
    struct selected_globs *globs = globs_target;
    *fault = "may be given 16 times at most";
    if (globs->count == SELECTED_GLOBS_MOST)
        return false;
    globs->items[globs->count++] = value;
    return true;
}

bool take_globs(void *globs_target, const char *value, const char **fault)
{
    *fault = "a pattern is expected";
    return value[value[0] == '!'] != '\0' && take_names(globs_target, value, fault);
}

typedef bool (*take_number)(void *uint64_target, const char *value, const char **fault);

/* Parses one end of A..B, which may be empty. */
static bool take_end(take_number take, const char *text, size_t length, uint64_t *out)
{
    char copy[48];
    const char *fault;
    if (length == 0)
        return true;
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return take(out, copy, &fault);
}

static bool take_two_ends(take_number take, const char *value, uint64_t *least, uint64_t *most)
{
    const char *dots = strstr(value, "..");
    if (dots == NULL || dots[2] == '.' || (dots == value && dots[2] == '\0'))
        return false;
    return take_end(take, value, (size_t) (dots - value), least) &&
           take_end(take, dots + 2, strlen(dots + 2), most) && *least <= *most;
}

/* Parses "<10", "<=10", ">10", ">=10", "=10", "10..20", "10.." or "..20". */
static bool selection_options_take_range(take_number take, struct selected_range *range,
                                         const char *value)
{
    uint64_t number;
    const char *fault;
    *range = (struct selected_range){.is_set = true, .most = UINT64_MAX};
    size_t sign = strspn(value, "<>=");
    if (sign == 0)
        return take_two_ends(take, value, &range->least, &range->most);
    bool or_equal = sign == 2 && value[1] == '=' && value[0] != '=';
    if ((sign == 2 && !or_equal) || sign > 2 || !take(&number, value + sign, &fault))
        return false;
    if (value[0] != '<')
        range->least = number + (value[0] == '>' && !or_equal);
    if (value[0] != '>')
        range->most = number - (value[0] == '<' && !or_equal);
    bool is_beyond = !or_equal && ((value[0] == '<' && number == 0) ||
                                   (value[0] == '>' && number == UINT64_MAX));
    return !is_beyond;
}

bool take_size_range(void *range_target, const char *value, const char **fault)
{
    *fault = "a size is expected, as <64, >=1k, =24 or 16..4k";
    return selection_options_take_range(take_size, range_target, value);
}

bool take_time_range(void *range_target, const char *value, const char **fault)
{
    *fault = "a time is expected, as <10ms, >=1s or 200us..1.5s";
    return selection_options_take_range(take_time, range_target, value);
}

bool take_slice(void *selection_target, const char *value, const char **fault)
{
    struct event_selection *selected = selection_target;
    *fault = "two times are expected, as 200ms..1.5s, ..3us or 2s..";
    return take_two_ends(take_time, value, &selected->from_ns, &selected->to_ns);
}

bool take_alive_at(void *selection_target, const char *value, const char **fault)
{
    struct event_selection *selected = selection_target;
    selected->has_alive_at = true;
    return take_moment(&selected->alive_at, value, fault);
}

bool take_temporary(void *selection_target, const char *value, const char **fault)
{
    struct event_selection *selected = selection_target;
    selected->temporary = true;
    selected->temporary_allocs = 0;
    return value == NULL || (take_count(&selected->temporary_allocs, value, fault) &&
                             selected->temporary_allocs > 0);
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
