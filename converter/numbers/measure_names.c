/* SPDX-License-Identifier: Apache-2.0 */
/* Builds row names, either stable from run to run or exact. */
#include "converter/numbers/measure_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

static struct step_bytes text_of(const char *text, size_t length)
{
    return (struct step_bytes){(const uint8_t *) text, length};
}

static size_t class_text(const struct measures *measures, const struct trace_names *names,
                         uint32_t id, char *out, size_t out_size)
{
    struct step_bytes name = trace_class_of(names, id)->name;
    if (!measures->exact_names)
        return lasting_class_name(name, out, out_size);
    size_t length = name.length < out_size ? name.length : out_size;
    if (length > 0)
        memcpy(out, name.data, length);
    return length;
}

uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    return measures_row(measures, AXIS_CLASS, 0,
                        text_of(text, class_text(measures, names, id, text, sizeof text)));
}

uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    const struct trace_thread *thread = trace_thread_of(names, id);
    size_t length;
    if (id == 0)
        length = (size_t) snprintf(text, sizeof text, "(the VM, or not known)");
    else if (measures->exact_names)
        length =
            (size_t) snprintf(text, sizeof text, "%" PRIu64 " %.*s", thread->number,
                              (int) (thread->name.length < 900 ? thread->name.length : 900),
                              thread->name.data != NULL ? (const char *) thread->name.data : "");
    else
        length = thread->name.length > 0 ? lasting_thread_name(thread->name, text, sizeof text)
                                         : (size_t) snprintf(text, sizeof text, "(no name)");
    return measures_row(measures, AXIS_THREAD, 0, text_of(text, length));
}

size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                           uint32_t id, char *out, size_t out_size)
{
    const struct trace_method *method = trace_method_of(names, id);
    size_t used = method->class_id != 0
                      ? class_text(measures, names, method->class_id, out, out_size / 2)
                      : 0;
    if (used > 0)
        out[used++] = '.';
    size_t length = method->name.length < out_size - used ? method->name.length : out_size - used;
    if (length > 0)
        memcpy(out + used, method->name.data, length);
    return used + length;
}

uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites)
{
    static const struct step_bytes nowhere = {(const uint8_t *) "(no stack)", 10};
    char text[LASTING_NAME_MOST];
    uint32_t *rows = calloc(sites->count, sizeof *rows);
    bool ok = rows != NULL;
    for (size_t i = 1; ok && i < sites->count; i++) {
        const struct heap_site *site = &sites->items[i];
        size_t used =
            measure_method_text(measures, sites->names, site->method_id, text, sizeof text - 24);
        if (measures->with_lines)
            used += frame_place_text(
                (struct frame_place){.line = site->line, .bytecode = site->bytecode}, text + used,
                sizeof text - used);
        rows[i] = measures_row(measures, AXIS_SITE, rows[site->parent], text_of(text, used));
        ok = rows[i] != 0;
    }
    if (ok)
        rows[0] = measures_row(measures, AXIS_SITE, 0, nowhere);
    if (ok && rows[0] != 0)
        return rows;
    free(rows);
    return NULL;
}

/* ---- stacks of different depth ---- */

static uint64_t depth_of(const struct measures *measures, uint32_t row)
{
    uint64_t depth = 0;
    for (; row != 0; row = measures_parent(measures, row))
        depth++;
    return depth;
}

/* Returns the row of the site's innermost `depth` frames, or 0 if memory runs out. */
static uint32_t cut_row(struct measures *measures, uint32_t row, uint64_t depth)
{
    uint32_t parent = measures_parent(measures, row), cut_parent = 0;
    if (parent != 0 && depth > 1) {
        cut_parent = cut_row(measures, parent, depth - 1);
        if (cut_parent == 0)
            return 0;
    }
    return measures_row(measures, AXIS_SITE, cut_parent, measures_text(measures, AXIS_SITE, row));
}

static void move_sums(struct measures *measures, uint32_t from, uint32_t to)
{
    for (size_t run = 0; run < measures->run_count; run++) {
        uint64_t *old = measures_sums(measures, AXIS_SITE, from, run);
        uint64_t *sums = measures_sums(measures, AXIS_SITE, to, run);
        double *old_variances = measures_variances(measures, AXIS_SITE, from, run);
        double *variances = measures_variances(measures, AXIS_SITE, to, run);
        for (size_t i = 0; i < SUM_COUNT; i++) {
            sums[i] += old[i];
            old[i] = 0;
        }
        for (size_t i = 0; variances != NULL && i < SUM_COUNT; i++) {
            variances[i] += old_variances[i];
            old_variances[i] = 0;
        }
    }
}

bool measures_cut_sites(struct measures *measures, uint64_t depth)
{
    size_t count = measures_count(measures, AXIS_SITE);
    for (uint32_t row = 1; row <= count; row++) {
        if (depth_of(measures, row) <= depth)
            continue;
        uint32_t cut = cut_row(measures, row, depth);
        if (cut == 0)
            return false;
        move_sums(measures, row, cut);
    }
    return true;
}
