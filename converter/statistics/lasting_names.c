/* SPDX-License-Identifier: Apache-2.0 */
/* Makes names that differ from run to run equal. */
#include "converter/statistics/lasting_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/files/trace_gap.h"
#include "converter/trace/missed_objects.h"
#include "converter/trace/unmatched.h"

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
        if (rules[i].mark[0] != (char) name.data[at])
            continue;
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

static size_t lasting_append(char *out, size_t used, size_t out_size, const void *text,
                             size_t length)
{
    if (length > out_size - used)
        length = out_size - used;
    if (length > 0)
        memcpy(out + used, text, length);
    return used + length;
}

/* Each site asks for the name of its class, and a name may have 65,535 bytes: only the first are
 * looked at, which is more than any result has room for. */
#define CLASS_NAME_READ (2 * LASTING_NAME_MOST)

size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    if (name.length > CLASS_NAME_READ)
        name.length = CLASS_NAME_READ;
    for (size_t at = 0; at < name.length && used < out_size;) {
        size_t mark, varies;
        const struct rule *rule = rule_at(name, at, &mark, &varies);
        if (rule == NULL) {
            used = lasting_append(out, used, out_size, name.data + at++, 1);
            continue;
        }
        /* Without a replacement, the separator before the varying part is removed as well. */
        bool is_named = rule->mark[0] == '$';
        if (rule->instead != NULL)
            used = lasting_append(out, used, out_size, rule->mark, mark);
        else if (is_named)
            used = lasting_append(out, used, out_size, rule->mark, mark - 1);
        if (rule->instead != NULL)
            used = lasting_append(out, used, out_size, rule->instead, strlen(rule->instead));
        at += mark + varies;
    }
    return used;
}

size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t at = 0; at < name.length && used < out_size; at++) {
        bool is_digit = name.data[at] >= '0' && name.data[at] <= '9';
        if (!is_digit)
            used = lasting_append(out, used, out_size, name.data + at, 1);
        else if (at == 0 || name.data[at - 1] < '0' || name.data[at - 1] > '9')
            used = lasting_append(out, used, out_size, "#", 1);
    }
    return used;
}

static struct step_bytes name_text(const char *text, size_t length)
{
    return (struct step_bytes){(const uint8_t *) text, length};
}

static size_t class_text(const struct measures *measures, const struct trace_names *names,
                         uint32_t id, char *out, size_t out_size)
{
    struct step_bytes name = trace_class_of(names, id)->name;
    if (!measures->exact_names)
        return lasting_class_name(name, out, out_size);
    return lasting_append(out, 0, out_size, name.data, name.length);
}

uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    return measures_row(measures, AXIS_CLASS, 0,
                        name_text(text, class_text(measures, names, id, text, sizeof text)));
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
    return measures_row(measures, AXIS_THREAD, 0, name_text(text, length));
}

static size_t measure_method_text(const struct measures *measures, const struct trace_names *names,
                                  uint32_t id, char *out, size_t out_size)
{
    const struct trace_method *method = trace_method_of(names, id);
    size_t used = method->class_id != 0
                      ? class_text(measures, names, method->class_id, out, out_size / 2)
                      : 0;
    if (used > 0)
        out[used++] = '.';
    return lasting_append(out, used, out_size, method->name.data, method->name.length);
}

uint32_t measure_method_row(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[2 * LASTING_NAME_MOST];
    struct step_bytes descriptor = trace_method_of(names, id)->descriptor;
    size_t used = measure_method_text(measures, names, id, text, LASTING_NAME_MOST);
    size_t length = descriptor.length < sizeof text - used ? descriptor.length : sizeof text - used;
    if (length > 0)
        memcpy(text + used, descriptor.data, length);
    return measures_row(measures, AXIS_METHOD, 0,
                        (struct step_bytes){(const uint8_t *) text, used + length});
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
        rows[i] = measures_row(measures, AXIS_SITE, rows[site->parent], name_text(text, used));
        ok = rows[i] != 0;
    }
    if (ok)
        rows[0] = measures_row(measures, AXIS_SITE, 0, nowhere);
    if (ok && rows[0] != 0)
        return rows;
    free(rows);
    return NULL;
}

/* ---- names without rows ---- */

static bool note_name(struct measures *measures, enum measure_axis axis, struct step_bytes text)
{
    bool is_new;
    return name_index_put(&measures->known[axis], 0, text, &is_new) != 0;
}

/* With its name, and with the one that a row would have. */
static bool note_thread(struct measures *measures, const struct trace_names *names, uint32_t id)
{
    char text[LASTING_NAME_MOST];
    struct step_bytes name = trace_thread_of(names, id)->name;
    size_t length = lasting_thread_name(name, text, sizeof text);
    return note_name(measures, AXIS_THREAD, name) &&
           note_name(measures, AXIS_THREAD, (struct step_bytes){(const uint8_t *) text, length});
}

const char *measures_find_lack(const struct event_source *source,
                               const struct event_selection *selected)
{
    const char *early = trace_gap_any_early(event_source_property(source, "end").unshown);
    return early != NULL ? early : missed_objects_of(source, &selected->phases);
}

void measures_note_lack(struct measures *measures, const char *lack)
{
    measures->lack = lack != NULL ? lack : measures->lack;
}

bool measures_note_names(struct measures *measures, const struct trace_names *names,
                         const struct event_selection *selected, bool is_empty)
{
    char text[2 * LASTING_NAME_MOST];
    bool ok = true;
    for (uint32_t id = 0; ok && id_table_next(&names->classes, &id); id++)
        ok = !trace_class_of(names, id)->known ||
             note_name(measures, AXIS_CLASS, trace_class_of(names, id)->name);
    for (uint32_t id = 0; ok && id_table_next(&names->threads, &id); id++)
        ok = !trace_thread_of(names, id)->known || note_thread(measures, names, id);
    for (uint32_t id = 0; ok && id_table_next(&names->methods, &id); id++) {
        const struct trace_method *method = trace_method_of(names, id);
        struct step_bytes class = trace_class_of(names, method->class_id)->name;
        int length =
            snprintf(text, sizeof text, "%.*s.%.*s", (int) class.length, (const char *) class.data,
                     (int) method->name.length, (const char *) method->name.data);
        if (method->known && length > 0 && (size_t) length < sizeof text)
            ok = note_name(measures, AXIS_METHOD,
                           (struct step_bytes){(const uint8_t *) text, (size_t) length});
    }
    measures->is_unmatched = (measures->run_count == 0 || measures->is_unmatched) &&
                             !selection_is_matched(names, selected, is_empty);
    return ok;
}
