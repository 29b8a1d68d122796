/* SPDX-License-Identifier: Apache-2.0 */
/* Parser for the rules in an attribute's value: "key, key=value, key value", separated by
 * commas. */
#ifndef FORMAT_CORE_RULE_H
#define FORMAT_CORE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Parts of the text, not NUL-terminated, without surrounding blanks; `value` may be empty. */
struct step_rule {
    const char *text, *key, *value;
    size_t length, key_length, value_length;
};

static inline bool step_rule_is_blank(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* Reads the rule at *at and moves behind it.  Returns false at the end. */
static inline bool step_rule_next(const char **at, const char *end, struct step_rule *rule)
{
    if (*at >= end)
        return false;
    const char *text = *at, *comma = memchr(text, ',', (size_t) (end - text));
    const char *stop = comma != NULL ? comma : end;
    *at = stop + (comma != NULL);
    rule->text = text;
    rule->length = (size_t) (stop - text);
    while (text < stop && step_rule_is_blank(*text))
        text++;
    rule->key = text;
    while (text < stop && *text != '=' && !step_rule_is_blank(*text))
        text++;
    rule->key_length = (size_t) (text - rule->key);
    while (text < stop && step_rule_is_blank(*text))
        text++;
    text += text < stop && *text == '=';
    while (text < stop && step_rule_is_blank(*text))
        text++;
    while (stop > text && step_rule_is_blank(stop[-1]))
        stop--;
    rule->value = text;
    rule->value_length = (size_t) (stop - text);
    return true;
}

static inline bool step_rule_text_is(const char *bytes, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(text, bytes, length) == 0;
}

#endif
