/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for, and matching names against patterns. */
#include "converter/events/event_selection.h"

#include <stdlib.h>
#include <string.h>

void event_selection_init(struct event_selection *selected)
{
    *selected = (struct event_selection){.to_ns = UINT64_MAX, .kinds = TRACE_ALL_KINDS};
}

bool event_selection_is_all(const struct event_selection *selected)
{
    return selected->from_ns == 0 && selected->to_ns == UINT64_MAX &&
           selected->kinds == TRACE_ALL_KINDS && selected->classes.count == 0 &&
           selected->threads.count == 0 && !event_selection_is_of_objects(selected);
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

bool event_selection_one_thread(const struct event_selection *selected, uint64_t *number)
{
    if (selected->threads.count != 1 || !is_number(selected->threads.items[0]))
        return false;
    *number = strtoull(selected->threads.items[0], NULL, 10);
    return true;
}

bool event_selection_is_slice(const struct event_selection *selected)
{
    struct event_selection rest = *selected;
    uint64_t number;
    rest.from_ns = 0;
    rest.to_ns = UINT64_MAX;
    if (event_selection_one_thread(selected, &number))
        rest.threads.count = 0;
    return event_selection_is_all(&rest);
}

bool event_selection_needs_deaths(const struct event_selection *selected)
{
    return selected->lifetime.is_set || selected->has_alive_at || selected->temporary;
}

bool event_selection_is_of_objects(const struct event_selection *selected)
{
    return selected->sites.count > 0 || selected->methods.count > 0 ||
           selected->threads.count > 0 || selected->size.is_set ||
           event_selection_needs_deaths(selected) ||
           (selected->untracked && selected->classes.count > 0);
}

uint32_t selected_globs_mask(const struct selected_globs *globs,
                             bool (*matches)(const void *user, const char *glob), const void *user)
{
    uint32_t mask = 0;
    for (unsigned i = 0; i < globs->count; i++)
        if (matches(user, globs->items[i] + (globs->items[i][0] == '!')))
            mask |= UINT32_C(1) << i;
    return mask;
}

bool selected_globs_accept(const struct selected_globs *globs, uint32_t mask)
{
    bool is_asked = false, is_found = false;
    for (unsigned i = 0; i < globs->count; i++) {
        bool matches = (mask >> i & 1) != 0;
        if (globs->items[i][0] == '!' && matches)
            return false;
        is_asked = is_asked || globs->items[i][0] != '!';
        is_found = is_found || matches;
    }
    return is_found || !is_asked;
}

static bool matches_one(char glob, uint8_t byte)
{
    if (glob == '?')
        return byte != '/';
    return (glob == '.' ? '/' : glob) == (char) byte;
}

/* Goes back to the last star only; where that one stops at a slash, to the last double star. */
bool trace_glob_matches(const char *glob, struct step_bytes name)
{
    const char *star[2] = {NULL, NULL}; /* what follows the last `*`, the last `**` */
    size_t from[2] = {0, 0};
    size_t at = 0;
    for (;;) {
        if (glob[0] == '*') {
            size_t kind = glob[1] == '*';
            glob += 1 + kind;
            star[kind] = glob;
            from[kind] = at;
            if (kind == 1)
                star[0] = NULL;
            continue;
        }
        if (at == name.length && *glob == '\0')
            return true;
        if (at < name.length && *glob != '\0' && matches_one(*glob, name.data[at])) {
            glob++;
            at++;
            continue;
        }
        if (star[0] != NULL && from[0] < name.length && name.data[from[0]] != '/') {
            at = ++from[0];
            glob = star[0];
        } else if (star[1] != NULL && from[1] < name.length) {
            at = ++from[1];
            glob = star[1];
            star[0] = NULL;
        } else {
            return false;
        }
    }
}
