/* SPDX-License-Identifier: Apache-2.0 */
/* Tests selections, and matches names with patterns. */
#include "converter/trace/event_selection.h"

#include <stdlib.h>
#include <string.h>

#include "converter/files/sampled_trace.h"

void event_selection_init(struct event_selection *selected)
{
    *selected = (struct event_selection){
        .to_ns = UINT64_MAX, .kinds = TRACE_ALL_KINDS, .needs_all = NEEDS_ALL_OBJECTS};
}

bool event_selection_is_all(const struct event_selection *selected)
{
    return selected->from_ns == 0 && selected->to_ns == UINT64_MAX &&
           selected->kinds == TRACE_ALL_KINDS && selected->classes.count == 0 &&
           selected->threads.count == 0 && !event_selection_is_of_objects(selected);
}

static bool event_selection_is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

bool event_selection_one_thread(const struct event_selection *selected, uint64_t *number)
{
    if (selected->threads.count != 1 || !event_selection_is_number(selected->threads.items[0]))
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
           selected->threads.count > 0 || event_selection_is_of_phases(selected) ||
           selected->size.is_set || event_selection_needs_deaths(selected) ||
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

/* Backtracks to the last `*` only, or, if that one stops at a slash, to the last `**`. */
bool trace_glob_matches(const char *glob, struct step_bytes name)
{
    const char *star[2] = {NULL, NULL}; /* the pattern after the last `*` and the last `**` */
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

/* ---- classes ---- */

static struct step_bytes element_name(struct step_bytes name)
{
    static const char letters[] = "ZBCSIJFD";
    static const char *const names[] = {"boolean", "byte", "char",  "short",
                                        "int",     "long", "float", "double"};
    const char *letter =
        name.length == 1 && name.data[0] != 0 ? strchr(letters, name.data[0]) : NULL;
    if (letter != NULL)
        return step_text(names[letter - letters]);
    if (name.length > 2 && name.data[0] == 'L')
        return (struct step_bytes){name.data + 1, name.length - 2};
    return name;
}

struct step_bytes trace_class_java_name(struct step_bytes name, char *text, size_t room)
{
    size_t dimensions = 0;
    while (dimensions < name.length && name.data[dimensions] == '[')
        dimensions++;
    if (dimensions == 0)
        return name;
    struct step_bytes element =
        element_name((struct step_bytes){name.data + dimensions, name.length - dimensions});
    if (element.length + 2 * dimensions > room)
        return (struct step_bytes){NULL, 0};
    memcpy(text, element.data, element.length);
    for (size_t i = 0; i < dimensions; i++)
        memcpy(text + element.length + 2 * i, "[]", 2);
    return (struct step_bytes){(const uint8_t *) text, element.length + 2 * dimensions};
}

/* Only patterns that end in `[]` match arrays: `java.lang.*` matches classes, but no arrays. */
bool trace_class_matches(const char *glob, struct step_bytes name)
{
    enum { ROOM = 1024 };
    char text[ROOM];
    size_t length = strlen(glob);
    if (trace_glob_matches(glob, name))
        return true;
    if (length > 2 && strcmp(glob + length - 2, "[]") == 0)
        name = trace_class_java_name(name, text, sizeof text);
    else if (name.length > 0 && name.data[0] == '[')
        return false;
    if (name.length > 0 && trace_glob_matches(glob, name))
        return true;
    if (strpbrk(glob, "./*?") != NULL || name.length <= length)
        return false;
    size_t start = name.length - length;
    return name.data[start - 1] == '/' && memcmp(name.data + start, glob, length) == 0;
}

bool trace_class_name_matches(const void *name, const char *glob)
{
    return trace_class_matches(glob, *(const struct step_bytes *) name);
}
