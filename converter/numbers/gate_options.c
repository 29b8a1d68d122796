/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rules of gates from the command line and from budget files. */
#include "converter/numbers/gate_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MOST ((size_t) 1000)

static char fault_text[1024];

static bool add(struct gates *gates, const char *text, const char *file, size_t line)
{
    char fault[256], place[320] = "";
    size_t column;
    if (gates->count == RULES_MOST) {
        snprintf(fault_text, sizeof fault_text, "there are more than %zu rules", RULES_MOST);
        return false;
    }
    struct gate_rule *rules = realloc(gates->rules, (gates->count + 1) * sizeof *rules);
    if (rules == NULL) {
        snprintf(fault_text, sizeof fault_text, "out of memory");
        return false;
    }
    gates->rules = rules;
    struct gate_rule *rule = &rules[gates->count];
    bool ok = gate_rule_parse(text, rule, &column, fault, sizeof fault);
    if (file != NULL) {
        snprintf(place, sizeof place, "line %zu, ", line);
        snprintf(rule->origin, sizeof rule->origin, "%.100s:%zu", file, line);
    }
    if (!ok)
        snprintf(fault_text, sizeof fault_text, "%scolumn %zu: %s", place, column, fault);
    gates->count += ok;
    return ok;
}

bool take_fail_if(void *gates_target, const char *value, const char **fault)
{
    *fault = fault_text;
    return add(gates_target, value, NULL, 0);
}

/* Removes a comment: `#` at the start of a line or after a blank.  Returns true if text is left. */
static bool cut_comment(char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (*at == '#' && (at == line || at[-1] == ' ' || at[-1] == '\t'))
            *at = '\0';
    size_t length = strlen(line);
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        line[--length] = '\0';
    return line[strspn(line, " \t")] != '\0';
}

bool take_budget(void *gates_target, const char *value, const char **fault)
{
    char line[GATE_TEXT_MOST + 2];
    size_t number = 0;
    bool ok = true;
    *fault = fault_text;
    FILE *file = fopen(value, "r");
    if (file == NULL) {
        snprintf(fault_text, sizeof fault_text, "%s", strerror(errno));
        return false;
    }
    while (ok && fgets(line, sizeof line, file) != NULL) {
        number++;
        ok = strlen(line) < sizeof line - 1 || line[sizeof line - 2] == '\n';
        if (!ok)
            snprintf(fault_text, sizeof fault_text, "line %zu is too long", number);
        else if (cut_comment(line))
            ok = add(gates_target, line, value, number);
    }
    if (ok && ferror(file) != 0) {
        snprintf(fault_text, sizeof fault_text, "it cannot be read");
        ok = false;
    }
    fclose(file);
    return ok;
}

void gates_reset(struct gates *gates)
{
    free(gates->rules);
    *gates = (struct gates){.rules = NULL};
}

const struct gate_rule *gates_find_change(const struct gates *gates)
{
    for (size_t i = 0; i < gates->count; i++)
        if (gates->rules[i].is_change)
            return &gates->rules[i];
    return NULL;
}

const struct gate_rule *gates_find_other(const struct gates *gates, unsigned groups)
{
    for (size_t i = 0; i < gates->count; i++)
        if ((groups & gates->rules[i].metric->group) == 0)
            return &gates->rules[i];
    return NULL;
}
