/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding strategies and properties that columns heed: one row each. */
#include "wish.h"

#include <string.h>

struct rule {
    const char *value; /* after '=', not NUL-terminated */
    size_t length;
};

/* A decimal number with an optional sign, modulo 2^64. */
static uint64_t number(const struct rule *rule, uint64_t otherwise)
{
    size_t i = rule->length > 0 && (rule->value[0] == '-' || rule->value[0] == '+');
    if (i == rule->length)
        return otherwise;
    uint64_t result = 0;
    for (; i < rule->length; i++) {
        if (rule->value[i] < '0' || rule->value[i] > '9')
            return otherwise;
        result = result * 10 + (uint64_t) (rule->value[i] - '0');
    }
    return rule->value[0] == '-' ? 0 - result : result;
}

static void read_identifier(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->column.identifier = true;
    wish->column.is_signed = false;
}

static void read_usual(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->column.usual = true;
}

static void read_delta(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->column.delta = true;
}

static void read_stride(struct step_field_wish *wish, const struct rule *rule)
{
    wish->column.stride = true;
    wish->column.increment = number(rule, 1);
}

static void read_offset(struct step_field_wish *wish, const struct rule *rule)
{
    wish->column.offset = true;
    wish->column.base = number(rule, 0);
}

static void read_given(struct step_field_wish *wish, const struct rule *rule)
{
    wish->given = rule->value;
    wish->given_length = rule->length;
}

static void read_context(struct step_field_wish *wish, const struct rule *rule)
{
    uint64_t order = number(rule, 2);
    wish->column.order = order < 1 ? 1 : order > 4 ? 4 : order;
}

static void read_unsigned(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->column.is_signed = false;
}

static void read_time(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->is_time = true;
}

static void read_thread(struct step_field_wish *wish, const struct rule *rule)
{
    (void) rule;
    wish->is_thread = true;
}

/* Strategies that are not here are left to those who know them: every column tells in the file
 * how it was written. */
static const struct {
    const char *group;
    const char *key;
    void (*read)(struct step_field_wish *wish, const struct rule *rule);
} rows[] = {
    {"encoding", "identifier", read_identifier},
    {"encoding", "constant", read_usual},
    {"encoding", "default", read_usual},
    {"encoding", "delta", read_delta},
    {"encoding", "stride", read_stride},
    {"encoding", "offset", read_offset},
    {"encoding", "window", read_delta},
    {"encoding", "given", read_given},
    {"encoding", "context", read_context},
    {"encoding", "unsigned", read_unsigned},
    {"property", "unsigned", read_unsigned},
    {"property", "address", read_unsigned},
    {"property", "time", read_time},
    {"property", "thread", read_thread},
};

static bool is_text(const char *text, const char *bytes, size_t length)
{
    return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

static void trim(const char **text, size_t *length)
{
    for (; *length > 0 && **text == ' '; ++*text)
        --*length;
    while (*length > 0 && (*text)[*length - 1] == ' ')
        --*length;
}

static void read_rule(const char *group, const char *text, size_t length,
                      struct step_field_wish *wish)
{
    const char *equals = memchr(text, '=', length);
    const char *key = text;
    size_t key_length = equals != NULL ? (size_t) (equals - text) : length;
    struct rule rule = {text + length, 0};
    if (equals != NULL)
        rule = (struct rule){equals + 1, length - key_length - 1};
    trim(&key, &key_length);
    trim(&rule.value, &rule.length);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].group, group) == 0 && is_text(rows[i].key, key, key_length))
            rows[i].read(wish, &rule);
}

void step_wish_read(const struct step_attributes *attributes, struct step_field_wish *wish)
{
    for (size_t i = 0; i < attributes->count; i++) {
        const char *at = attributes->items[i].value;
        while (*at != '\0') {
            size_t length = strcspn(at, ",");
            read_rule(attributes->items[i].group, at, length, wish);
            at += length + (at[length] == ',');
        }
    }
}
