/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the attribute groups that StepTrace knows, one row each. */
#include "compilers/stepc/attribute_rules.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>

#define NUMBERS (AT_INT | AT_ENTRY | AT_LENGTH)
#define TEXTS (AT_STRING | AT_DATA)
#define FIELDS (NUMBERS | TEXTS | AT_VALUE)

static const struct attribute_rule rules[] = {
    {"encoding", "identifier", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "constant", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "default", FIELDS, VALUE_NONE, false, 0, 0},
    {"encoding", "delta", NUMBERS, VALUE_COUNT, false, 0, UINT64_MAX},
    {"encoding", "window", NUMBERS, VALUE_COUNT, false, 0, UINT64_MAX},
    {"encoding", "stride", NUMBERS, VALUE_NUMBER, false, 0, 0},
    {"encoding", "offset", NUMBERS, VALUE_NUMBER, false, 0, 0},
    {"encoding", "given", AT_INT | AT_ENTRY, VALUE_FIELD, true, 0, 0},
    {"encoding", "context", NUMBERS, VALUE_COUNT, false, 1, 4},
    {"encoding", "fcm", NUMBERS, VALUE_COUNT, false, 1, 4},
    {"encoding", "dfcm", NUMBERS, VALUE_COUNT, false, 1, 4},
    {"encoding", "recent", NUMBERS, VALUE_COUNT, false, 1, 16},
    {"encoding", "stack", AT_INT | AT_ENTRY, VALUE_RECORD, true, 0, 0},
    {"encoding", "age", AT_INT | AT_ENTRY, VALUE_OF_RECORD, true, 0, 0},
    {"encoding", "sequence", NUMBERS, VALUE_NONE, false, 0, 0},
    {"encoding", "live", NUMBERS, VALUE_NONE, false, 0, 0},
    {"encoding", "resolution", AT_INT, VALUE_COUNT, true, 2, INT64_MAX},
    {"encoding", "prefix", TEXTS, VALUE_NONE, false, 0, 0},
    {"encoding", "size", NUMBERS, VALUE_SIZE, true, 0, 0},
    {"encoding", "unsigned", NUMBERS, VALUE_NONE, false, 0, 0},
    {"encoding", "charset", AT_STRING, VALUE_CHARSET, true, 0, 0},
    {"encoding", "type", AT_VALUE, VALUE_TYPE, true, 0, 0},
    {"encoding", "numbered", AT_VALUE | AT_ARRAY, VALUE_NONE, false, 0, 0},
    {"property", "event", AT_RECORD, VALUE_NONE, false, 0, 0},
    {"property", "unsigned", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "address", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "time", AT_INT, VALUE_NONE, false, 0, 0},
    {"property", "thread", AT_INT | AT_ENTRY, VALUE_NONE, false, 0, 0},
    {"property", "class-name", AT_STRING, VALUE_NONE, false, 0, 0},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static const char *const groups[] = {"encoding", "property", "map", "bytecode"};

enum { WORD_MOST = 24 };

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* How many letters must change, come or go between the words; case does not count. */
static size_t distance(const char *a, size_t a_length, const char *b)
{
    size_t row[WORD_MOST + 1], b_length = strlen(b);
    if (a_length > WORD_MOST || b_length > WORD_MOST)
        return WORD_MOST;
    for (size_t k = 0; k <= b_length; k++)
        row[k] = k;
    for (size_t i = 1; i <= a_length; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= b_length; k++) {
            size_t above = row[k];
            bool same = strncasecmp(&a[i - 1], &b[k - 1], 1) == 0;
            row[k] = least_of(row[k] + 1, row[k - 1] + 1, corner + !same);
            corner = above;
        }
    }
    return row[b_length];
}

/* Keeps the word nearest to `text` in `*nearest`, whose distance is `*least`. */
static void compare(const char *text, size_t length, const char *word, size_t *least,
                    const char **nearest)
{
    size_t apart = distance(text, length, word);
    if (apart >= *least)
        return;
    *least = apart;
    *nearest = word;
}

const struct attribute_rule *attribute_rule_find(const char *group, const struct step_rule *rule,
                                                 const char **nearest)
{
    size_t least = rule->key_length < 5 ? 3 : 4;
    *nearest = NULL;
    for (size_t i = 0; i < RULES; i++) {
        if (strcmp(rules[i].group, group) != 0)
            continue;
        if (step_rule_text_is(rule->key, rule->key_length, rules[i].key))
            return &rules[i];
        compare(rule->key, rule->key_length, rules[i].key, &least, nearest);
    }
    for (size_t i = 0; i < RULES && *nearest == NULL; i++) /* "delta;size=4" */
        if (strcmp(rules[i].group, group) == 0 && rule->key_length > strlen(rules[i].key) &&
            strncmp(rule->key, rules[i].key, strlen(rules[i].key)) == 0)
            *nearest = rules[i].key;
    return NULL;
}

bool attribute_group_is_known(const char *group, const char **nearest)
{
    size_t least = 3;
    *nearest = NULL;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (strcmp(groups[i], group) == 0)
            return true;
        compare(group, strlen(group), groups[i], &least, nearest);
    }
    return false;
}

/* Decimal digits, as a number; false: others, or too many. */
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
        return "is no decimal number from 0 to 2^64 - 1";
    if (value >= known->least && value <= known->most)
        return NULL;
    return known->most == 4    ? "is none of 1 to 4"
           : known->most == 16 ? "is none of 1 to 16"
                               : "is none of 2 to 2^63 - 1";
}

static const char *number_fault(const struct step_rule *rule)
{
    unsigned long long value = 0;
    bool sign = rule->value[0] == '-' || rule->value[0] == '+';
    bool good = read_count(rule->value + sign, rule->value_length - sign, &value);
    if (rule->value[0] == '-')
        good = good && value <= UINT64_C(1) << 63;
    return good ? NULL : "is no decimal number from -2^63 to 2^64 - 1";
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
               : "is none of 1 to 8, perhaps with '..' or '+' behind it, or creep";
}

static const char *type_fault(const struct step_rule *rule)
{
    static const char *const types[] = {"variable", "default", "constant"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (step_rule_text_is(rule->value, rule->value_length, types[i]))
            return NULL;
    return "is none of variable, default, constant";
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
        break;
    }
    return NULL;
}
