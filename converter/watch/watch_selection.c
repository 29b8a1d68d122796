/* SPDX-License-Identifier: Apache-2.0 */
/* Parses selections with the option tables of the verbs, without the command line. */
#include "converter/watch/watch_view.h"

#include <stdio.h>
#include <string.h>

#include "converter/trace/selection_options.h"

static bool take_key(char *word, size_t column, struct event_selection *selected, char *fault,
                     size_t fault_size)
{
    const struct option_row rows[] = {OBJECT_SELECTION_ROWS(selected)};
    word += strncmp(word, "--", 2) == 0 ? 2 : 0;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *why = "is a bad value";
        if (strlen(rows[i].name) != length || memcmp(rows[i].name, word, length) != 0 ||
            rows[i].value == NULL || rows[i].target == &selected->dtd_path)
            continue;
        if (word[length] == '=' && rows[i].take(rows[i].target, word + length + 1, &why))
            return true;
        snprintf(fault, fault_size, "column %zu: %.40s: %.100s", column, rows[i].name,
                 word[length] == '=' ? why : "=VALUE is missing");
        return false;
    }
    snprintf(fault, fault_size,
             "column %zu: class=, site=, method=, thread=, size= or time= is expected", column);
    return false;
}

const char *watch_selection_fault(const struct event_selection *selected)
{
    return selected->lifetime.is_set                                ? "lifetime"
           : selected->has_alive_at                                 ? "alive-at"
           : selected->temporary || selected->temporary_allocs != 0 ? "temporary"
                                                                    : NULL;
}

bool watch_selection_parse(char *text, struct event_selection *selected, char *fault,
                           size_t fault_size)
{
    const char *begin = text;
    while (*text != '\0') {
        text += strspn(text, " ");
        char *word = text;
        text += strcspn(text, " ");
        if (*text != '\0')
            *text++ = '\0';
        if (*word != '\0' &&
            !take_key(word, (size_t) (word - begin) + 1, selected, fault, fault_size))
            return false;
    }
    const char *late = watch_selection_fault(selected);
    if (late != NULL)
        snprintf(fault, fault_size, "%s needs a trace that has ended; use stats or heap", late);
    return late == NULL;
}
