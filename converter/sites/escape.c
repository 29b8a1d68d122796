/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of classes and bytecode indexes, with what the log says of each. */
#include "converter/sites/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the method of a frame in the log. */
static uint32_t method_in_log(const struct jit_log *log, const struct trace_names *names,
                              uint32_t method_id)
{
    const struct trace_method *method = trace_method_of(names, method_id);
    const struct step_bytes class = trace_class_of(names, method->class_id)->name;
    char text[16384];
    int length =
        snprintf(text, sizeof text, "%.*s %.*s %.*s", (int) class.length, (const char *) class.data,
                 (int) method->name.length, (const char *) method->name.data,
                 (int) method->descriptor.length, (const char *) method->descriptor.data);
    if (length < 0 || (size_t) length >= sizeof text)
        return 0;
    return jit_log_method(log, (struct step_bytes){(const uint8_t *) text, (size_t) length});
}

/* The JVM makes other objects at a bytecode that it meets for the first time. */
static bool is_class(const struct jit_log *log, uint32_t text, struct step_bytes name)
{
    if (text == 0)
        return true;
    const struct step_bytes known = log->texts.entries[text].text;
    return known.length == name.length && memcmp(known.data, name.data, name.length) == 0;
}

static struct jit_place *place_of(const struct jit_log *log, const struct trace_names *names,
                                  const struct trace_frame *frame, struct step_bytes class)
{
    if (!frame->known || frame->bytecode == 0)
        return NULL;
    struct jit_place *place =
        jit_log_place(log, method_in_log(log, names, frame->method_id), frame->bytecode - 1);
    if (place == NULL || !is_class(log, place->class, class))
        return NULL;
    place->matched = true;
    return place;
}

/* What a native method makes that the compiler knows is removed with the call that makes it: the
 * log names the caller. */
static bool is_removed_by_caller(const struct jit_log *log, const struct trace_names *names,
                                 const struct trace_frame *frame, struct step_bytes class)
{
    const struct trace_frame *caller = trace_frame_of(names, frame->parent);
    const struct jit_place *place = frame->parent != 0 ? place_of(log, names, caller, class) : NULL;
    return place != NULL && (place->by_call || frame->bytecode == 0);
}

/* C2 also removes whole calls of valueOf() of a class of boxes, without an entry in the log. */
static bool is_box(const struct trace_names *names, const struct trace_frame *frame,
                   struct step_bytes class)
{
    static const char *const boxes[] = {"Boolean", "Byte",    "Character", "Double",
                                        "Float",   "Integer", "Long",      "Short"};
    static const char package[] = "java/lang/";
    size_t prefix = sizeof package - 1;
    const struct step_bytes name = trace_method_of(names, frame->method_id)->name;
    if (name.length != 7 || memcmp(name.data, "valueOf", 7) != 0 || class.length <= prefix ||
        memcmp(class.data, package, prefix) != 0)
        return false;
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; i++)
        if (strlen(boxes[i]) == class.length - prefix &&
            memcmp(class.data + prefix, boxes[i], class.length - prefix) == 0)
            return true;
    return false;
}

static int by_place(const void *left, const void *right)
{
    const struct escape_row *a = left, *b = right;
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id ? -1 : 1;
    if (a->method_id != b->method_id)
        return a->method_id < b->method_id ? -1 : 1;
    return a->bytecode < b->bytecode ? -1 : a->bytecode > b->bytecode;
}

static int by_bytes(const void *left, const void *right)
{
    const struct escape_row *a = left, *b = right;
    if (a->removed.bytes != b->removed.bytes)
        return a->removed.bytes > b->removed.bytes ? -1 : 1;
    if (a->made.bytes != b->made.bytes)
        return a->made.bytes > b->made.bytes ? -1 : 1;
    return by_place(left, right);
}

static void add(struct site_amount *sum, const struct site_amount *part)
{
    sum->objects += part->objects;
    sum->bytes += part->bytes;
}

/* C2's code does not count calls: what the log counts was in other code.  That allocates, if only
 * for the calls that C2's code does not serve. */
static void estimate(struct escape_row *row)
{
    const struct jit_place *place = row->place;
    row->estimate = -1;
    if (row->removed.objects == 0)
        row->estimate = 0;
    else if (place != NULL && place->partly == 0 && place->removed >= row->method->compiled &&
             row->removed.objects == row->made.objects) {
        double outside = (double) row->method->calls + (double) row->method->loops;
        double made = (double) row->made.objects;
        row->estimate = outside < made ? made - outside : 0;
    }
}

static void sum_up(struct escape_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct escape_row *row = &rows->items[i];
        estimate(row);
        add(&rows->made, &row->made);
        add(&rows->removed, &row->removed);
        if (row->estimate < 0)
            add(&rows->not_estimated, &row->removed);
        else if (row->estimate > 0) {
            rows->estimate_objects += row->estimate;
            rows->estimate_bytes +=
                row->estimate * ((double) row->made.bytes / (double) row->made.objects);
        }
    }
}

static void put_site(struct escape_row *row, const struct site_life *life,
                     const struct trace_names *names, const struct jit_log *log)
{
    const struct trace_frame *frame = trace_frame_of(names, life->key.stack_id);
    *row = (struct escape_row){.class_id = life->key.class_id, .made = life->born};
    if (life->key.stack_id == 0 || !frame->known)
        return;
    row->method_id = frame->method_id;
    row->bytecode = frame->bytecode;
    row->line = frame->line;
    uint32_t method = method_in_log(log, names, frame->method_id);
    row->method = method != 0 ? &log->methods[method] : NULL;
    const struct step_bytes class = trace_class_of(names, life->key.class_id)->name;
    row->place = place_of(log, names, frame, class);
    if (row->place != NULL || is_removed_by_caller(log, names, frame, class) ||
        (row->method != NULL && is_box(names, frame, class)))
        row->removed = life->born;
}

bool escape_join(struct escape_rows *rows, const struct site_lives *lives,
                 const struct trace_names *names, struct jit_log *log)
{
    *rows = (struct escape_rows){.items = calloc(lives->count + 1, sizeof *rows->items)};
    if (rows->items == NULL)
        return false;
    for (size_t i = 0; i < lives->count; i++) {
        put_site(&rows->items[i], &lives->items[i], names, log);
        if (rows->items[i].bytecode == 0)
            add(&rows->without_index, &rows->items[i].made);
    }
    if (lives->count > 0)
        qsort(rows->items, lives->count, sizeof *rows->items, by_place);
    for (size_t i = 0; i < lives->count; i++)
        if (rows->count > 0 && by_place(&rows->items[rows->count - 1], &rows->items[i]) == 0) {
            add(&rows->items[rows->count - 1].made, &rows->items[i].made);
            add(&rows->items[rows->count - 1].removed, &rows->items[i].removed);
        } else {
            rows->items[rows->count++] = rows->items[i];
        }
    sum_up(rows);
    if (rows->count > 0)
        qsort(rows->items, rows->count, sizeof *rows->items, by_bytes);
    for (size_t i = 1; i <= log->place_count; i++)
        rows->unmatched += !log->places[i].matched;
    return true;
}

void escape_reset(struct escape_rows *rows)
{
    free(rows->items);
}
