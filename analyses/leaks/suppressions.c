/* SPDX-License-Identifier: Apache-2.0 */
/* Reads suppressions, finds the one that hides a row, and reports those that matched nothing. */
#include "analyses/leaks/suppressions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/cli/error_report.h"
#include "converter/trace/trace_filter.h"

#define MOST ((size_t) 10000)

static char fault_text[256];

static bool suppressions_add(void *suppressions_target, const char *line, const char *file,
                             size_t number)
{
    (void) file;
    struct suppressions *suppressions = suppressions_target;
    size_t column = strspn(line, " \t");
    bool is_class = strncmp(line + column, "class:", 6) == 0;
    size_t offset = column + (is_class ? 6 : 5);
    if (!is_class && strncmp(line + column, "site:", 5) != 0) {
        snprintf(fault_text, sizeof fault_text, "line %zu, column %zu: class: or site: is expected",
                 number, column + 1);
        return false;
    }
    if (line[offset] == '\0' || suppressions->count == MOST) {
        snprintf(fault_text, sizeof fault_text, "line %zu, column %zu: %s", number, offset + 1,
                 line[offset] == '\0' ? "a pattern is expected" : "there are too many");
        return false;
    }
    struct suppression *items =
        realloc(suppressions->items, (suppressions->count + 1) * sizeof *items);
    if (items == NULL) {
        snprintf(fault_text, sizeof fault_text, "out of memory");
        return false;
    }
    suppressions->items = items;
    struct suppression *item = &items[suppressions->count++];
    *item = (struct suppression){.offset = offset, .is_class = is_class};
    snprintf(item->text, sizeof item->text, "%s", line);
    return true;
}

bool take_suppressions(void *suppressions_target, const char *value, const char **fault)
{
    *fault = fault_text;
    return take_lines(value, SUPPRESSION_MOST - 2, suppressions_add, suppressions_target,
                      fault_text, sizeof fault_text);
}

void suppressions_reset(struct suppressions *suppressions)
{
    free(suppressions->items);
    *suppressions = (struct suppressions){.items = NULL};
}

static bool names_site(const char *pattern, const struct heap_sites *sites, uint32_t site)
{
    const struct selected_globs globs = {.items = {pattern}, .count = 1};
    for (; site != 0; site = sites->items[site].parent)
        if (trace_filter_frame_mask(sites->names, &globs, sites->items[site].method_id,
                                    sites->items[site].line) != 0)
            return true;
    return false;
}

struct suppression *suppressions_find(const struct suppressions *suppressions,
                                      const struct heap_sites *sites, const struct heap_key *key)
{
    for (size_t i = 0; i < suppressions->count; i++) {
        struct suppression *item = &suppressions->items[i];
        const char *pattern = item->text + item->offset;
        if (item->is_class
                ? trace_class_matches(pattern, trace_class_of(sites->names, key->class_id)->name)
                : names_site(pattern, sites, key->site))
            return item;
    }
    return NULL;
}

void suppressions_report_unused(const struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        if (suppressions->items[i].used == 0)
            report_line("the suppression '%s' matches nothing that survived",
                        suppressions->items[i].text);
}
