/* SPDX-License-Identifier: Apache-2.0 */
/* A file of patterns. */
#include "converter/leaks/suppressions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/events/trace_filter.h"

#define LINE_MOST 512u
#define MOST ((size_t) 10000)

struct suppression {
    char text[LINE_MOST];
    size_t offset; /* of the pattern */
    bool is_class;
    uint64_t used;
};

static char fault_text[256];

static bool add(struct suppressions *suppressions, const char *line, size_t number)
{
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

/* Without its comment and what is blank at the end. */
static void trim(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (*at == '#' && (at == line || at[-1] == ' ' || at[-1] == '\t'))
            *at = '\0';
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        line[--length] = '\0';
}

bool take_suppressions(void *suppressions_target, const char *value, const char **fault)
{
    char line[LINE_MOST];
    bool ok = true;
    *fault = fault_text;
    FILE *file = fopen(value, "r");
    if (file == NULL) {
        snprintf(fault_text, sizeof fault_text, "%s", strerror(errno));
        return false;
    }
    for (size_t number = 1; ok && fgets(line, sizeof line, file) != NULL; number++) {
        ok = strchr(line, '\n') != NULL || feof(file) != 0;
        if (!ok)
            snprintf(fault_text, sizeof fault_text, "line %zu is too long", number);
        trim(line);
        if (ok && line[0] != '\0')
            ok = add(suppressions_target, line, number);
    }
    if (ok && ferror(file) != 0) {
        snprintf(fault_text, sizeof fault_text, "it cannot be read");
        ok = false;
    }
    fclose(file);
    return ok;
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

bool suppressions_have(struct suppressions *suppressions, const struct heap_sites *sites,
                       const struct heap_key *key)
{
    for (size_t i = 0; i < suppressions->count; i++) {
        struct suppression *item = &suppressions->items[i];
        const char *pattern = item->text + item->offset;
        bool has =
            item->is_class
                ? trace_glob_matches(pattern, trace_class_of(sites->names, key->class_id)->name)
                : names_site(pattern, sites, key->site);
        item->used += has;
        if (has)
            return true;
    }
    return false;
}

void suppressions_tell_unused(const struct suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        if (suppressions->items[i].used == 0)
            report_line("nothing that survived is suppressed by '%s'", suppressions->items[i].text);
}
