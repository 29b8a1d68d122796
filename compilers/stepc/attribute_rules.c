/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the known attribute groups, one row each.  The rules of the targeted strategies are
 * in the strategy table. */
#include "compilers/stepc/stepc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "format/codec/strategies/strategy_table.h"
#include "format/core/nearest_word.h"

#define NUMBERS (AT_INT | AT_ENTRY | AT_LENGTH)
#define TEXTS (AT_STRING | AT_DATA)
#define FIELDS (NUMBERS | TEXTS | AT_VALUE)

static const struct attribute_rule rules[] = {
    {"encoding", "identifier", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "constant", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "default", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "resolution", AT_INT, VALUE_COUNT, true, 2, INT64_MAX},
    {"encoding", "prefix", TEXTS, VALUE_NONE, false, 0, 0},
    {"encoding", "size", NUMBERS, VALUE_SIZE, true, 0, 0},
    {"encoding", "unsigned", NUMBERS, VALUE_NONE, false, 0, 0},
    {"encoding", "charset", AT_STRING, VALUE_CHARSET, true, 0, 0},
    {"encoding", "type", AT_VALUE, VALUE_TYPE, true, 0, 0},
    {"encoding", "linked", NUMBERS, VALUE_LINKS, true, 0, 0},
    {"encoding", "numbered", AT_VALUE | AT_ARRAY, VALUE_NONE, false, 0, 0},
    {"property", "event", AT_RECORD, VALUE_NONE, false, 0, 0},
    {"property", "dictionary", AT_RECORD, VALUE_NONE, false, 0, 0},
    {"property", "unsigned", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "address", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "time", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "thread", AT_INT | AT_ENTRY, VALUE_NONE, false, 0, 0},
    {"property", "class-name", AT_STRING, VALUE_NONE, false, 0, 0},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static const char *const groups[] = {"encoding", "property", "map", "bytecode"};

/* Updates `*nearest` and its distance `*least` if the word is nearer to `text`. */
static void attributes_compare(const char *text, size_t length, const char *word, size_t *least,
                               const char **nearest)
{
    size_t apart = nearest_word_distance(text, length, word, true);
    if (apart >= *least)
        return;
    *least = apart;
    *nearest = word;
}

static void rule_of_strategy(const struct step_strategy *strategy, const char *key,
                             struct attribute_rule *known)
{
    static const enum attribute_value of_parameter[] = {
        [STEP_PARAMETER_NONE] = VALUE_NONE,
        [STEP_PARAMETER_COUNT] = VALUE_COUNT,
        [STEP_PARAMETER_SIGNED] = VALUE_NUMBER,
    };
    static const enum attribute_value of_need[] = {
        [STEP_SERIES_FIELD] = VALUE_FIELD,
        [STEP_SERIES_PUSHES] = VALUE_RECORD,
        [STEP_SERIES_LATEST] = VALUE_OF_RECORD,
    };
    bool looks = strategy->needs != STEP_SERIES_NONE;
    *known = (struct attribute_rule){
        .group = "encoding",
        .key = key,
        .places = looks ? AT_INT | AT_ENTRY : NUMBERS,
        .value = looks ? of_need[strategy->needs] : of_parameter[strategy->parameter],
        .required = looks,
        .least = strategy->parameter_max != 0,
        .most = strategy->parameter_max != 0 ? strategy->parameter_max : UINT64_MAX,
    };
}

/* Calls `visit` with each rule until it returns true.  Returns whether one did. */
static bool each_rule(const char *group, bool (*visit)(const struct attribute_rule *, void *),
                      void *context)
{
    for (size_t i = 0; i < RULES; i++)
        if (strcmp(rules[i].group, group) == 0 && visit(&rules[i], context))
            return true;
    for (size_t i = 1; i < STEP_TARGETED_COUNT && strcmp(group, "encoding") == 0; i++) {
        const struct step_strategy *strategy = step_strategies[i];
        const char *const keys[] = {strategy->name, strategy->other_name};
        struct attribute_rule rule;
        for (size_t k = 0; k < 2 && keys[k] != NULL; k++) {
            rule_of_strategy(strategy, keys[k], &rule);
            if (visit(&rule, context))
                return true;
        }
    }
    return false;
}

struct search {
    const struct step_rule *rule;
    struct attribute_rule *known;
    size_t least;
    const char **nearest;
};

static bool is_it(const struct attribute_rule *rule, void *context)
{
    const struct search *search = context;
    if (!step_rule_text_is(search->rule->key, search->rule->key_length, rule->key))
        return false;
    *search->known = *rule;
    return true;
}

static bool is_nearer(const struct attribute_rule *rule, void *context)
{
    struct search *search = context;
    attributes_compare(search->rule->key, search->rule->key_length, rule->key, &search->least,
                       search->nearest);
    return false;
}

/* for example "delta;size=4" */
static bool begins_it(const struct attribute_rule *rule, void *context)
{
    const struct search *search = context;
    size_t length = strlen(rule->key);
    if (search->rule->key_length <= length || strncmp(search->rule->key, rule->key, length) != 0)
        return false;
    *search->nearest = rule->key;
    return true;
}

bool attribute_rule_find(const char *group, const struct step_rule *rule,
                         struct attribute_rule *known, const char **nearest)
{
    struct search search = {rule, known, rule->key_length < 5 ? 3 : 4, nearest};
    *nearest = NULL;
    if (each_rule(group, is_it, &search))
        return true;
    each_rule(group, is_nearer, &search);
    if (*nearest == NULL)
        each_rule(group, begins_it, &search);
    return false;
}

bool attribute_group_is_known(const char *group, const char **nearest)
{
    size_t least = 3;
    *nearest = NULL;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strcmp(groups[i], group) == 0)
            return true;
        attributes_compare(group, strlen(group), groups[i], &least, nearest);
    }
    return false;
}

