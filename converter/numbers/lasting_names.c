/* SPDX-License-Identifier: Apache-2.0 */
/* Removes the parts of names that differ from run to run. */
#include "converter/numbers/lasting_names.h"

#include <stdbool.h>
#include <string.h>

#define DIGITS "0123456789"
#define HEX DIGITS "abcdef"
#define WORD DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* After `mark`, characters of `varying` are replaced by `instead`. */
static const struct rule {
    const char *mark;
    const char *varying;
    const char *instead;
} rules[] = {
    {".0x", HEX, NULL}, /* hidden classes with their address: removed */
    {"+0x", HEX, NULL},
    {"/0x", HEX, NULL},
    {"$$Lambda$", DIGITS "/", NULL},
    {"$$Lambda/", HEX "x", NULL},
    {"$Proxy", DIGITS, "#"},
    {"jdk/proxy", DIGITS, "#"},
    {"GeneratedMethodAccessor", DIGITS, "#"},
    {"GeneratedConstructorAccessor", DIGITS, "#"},
    {"GeneratedSerializationConstructorAccessor", DIGITS, "#"},
    {"CGLIB$$", HEX, "#"},
    {"$ByteBuddy$", WORD, "#"},
    {"$MockitoMock$", WORD, "#"},
    {"$HibernateProxy$", WORD, "#"},
    {"$auxiliary$", WORD, "#"},
};

/* Returns the rule whose mark is at this position, and the length of the varying part after it. */
static const struct rule *rule_at(struct step_bytes name, size_t at, size_t *mark, size_t *varies)
{
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        *mark = strlen(rules[i].mark);
        if (name.length - at <= *mark || memcmp(name.data + at, rules[i].mark, *mark) != 0)
            continue;
        size_t end = at + *mark;
        while (end < name.length && name.data[end] != 0 &&
               strchr(rules[i].varying, name.data[end]) != NULL)
            end++;
        *varies = end - at - *mark;
        if (*varies > 0)
            return &rules[i];
    }
    return NULL;
}

static size_t append(char *out, size_t used, size_t out_size, const void *text, size_t length)
{
    if (length > out_size - used)
        length = out_size - used;
    memcpy(out + used, text, length);
    return used + length;
}

size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t at = 0; at < name.length;) {
        size_t mark, varies;
        const struct rule *rule = rule_at(name, at, &mark, &varies);
        if (rule == NULL) {
            used = append(out, used, out_size, name.data + at++, 1);
            continue;
        }
        /* Without a replacement, the separator before the varying part is removed as well. */
        bool is_named = rule->mark[0] == '$';
        if (rule->instead != NULL)
            used = append(out, used, out_size, rule->mark, mark);
        else if (is_named)
            used = append(out, used, out_size, rule->mark, mark - 1);
        if (rule->instead != NULL)
            used = append(out, used, out_size, rule->instead, strlen(rule->instead));
        at += mark + varies;
    }
    return used;
}

size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t at = 0; at < name.length; at++) {
        bool is_digit = name.data[at] >= '0' && name.data[at] <= '9';
        if (!is_digit)
            used = append(out, used, out_size, name.data + at, 1);
        else if (at == 0 || name.data[at - 1] < '0' || name.data[at - 1] > '9')
            used = append(out, used, out_size, "#", 1);
    }
    return used;
}
