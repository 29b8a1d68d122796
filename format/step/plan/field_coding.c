/* SPDX-License-Identifier: Apache-2.0 */
/* The encoding strategies and properties that columns heed: one row each. */
#include "format/step/plan/field_coding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/codec/strategies/predictor.h"
#include "format/core/rule.h"

/* A decimal number with an optional sign, modulo 2^64. */
static uint64_t number(const struct step_rule *rule, uint64_t otherwise)
{
    size_t i = rule->value_length > 0 && (rule->value[0] == '-' || rule->value[0] == '+');
    if (i == rule->value_length)
        return otherwise;
    uint64_t result = 0;
    for (; i < rule->value_length; i++) {
        if (rule->value[i] < '0' || rule->value[i] > '9')
            return otherwise;
        result = result * 10 + (uint64_t) (rule->value[i] - '0');
    }
    return rule->value[0] == '-' ? 0 - result : result;
}

static void read_identifier(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.identifier = true;
    field_coding->column.is_signed = false;
    field_coding->policy.general = STEP_IDENTIFIER;
}

static void read_constant(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.usual = true;
    field_coding->policy.general = STEP_CONSTANT;
}

static void read_default(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.usual = true;
    field_coding->policy.general = STEP_DEFAULT;
}

static void target(struct step_field_coding *field_coding, enum step_targeted targeted,
                   uint64_t parameter)
{
    field_coding->policy.targeted = targeted;
    field_coding->policy.parameter = parameter;
}

static void read_delta(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.delta = true;
    target(field_coding, STEP_DELTA, number(rule, UINT64_MAX));
}

static void read_window(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.delta = true;
    target(field_coding, STEP_WINDOW, number(rule, UINT64_MAX));
}

static void read_stride(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.stride = true;
    field_coding->column.increment = number(rule, 1);
    target(field_coding, STEP_STRIDE, field_coding->column.increment);
}

static void read_offset(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.offset = true;
    field_coding->column.base = number(rule, 0);
    target(field_coding, STEP_OFFSET, field_coding->column.base);
}

static void read_given(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->given = rule->value;
    field_coding->given_length = rule->value_length;
    target(field_coding, STEP_GIVEN, 0);
}

static void read_stack(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    read_given(field_coding, rule);
    target(field_coding, STEP_STACK, 0);
}

static void read_age(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    read_given(field_coding, rule);
    target(field_coding, STEP_AGE, 0);
}

static void read_sequence(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.sequence = true;
    target(field_coding, STEP_SEQUENCE, 0);
}

static void read_live(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.live = true;
    target(field_coding, STEP_LIVE, 0);
}

static void read_resolution(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    enum { DIGITS_MOST = 19 };
    bool good =
        rule->value_length > 0 && rule->value_length <= DIGITS_MOST && rule->value[0] != '-';
    uint64_t resolution = good ? number(rule, 0) : 0;
    field_coding->resolution = field_coding->policy.resolution =
        resolution > 1 && resolution >> 63 == 0 ? resolution : 0;
}

static void read_prefix(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->policy.strings |= STEP_STRINGS_SHARED;
}

static const struct {
    const char *name;
    unsigned flags;
} string_names[] = {{"identifier", STEP_STRINGS_NUMBERED},
                    {"prefix", STEP_STRINGS_SHARED},
                    {"identifier+prefix", STEP_STRINGS_NUMBERED | STEP_STRINGS_SHARED}};

/* Of the lengths of strings, in rows: how the strings stand after them. */
static void read_strings(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    for (size_t i = 0; i < sizeof string_names / sizeof string_names[0]; i++)
        if (step_rule_text_is(rule->value, rule->value_length, string_names[i].name))
            field_coding->policy.strings = string_names[i].flags;
}

static uint64_t bounded(const struct step_rule *rule, uint64_t otherwise, uint64_t most)
{
    uint64_t value = number(rule, otherwise);
    return value < 1 ? 1 : value > most ? most : value;
}

static void read_context(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.order = bounded(rule, 2, STEP_CONTEXT_MAX);
    target(field_coding, STEP_CONTEXT, field_coding->column.order);
}

static void read_dfcm(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.dfcm_order = bounded(rule, 2, STEP_CONTEXT_MAX);
    target(field_coding, STEP_DFCM, field_coding->column.dfcm_order);
}

static void read_recent(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->column.recent = bounded(rule, 4, STEP_RECENT_MAX);
    target(field_coding, STEP_RECENT, field_coding->column.recent);
}

static void read_unsigned(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.is_signed = false;
    field_coding->policy.is_unsigned = true;
}

/* "4" always so many bytes, "4.." at first, "4+" usually, "creep" as many as it takes. */
static void read_size(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    struct step_rule digits = *rule;
    enum step_size size = STEP_SIZE_FIXED;
    if (rule->value_length > 2 && memcmp(rule->value + rule->value_length - 2, "..", 2) == 0) {
        size = STEP_SIZE_START;
        digits.value_length -= 2;
    } else if (rule->value_length > 1 && rule->value[rule->value_length - 1] == '+') {
        size = STEP_SIZE_MIN;
        digits.value_length--;
    }
    uint64_t bytes = number(&digits, 0);
    bool good = bytes >= 1 && bytes <= 8;
    field_coding->policy.size = good ? size : STEP_SIZE_CREEP;
    field_coding->policy.bytes = good ? (unsigned) bytes : 0;
}

