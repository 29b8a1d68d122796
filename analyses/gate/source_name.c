/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes source names of classes.  The JUnit extension does the same
 * (java/src/steptrace/limits/Sites.java), as both write lines of one file; docs/gates.md has the
 * rules.
 */
#include "analyses/gate/source_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"

/* Returns the text with points for slashes, or NULL if out of memory. */
static char *source_name_shown(struct step_bytes name)
{
    char *text = shown_copy(name);
    if (text == NULL)
        return NULL;
    for (char *at = text; (at = strchr(at, '/')) != NULL;)
        *at = '.';
    return text;
}

static const char *source_name_primitive(const char *element)
{
    static const char *const names[][2] = {{"Z", "boolean"}, {"B", "byte"},  {"C", "char"},
                                           {"S", "short"},   {"I", "int"},   {"J", "long"},
                                           {"F", "float"},   {"D", "double"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(element, names[i][0]) == 0)
            return names[i][1];
    return element;
}

/* Returns "int[][]" for "[[I" in place of it; frees `name`. */
static char *source_name_array(char *name)
{
    char *last = strrchr(name, '['), *text;
    if (last == NULL)
        return name;
    size_t dimensions = (size_t) (last - name) + 1, length = strlen(last + 1);
    char *element = last + 1;
    if (*element == 'L' && element[length - 1] == ';') {
        element[length - 1] = '\0';
        element++;
    }
    const char *plain = source_name_primitive(element);
    length = strlen(plain);
    text = malloc(length + 2 * dimensions + 1);
    if (text != NULL) {
        memcpy(text, plain, length);
        for (size_t i = 0; i < dimensions; i++)
            memcpy(text + length + 2 * i, "[]", 3);
    }
    free(name);
    return text;
}

/* Cuts a number such as " (loader 3)" off the end: by it, commands tell classes of one name apart
 * (converter/trace/class_twins.h). */
static void source_name_cut(char *name, const char *what)
{
    size_t length = strlen(name), begin = strlen(what), digits = 0;
    while (length > begin + 1 + digits && isdigit((unsigned char) name[length - 2 - digits]))
        digits++;
    char *at = digits > 0 && name[length - 1] == ')' ? name + length - 1 - digits - begin : NULL;
    if (at != NULL && strncmp(at, what, begin) == 0)
        *at = '\0';
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Returns the length of what varies from run to run at `at`, and sets `*keeps`, how much of it
 * stays. */
static size_t source_name_varies(const char *at, size_t *keeps)
{
    static const char lambda[] = "$$Lambda";
    *keeps = 0;
    if (strncmp(at, lambda, sizeof lambda - 1) == 0) {
        *keeps = sizeof lambda - 1;
        return *keeps + strcspn(at + *keeps, "[ ");
    }
    size_t length = 3;
    if (strncmp(at, ".0x", 3) != 0 || !is_hex(at[3]))
        return 0;
    while (is_hex(at[length]))
        length++;
    return length;
}

char *source_name_of(struct step_bytes name)
{
    char *text = source_name_shown(name);
    if (text != NULL) {
        source_name_cut(text, " (loader ");
        source_name_cut(text, " (class ");
    }
    text = text != NULL ? source_name_array(text) : NULL;
    char *to = text;
    for (const char *at = text; at != NULL && *at != '\0';) {
        size_t keeps, varies = source_name_varies(at, &keeps);
        size_t length = varies > 0 ? keeps : 1;
        memmove(to, at, length);
        to += length;
        at += varies > 0 ? varies : 1;
    }
    if (to != NULL)
        *to = '\0';
    return text;
}