/* Parses decimal digits.  Returns false if there are other characters, or too many digits. */
static bool read_count(const char *text, size_t length, unsigned long long *value)
{
    char digits[24];
    if (length == 0 || length >= sizeof digits || strspn(text, "0123456789") < length)
        return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    errno = 0;
    *value = strtoull(digits, NULL, 10);
    return errno == 0;
}

static const char *count_fault(const struct attribute_rule *known, const struct step_rule *rule)
{
    unsigned long long value;
    if (!read_count(rule->value, rule->value_length, &value))
        return "is not a decimal number from 0 to 2^64 - 1";
    if (value >= known->least && value <= known->most)
        return NULL;
    return known->most == 4    ? "is not one of 1 to 4"
           : known->most == 16 ? "is not one of 1 to 16"
                               : "is not one of 2 to 2^63 - 1";
}

static const char *number_fault(const struct step_rule *rule)
{
    unsigned long long value = 0;
    bool sign = rule->value[0] == '-' || rule->value[0] == '+';
    bool good = read_count(rule->value + sign, rule->value_length - sign, &value);
    if (rule->value[0] == '-')
        good = good && value <= UINT64_C(1) << 63;
    return good ? NULL : "is not a decimal number from -2^63 to 2^64 - 1";
}

static const char *size_fault(const struct step_rule *rule)
{
    const char *ending = rule->value + 1;
    size_t length = rule->value_length - 1;
    bool good = rule->value[0] >= '1' && rule->value[0] <= '8' &&
                (length == 0 || step_rule_text_is(ending, length, "..") ||
                 step_rule_text_is(ending, length, "+"));
    return good || step_rule_text_is(rule->value, rule->value_length, "creep")
               ? NULL
               : "is not one of 1 to 8 (optionally followed by '..' or '+'), or creep";
}

static const char *type_fault(const struct step_rule *rule)
{
    static const char *const types[] = {"variable", "default", "constant"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (step_rule_text_is(rule->value, rule->value_length, types[i]))
            return NULL;
    return "is not one of variable, default, constant";
}

const char *attribute_value_fault(const struct attribute_rule *known, const struct step_rule *rule)
{
    bool equals = memchr(rule->text, '=', rule->length) != NULL;
    if (known->value == VALUE_NONE)
        return rule->value_length > 0 || equals ? "is not expected here" : NULL;
    if (rule->value_length == 0)
        return known->required || equals ? "is missing" : NULL;
    if (!equals)
        return "has no '=' before it";
    switch (known->value) {
    case VALUE_COUNT:
        return count_fault(known, rule);
    case VALUE_NUMBER:
        return number_fault(rule);
    case VALUE_SIZE:
        return size_fault(rule);
    case VALUE_TYPE:
        return type_fault(rule);
    case VALUE_NONE:
    case VALUE_CHARSET:
    case VALUE_FIELD:
    case VALUE_RECORD:
    case VALUE_OF_RECORD:
    case VALUE_LINKS:
        break;
    }
    return NULL;
}