static void read_charset(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->charset = step_charset_find(rule->value, rule->value_length);
}

static void read_type(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->type_varies = step_rule_text_is(rule->value, rule->value_length, "variable");
}

static void read_time(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    read_unsigned(field_coding, rule);
    field_coding->is_time = true;
}

static void read_thread(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    read_unsigned(field_coding, rule);
    field_coding->is_thread = true;
}

/* Strategies that are not here are left to those who know them: every column tells in the file
 * how it was written. */
static const struct {
    const char *group;
    const char *key;
    void (*read)(struct step_field_coding *field_coding, const struct step_rule *rule);
} rows[] = {
    {"encoding", "identifier", read_identifier},
    {"encoding", "constant", read_constant},
    {"encoding", "default", read_default},
    {"encoding", "delta", read_delta},
    {"encoding", "stride", read_stride},
    {"encoding", "offset", read_offset},
    {"encoding", "window", read_window},
    {"encoding", "given", read_given},
    {"encoding", "context", read_context},
    {"encoding", "fcm", read_context},
    {"encoding", "dfcm", read_dfcm},
    {"encoding", "recent", read_recent},
    {"encoding", "stack", read_stack},
    {"encoding", "age", read_age},
    {"encoding", "sequence", read_sequence},
    {"encoding", "live", read_live},
    {"encoding", "resolution", read_resolution},
    {"encoding", "prefix", read_prefix},
    {"encoding", "strings", read_strings},
    {"encoding", "size", read_size},
    {"encoding", "unsigned", read_unsigned},
    {"encoding", "charset", read_charset},
    {"encoding", "type", read_type},
    {"property", "unsigned", read_unsigned},
    {"property", "address", read_unsigned},
    {"property", "time", read_time},
    {"property", "thread", read_thread},
};

/* False for a rule that is not known. */
static bool read_rule(const char *group, const struct step_rule *rule,
                      struct step_field_coding *field_coding)
{
    bool known = false;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].group, group) == 0 &&
            step_rule_text_is(rule->key, rule->key_length, rows[i].key)) {
            rows[i].read(field_coding, rule);
            known = true;
        }
    return known;
}

void step_field_coding_read(const struct step_attributes *attributes,
                            struct step_field_coding *field_coding)
{
    struct step_rule rule;
    for (size_t i = 0; i < attributes->count; i++) {
        const char *at = attributes->items[i].value, *end = at + strlen(at);
        while (step_rule_next(&at, end, &rule))
            read_rule(attributes->items[i].group, &rule, field_coding);
    }
}

static const char *const general_names[] = {"", "identifier", "constant", "default"};

static const struct {
    const char *name;
    bool has_parameter;
} targeted_names[] = {
    [STEP_TARGETED_NONE] = {"", false}, [STEP_DELTA] = {"delta", true},
    [STEP_STRIDE] = {"stride", true},   [STEP_OFFSET] = {"offset", true},
    [STEP_WINDOW] = {"window", true},   [STEP_GIVEN] = {"given", false},
    [STEP_CONTEXT] = {"context", true}, [STEP_DFCM] = {"dfcm", true},
    [STEP_RECENT] = {"recent", true},   [STEP_STACK] = {"stack", false},
    [STEP_AGE] = {"age", false},        [STEP_SEQUENCE] = {"sequence", false},
    [STEP_LIVE] = {"live", false},
};

static const char *const size_endings[] = {"", "", "..", "+"};

bool step_policy_print(const struct step_policy *policy, struct step_buffer *out)
{
    char text[192];
    size_t room = sizeof text;
    size_t length = 0;
    const char *name = targeted_names[policy->targeted].name;
    if (policy->general != STEP_GENERAL_NONE)
        length += (size_t) snprintf(text, room, ",%s", general_names[policy->general]);
    if (targeted_names[policy->targeted].has_parameter)
        length += (size_t) snprintf(text + length, room - length, ",%s=%" PRIu64, name,
                                    policy->parameter);
    else if (policy->targeted != STEP_TARGETED_NONE)
        length += (size_t) snprintf(text + length, room - length, ",%s", name);
    if (policy->size != STEP_SIZE_CREEP)
        length += (size_t) snprintf(text + length, room - length, ",size=%u%s", policy->bytes,
                                    size_endings[policy->size]);
    if (policy->resolution > 1)
        length += (size_t) snprintf(text + length, room - length, ",resolution=%" PRIu64,
                                    policy->resolution);
    if (policy->strings != 0)
        length += (size_t) snprintf(text + length, room - length, ",strings=%s",
                                    string_names[policy->strings - 1].name);
    if (policy->is_unsigned)
        length += (size_t) snprintf(text + length, room - length, ",unsigned");
    size_t comma = length > 0;
    return step_buffer_append_varint(out, length - comma) &&
           step_buffer_append(out, text + comma, length - comma);
}

bool step_policy_parse(const char *text, size_t text_length, struct step_policy *policy,
                       const char **unknown, size_t *length)
{
    struct step_field_coding field_coding = {0};
    const char *end = text + text_length;
    struct step_rule rule;
    *unknown = NULL;
    while (step_rule_next(&text, end, &rule))
        if (!read_rule("encoding", &rule, &field_coding)) {
            *unknown = rule.text;
            *length = rule.length;
            return false;
        }
    *policy = field_coding.policy;
    return true;
}
