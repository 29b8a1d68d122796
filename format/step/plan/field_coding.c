/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interprets encoding attributes: the strategies and properties, one row each.
 *
 * One rule fills in two things: hints of what to try for columns (`column`), and the policy that
 * rows follow (`policy`). The text of a policy in a block of rows is read by the same rows, so both
 * understand the same names.  An unknown rule in a definition is ignored, as it can only be a hint;
 * an unknown rule in a block's directory is an error, as the bytes follow it.
 *
 * The paper's precedence (Appendix B) is in the shape of `policy`: one general strategy, one
 * targeted strategy, basic rules.  A rule overwrites an earlier one of its category and leaves the
 * others alone, so the most recent of each remains.  Columns need no precedence, because the writer
 * compares what the hints name; `column` therefore collects them.
 *
 * Texts are borrowed from the definition: `given` and `linked` point into it, and the plan that
 * keeps them must not outlive it.
 */
#include "format/step/plan/field_coding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"
#include "format/codec/strategies/policy.h"
#include "format/core/rule.h"

/* Parses a decimal number with an optional sign, modulo 2^64.  Numbers wrap around: arithmetic on
 * values does, too, so `offset=-5` and `offset=18446744073709551611` are the same.  A text that is
 * no number gives `otherwise`: an attribute is a hint, and a bad hint must not make a trace
 * unreadable. */
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

/* Entries are counted from 1, so their numbers have no sign: plain values need no zigzag. */
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

/* Sets a targeted strategy.  One that uses another field or record applies only if that is found
 * (plan_given.c): here the other record may not have been planned yet, so only its name is kept.
 *
 * A parameter with a limit is the length of a list: of the values before, for `context`, or of
 * those to choose from, for `recent`.  It is brought into its range instead of being refused.  The
 * rule may also come from a block of rows, where a hostile text could ask for any size. */
static void read_targeted(struct step_field_coding *field_coding, enum step_targeted targeted,
                          const struct step_rule *rule)
{
    const struct step_strategy *strategy = step_strategies[targeted];
    uint64_t parameter =
        strategy->parameter != STEP_PARAMETER_NONE ? number(rule, strategy->usual_parameter) : 0;
    if (strategy->parameter_max != 0)
        parameter = parameter < 1                         ? 1
                    : parameter > strategy->parameter_max ? strategy->parameter_max
                                                          : parameter;
    field_coding->policy.targeted = targeted;
    field_coding->policy.parameter = parameter;
    if (strategy->needs == STEP_SERIES_NONE) {
        step_hints_add(&field_coding->column, targeted, parameter);
        return;
    }
    field_coding->given_by = targeted;
    field_coding->given = rule->value;
    field_coding->given_length = rule->value_length;
}

/* A resolution is 2 to 2^63 - 1.  The number of digits is limited first, since number() wraps: 20
 * digits could come out as a small number that nobody wrote. */
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

/* Sets how strings are stored in rows, from the attributes of their lengths. */
static void read_strings(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    for (size_t i = 0; i < sizeof string_names / sizeof string_names[0]; i++)
        if (step_rule_text_is(rule->value, rule->value_length, string_names[i].name))
            field_coding->policy.strings = string_names[i].flags;
}

static void read_unsigned(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->column.is_signed = false;
    field_coding->policy.is_unsigned = true;
}

/* Parses a size: "4" always that many bytes, "4.." at first, "4+" usually, "creep" as many as
 * needed (paper, B.2.2).  Values have 64 bits, so another size than 1 to 8 means nothing; the
 * paper's default rule, creep, takes its place. */
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

static void read_numbered(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    (void) rule;
    field_coding->numbered = true;
}

static void read_linked(struct step_field_coding *field_coding, const struct step_rule *rule)
{
    field_coding->linked = rule->value;
    field_coding->linked_length = rule->value_length;
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

/* Rules besides the targeted strategies.  Unknown strategies are ignored; every column's coding is
 * described in the file. */
static const struct {
    const char *group;
    const char *key;
    void (*read)(struct step_field_coding *field_coding, const struct step_rule *rule);
} rows[] = {
    {"encoding", "identifier", read_identifier},
    {"encoding", "constant", read_constant},
    {"encoding", "default", read_default},
    {"encoding", "resolution", read_resolution},
    {"encoding", "prefix", read_prefix},
    {"encoding", "strings", read_strings},
    {"encoding", "size", read_size},
    {"encoding", "unsigned", read_unsigned},
    {"encoding", "charset", read_charset},
    {"encoding", "type", read_type},
    {"encoding", "numbered", read_numbered},
    {"encoding", "linked", read_linked},
    {"property", "unsigned", read_unsigned},
    {"property", "address", read_unsigned},
    {"property", "time", read_time},
    {"property", "thread", read_thread},
};

/* Returns false for an unknown rule. */
static bool read_rule(const char *group, const struct step_rule *rule,
                      struct step_field_coding *field_coding)
{
    enum step_targeted targeted = strcmp(group, "encoding") == 0
                                      ? step_strategy_find(rule->key, rule->key_length)
                                      : STEP_TARGETED_NONE;
    bool known = targeted != STEP_TARGETED_NONE;
    if (known)
        read_targeted(field_coding, targeted, rule);
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

static const char *const size_endings[] = {"", "", "..", "+"};

/* The text begins with a comma for each rule, and the first comma is left out at the end: no rule
 * needs to know whether it is the first.  192 bytes are enough for one rule of each category with
 * numbers of 20 digits.  What is printed here must be read back by step_policy_parse() as the same
 * policy, because rows are decoded by it: a rule that is added to one goes into the other. */
bool step_policy_print(const struct step_policy *policy, struct step_buffer *out)
{
    char text[192];
    size_t room = sizeof text;
    size_t length = 0;
    const struct step_strategy *strategy = step_policy_strategy(policy);
    if (policy->general != STEP_GENERAL_NONE)
        length += (size_t) snprintf(text, room, ",%s", general_names[policy->general]);
    if (strategy->parameter != STEP_PARAMETER_NONE)
        length += (size_t) snprintf(text + length, room - length, ",%s=%" PRIu64, strategy->name,
                                    policy->parameter);
    else if (policy->targeted != STEP_TARGETED_NONE)
        length += (size_t) snprintf(text + length, room - length, ",%s", strategy->name);
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

/* Only the group `encoding` is looked up: a property has no place in a policy.  The hints for
 * columns, which the rules fill in as well, are dropped with the local variable, and with them the
 * names that point into the block's bytes. */
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
