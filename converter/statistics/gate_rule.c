/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of a gate rule, word by word, and the options of a gate. */
#include "converter/statistics/gate_rule.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/trace/event_selection.h"
#include "format/core/nearest_word.h"

struct parser {
    const char *text;
    const char *at;
    struct gate_rule *rule;
    char *fault;
    size_t fault_size;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct parser *parser, const char *format,
                                                       ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(parser->fault, parser->fault_size, format, values);
    va_end(values);
    return false;
}

static void gate_rule_skip_blanks(struct parser *parser)
{
    while (isspace((unsigned char) *parser->at))
        parser->at++;
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (islower((unsigned char) at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool is_word(const char *at, const char *word)
{
    return strlen(word) == word_length(at) && strncmp(at, word, strlen(word)) == 0;
}

/* Parses AXIS:PATTERN; a pattern with blanks is in quotes. */
static bool parse_rows(struct parser *parser)
{
    struct gate_rule *rule = parser->rule;
    if (is_word(parser->at, "any")) {
        rule->any = true;
        parser->at += 3;
        gate_rule_skip_blanks(parser);
    }
    unsigned axis = AXIS_CLASS;
    while (axis < AXIS_COUNT && !is_word(parser->at, axis_names[axis]))
        axis++;
    size_t length = word_length(parser->at);
    if (parser->at[length] != ':')
        return !rule->any ||
               fail(parser, "class:, site:, thread: or method: is expected after 'any'");
    if (axis == AXIS_COUNT)
        return fail(parser, "class:, site:, thread: or method: is expected");
    rule->axis = (enum measure_axis) axis;
    parser->at += length + 1;
    bool is_quoted = *parser->at == '"';
    parser->at += is_quoted;
    length = strcspn(parser->at, is_quoted ? "\"" : " \t");
    if (length == 0 || length >= sizeof rule->pattern)
        return fail(parser, "a pattern is expected");
    if (is_quoted && parser->at[length] != '"')
        return fail(parser, "the quote does not end");
    memcpy(rule->pattern, parser->at, length);
    parser->at += length + is_quoted;
    gate_rule_skip_blanks(parser);
    return true;
}

static const char *metric_name_at(const void *table, size_t i)
{
    return ((const struct metric_list *) table)->items[i]->name;
}

static bool parse_metric(struct parser *parser)
{
    size_t length = word_length(parser->at);
    struct metric_list metrics;
    char typed[40];
    metric_list_init(&metrics);
    parser->rule->metric = metric_by_name(parser->at, length);
    if (parser->rule->metric != NULL) {
        parser->at += length;
        gate_rule_skip_blanks(parser);
        return true;
    }
    snprintf(typed, sizeof typed, "%.*s", (int) (length < 32 ? length : 0), parser->at);
    const char *nearest = nearest_word_of(typed, metric_name_at, &metrics, metrics.count);
    if (length == 0)
        return fail(parser, "what is measured is expected, as allocated or alive_at_end");
    return nearest != NULL
               ? fail(parser, "'%s' is not measured; did you mean '%s'?", typed, nearest)
               : fail(parser, "'%s' is not measured", typed);
}

/* A metric that rows of the axis do not have would always be 0. */
static bool has_metric(struct parser *parser)
{
    const struct gate_rule *rule = parser->rule;
    char axes[64] = "";
    if ((rule->metric->axes & 1u << rule->axis) != 0)
        return true;
    for (unsigned axis = AXIS_PROGRAM; axis < AXIS_COUNT; axis++)
        if ((rule->metric->axes & 1u << axis) != 0) {
            size_t used = strlen(axes);
            snprintf(axes + used, sizeof axes - used, "%s%s", used > 0 ? ", " : "",
                     axis_names[axis]);
        }
    return rule->axis == AXIS_PROGRAM
               ? fail(parser, "'%s' is not measured of the whole program, but by %s",
                      rule->metric->name, axes)
               : fail(parser, "'%s' is not measured by %s, but by %s", rule->metric->name,
                      axis_names[rule->axis], axes);
}

static bool parse_operator(struct parser *parser)
{
    static const struct {
        const char *text;
        enum gate_operator operator;
    } operators[] = {
        {">=", GATE_GREATER_OR_EQUAL}, {"<=", GATE_LESS_OR_EQUAL}, {"!=", GATE_NOT_EQUAL},
        {">", GATE_GREATER},           {"<", GATE_LESS},           {"=", GATE_EQUAL}};
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t length = strlen(operators[i].text);
        if (strncmp(parser->at, operators[i].text, length) != 0)
            continue;
        parser->rule->operator= operators[i].operator;
        parser->at += length;
        gate_rule_skip_blanks(parser);
        return true;
    }
    return fail(parser, "one of > >= < <= = != is expected");
}

static bool parse_limit(struct parser *parser)
{
    struct gate_rule *rule = parser->rule;
    char number[48];
    const char *fault = NULL;
    uint64_t value = 0;
    double sign = *parser->at == '-' ? -1 : 1;
    rule->is_change = *parser->at == '+' || *parser->at == '-';
    parser->at += rule->is_change;
    size_t length = strcspn(parser->at, " \t\r\n#");
    if (length == 0 || length >= sizeof number)
        return fail(parser, "a limit is expected");
    memcpy(number, parser->at, length);
    number[length] = '\0';
    rule->is_percent = number[length - 1] == '%';
    if (rule->is_percent) {
        char *end;
        double percent = isdigit((unsigned char) number[0]) ? strtod(number, &end) : -1;
        if (percent < 0 || !isfinite(percent) || end != number + length - 1)
            return fail(parser, "a percentage is expected, as +5%%");
        if (!rule->is_change)
            return fail(parser, "a percentage needs a sign: +%s or -%s", number, number);
        rule->limit = sign * percent;
    } else {
        bool ok = rule->metric->unit == AMOUNT_NS ? take_time(&value, number, &fault)
                                                  : take_size(&value, number, &fault);
        if (!ok)
            return fail(parser, "%s", fault);
        rule->limit = sign * (double) value;
    }
    bool never_holds = rule->operator== GATE_LESS && !rule->is_change && rule->limit <= 0 &&
                       rule->metric->sum != SUM_GROWTH_BYTES;
    if (never_holds)
        return fail(parser, "'%s' is never below 0: nothing can fail this rule",
                    rule->metric->name);
    parser->at += length;
    gate_rule_skip_blanks(parser);
    return *parser->at == '\0' || fail(parser, "nothing more is expected");
}

/* Returns false on a syntax error, with its column (from 1) and a message in `fault`, which has
 * `fault_size` bytes. */
static bool gate_rule_parse(const char *text, struct gate_rule *rule, size_t *column, char *fault,
                            size_t fault_size)
{
    struct parser parser = {
        .text = text, .at = text, .rule = rule, .fault = fault, .fault_size = fault_size};
    *rule = (struct gate_rule){.axis = AXIS_PROGRAM};
    bool ok = strlen(text) < sizeof rule->text || fail(&parser, "the rule is too long");
    gate_rule_skip_blanks(&parser);
    snprintf(rule->text, sizeof rule->text, "%s", parser.at);
    ok = ok && parse_rows(&parser) && parse_metric(&parser) && has_metric(&parser) &&
         parse_operator(&parser) && parse_limit(&parser);
    *column = (size_t) (parser.at - text) + 1;
    return ok;
}

bool gate_rule_holds(const struct gate_rule *rule, double value, double limit)
{
    switch (rule->operator) {
    case GATE_GREATER:
        return value > limit;
    case GATE_GREATER_OR_EQUAL:
        return value >= limit;
    case GATE_LESS:
        return value < limit;
    case GATE_LESS_OR_EQUAL:
        return value <= limit;
    case GATE_EQUAL:
        return value == limit;
    default:
        return value != limit;
    }
}

/* Matches "a/B.m(I)V" against patterns of --method, and by its class alone. */
static bool frame_matches(const char *pattern, struct step_bytes text)
{
    char name[2 * GATE_TEXT_MOST];
    size_t length = text.length < sizeof name ? text.length : sizeof name;
    if (length > 0)
        memcpy(name, text.data, length);
    const char *open = memchr(name, '(', length);
    if (open != NULL && open != name)
        length = (size_t) (open - name);
    size_t dot = length;
    while (dot > 0 && name[dot - 1] != '.')
        dot--;
    if (dot > 0)
        name[dot - 1] = '/';
    return trace_glob_matches(pattern, (struct step_bytes){(const uint8_t *) name, length}) ||
           (dot > 0 &&
            trace_glob_matches(pattern, (struct step_bytes){(const uint8_t *) name, dot - 1}));
}

static bool gate_rule_thread_matches(const char *pattern, struct step_bytes text)
{
    char name[GATE_TEXT_MOST];
    snprintf(name, sizeof name, "%.*s", (int) text.length, (const char *) text.data);
    return fnmatch(pattern, name, FNM_NOESCAPE) == 0;
}

bool gate_rule_names(const struct gate_rule *rule, const struct measures *measures, uint32_t row)
{
    struct step_bytes text = measures_text(measures, rule->axis, row);
    switch (rule->axis) {
    case AXIS_CLASS:
        return trace_class_matches(rule->pattern, text);
    case AXIS_THREAD:
        return gate_rule_thread_matches(rule->pattern, text);
    case AXIS_METHOD:
        return frame_matches(rule->pattern, text);
    case AXIS_SITE:
        for (uint32_t at = row; at != 0; at = measures_parent(measures, at))
            if (frame_matches(rule->pattern, measures_text(measures, AXIS_SITE, at)))
                return true;
        return false;
    default:
        return true;
    }
}

bool gate_rule_is_known(const struct gate_rule *rule, const struct measures *measures)
{
    enum measure_axis axis = rule->axis == AXIS_SITE ? AXIS_METHOD : rule->axis;
    const struct name_index *known = &measures->known[axis];
    for (uint32_t i = 1; i <= known->count; i++) {
        struct step_bytes text = known->entries[i].text;
        if (axis == AXIS_CLASS    ? trace_class_matches(rule->pattern, text)
            : axis == AXIS_THREAD ? gate_rule_thread_matches(rule->pattern, text)
                                  : frame_matches(rule->pattern, text))
            return true;
    }
    return false;
}

bool gate_rule_is_of_absence(const struct gate_rule *rule)
{
    return !rule->is_change &&
           (((rule->operator== GATE_GREATER || rule->operator== GATE_NOT_EQUAL) &&
             rule->limit == 0) ||
            (rule->operator== GATE_GREATER_OR_EQUAL && rule->limit == 1));
}

#define RULES_MOST ((size_t) 1000)

static char fault_text[1024];

static bool gate_rule_add(void *gates_target, const char *text, const char *file, size_t line)
{
    struct gates *gates = gates_target;
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
    rule->file = file;
    rule->line = line;
    if (file != NULL)
        snprintf(place, sizeof place, "line %zu, ", line);
    if (!ok)
        snprintf(fault_text, sizeof fault_text, "%scolumn %zu: %s", place, column, fault);
    gates->count += ok;
    return ok;
}

bool take_fail_if(void *gates_target, const char *value, const char **fault)
{
    *fault = fault_text;
    return gate_rule_add(gates_target, value, NULL, 0);
}

bool take_budget(void *gates_target, const char *value, const char **fault)
{
    *fault = fault_text;
    return take_lines(value, GATE_TEXT_MOST, gate_rule_add, gates_target, fault_text,
                      sizeof fault_text);
}

void gates_reset(struct gates *gates)
{
    free(gates->rules);
    *gates = (struct gates){.rules = NULL};
}

static const char *verbs_of(const struct metric *metric)
{
    return metric->group == METRICS_OF_TRACES  ? "stats and compare"
           : metric->group == METRICS_OF_LEAKS ? "leaks"
                                               : "heap";
}

enum step_status gates_check(const struct gates *gates, const struct arguments *arguments,
                             unsigned groups, const char *change)
{
    for (size_t i = 0; i < gates->count; i++) {
        const struct gate_rule *rule = &gates->rules[i];
        if ((groups & rule->metric->group) == 0)
            return arguments_fault(arguments, "'%s': '%s' is a metric of %s", rule->text,
                                   rule->metric->name, verbs_of(rule->metric));
        if (rule->is_change && change != NULL)
            return arguments_fault(arguments, "'%s' compares two runs: %s", rule->text, change);
    }
    return STEP_STATUS_OK;
}
