/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts and filters rows into the lines of a table. */
#include "analyses/watch/watch_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/stack_text.h"
#include "format/core/grow.h"
#include "steptrace/show.h"

/* ---- search in the names of rows ---- */

#define NAMES_AT_ONCE 64u /* between two checks of the clock */

enum { NOT_ASKED, MATCHES, DIFFERS };

void watch_search_reset(struct watch_search *search)
{
    if (search->text != NULL)
        id_table_reset(&search->answers);
    free(search->text);
    *search = (struct watch_search){.text = NULL};
}

bool watch_search_begin(struct watch_search *search, enum watch_axis axis, const char *text,
                        double slice_ns)
{
    if (search->text == NULL || search->axis != axis || strcmp(search->text, text) != 0) {
        watch_search_reset(search);
        search->text = strdup(text);
        if (search->text == NULL)
            return false;
        search->axis = axis;
        id_table_init(&search->answers, sizeof(uint8_t));
    }
    search->until_ns = watch_feed_cpu_ns() + slice_ns;
    search->asked = search->left = 0;
    return true;
}

bool watch_search_matches(struct watch_search *search, struct watch_feed *feed, uint32_t id)
{
    char name[WATCH_NAME_TEXT];
    uint8_t *answer = id_table_get(&search->answers, id);
    if (answer == NULL)
        return false;
    if (*answer == NOT_ASKED) {
        if (search->left > 0 || (search->asked++ % NAMES_AT_ONCE == NAMES_AT_ONCE - 1 &&
                                 watch_feed_cpu_ns() >= search->until_ns)) {
            search->left++;
            return false;
        }
        watch_name(feed, search->axis, id, name, sizeof name);
        *answer = strstr(name, search->text) != NULL ? MATCHES : DIFFERS;
    }
    return *answer == MATCHES;
}

#define FRAMES_SHOWN 16u
#define SEARCH_NS 50.0e6 /* processor time per look for names */

void watch_table_reset(struct watch_table *table)
{
    free(table->lines);
    watch_search_reset(&table->search);
    *table = (struct watch_table){.lines = NULL};
}

/* ---- names ---- */

static size_t watch_table_put_text(char *out, size_t out_size, size_t at, struct step_bytes text)
{
    return at < out_size ? at + step_show(text, out + at, out_size - at) : at;
}

static size_t put_plain(char *out, size_t out_size, size_t at, const char *text)
{
    return watch_table_put_text(out, out_size, at,
                                (struct step_bytes){(const uint8_t *) text, strlen(text)});
}

static size_t method_text(const struct watch_feed *feed, uint32_t id, struct frame_place place,
                          char room[FRAME_TEXT])
{
    const struct trace_method *method = trace_method_of(feed->model.names, id);
    struct step_bytes class_name = {NULL, 0};
    if (!feed->tail.is_heap) /* functions of native programs have no classes */
        class_name = trace_class_of(feed->model.names, method->class_id)->name;
    return frame_text(class_name, method->name, place, room, FRAME_TEXT);
}

static struct step_bytes watch_table_frame_of(const void *frames, uint64_t *id,
                                              char room[FRAME_TEXT])
{
    const struct watch_feed *feed = frames;
    const struct trace_frame *frame = trace_frame_of(feed->model.names, (uint32_t) *id);
    struct frame_place place =
        trace_place(feed->model.names, frame->method_id, frame->line, frame->bytecode);
    *id = frame->parent;
    return (struct step_bytes){(const uint8_t *) room,
                               method_text(feed, frame->method_id, place, room)};
}

static size_t watch_table_put_thread(struct watch_feed *feed, uint32_t id, char *out,
                                     size_t out_size)
{
    const struct trace_thread *thread = trace_thread_of(feed->model.names, id);
    char number[32];
    if (id == 0)
        return put_plain(out, out_size, 0, "(no thread)");
    snprintf(number, sizeof number, "%" PRIu64 " ", thread->known ? thread->number : id);
    return watch_table_put_text(out, out_size, put_plain(out, out_size, 0, number), thread->name);
}

size_t watch_name(struct watch_feed *feed, enum watch_axis axis, uint32_t id, char *out,
                  size_t out_size)
{
    static const int records[WATCH_AXES] = {STEP_JAVA_CLASS, STEP_JAVA_FRAME, STEP_JAVA_THREAD,
                                            STEP_JAVA_METHOD};
    char room[FRAME_TEXT];
    out[0] = '\0';
    if (!feed->tail.is_heap)
        stepfile_decoder_name(&feed->tail.decoder, records[axis], id);
    switch (axis) {
    case WATCH_CLASSES:
        return watch_table_put_text(out, out_size, 0, trace_class_of(feed->model.names, id)->name);
    case WATCH_SITES:
        return id == 0
                   ? 0
                   : stack_show((struct stack_text){watch_table_frame_of, feed, id, FRAMES_SHOWN},
                                out, out_size);
    case WATCH_THREADS:
        return watch_table_put_thread(feed, id, out, out_size);
    default:
        method_text(feed, id, (struct frame_place){.line = 0}, room);
        return watch_table_put_text(out, out_size, 0, step_text(room));
    }
}

/* ---- lines ---- */

static bool is_empty(const struct watch_line *line)
{
    return line->now.objects == 0 && line->now.existing_objects == 0 && line->now.calls == 0 &&
           line->now.freed_objects == 0;
}

static double watch_table_difference(uint64_t now, uint64_t before)
{
    return (double) now - (double) before;
}

static void watch_table_fill(struct watch_line *line, struct watch_feed *feed,
                             const struct watch_row *row, const struct watch_order *order)
{
    bool calls = order->axis == WATCH_METHODS, runs = feed->tail.state == WATCH_RUNNING;
    line->now = row->shown;
    line->growth = line->rate = 0;
    if (feed->model.has_mark)
        line->growth = calls ? watch_table_difference(line->now.calls, row->marked.calls)
                             : watch_table_difference(watch_live_bytes(&line->now),
                                                      watch_live_bytes(&row->marked));
    if (runs)
        line->rate = calls ? row->calls_rate : row->bytes_rate;
    else if (order->seconds > 0)
        line->rate = (double) (calls ? line->now.calls : line->now.bytes) / order->seconds;
}

static double sampled_key_of(const struct watch_model *model, const struct watch_line *line,
                             enum watch_column by)
{
    struct sample_sums live = {.samples = 0};
    if (watch_model_knows_deaths(model))
        live = watch_estimates_live(model, &line->estimates);
    switch (by) {
    case WATCH_LIVE_BYTES:
        return live.bytes;
    case WATCH_LIVE_OBJECTS:
        return live.objects;
    case WATCH_BYTES:
        return line->estimates.allocated.bytes;
    case WATCH_OBJECTS:
        return line->estimates.allocated.objects;
    default:
        return 0;
    }
}

double watch_line_value(const struct watch_line *line, enum watch_column by)
{
    switch (by) {
    case WATCH_LIVE_BYTES:
        return (double) watch_live_bytes(&line->now);
    case WATCH_LIVE_OBJECTS:
        return (double) watch_live_objects(&line->now);
    case WATCH_BYTES:
        return (double) line->now.bytes;
    case WATCH_OBJECTS:
        return (double) line->now.objects;
    case WATCH_RATE:
        return line->rate;
    case WATCH_GROWTH:
        return line->growth;
    case WATCH_CALLS:
        return (double) line->now.calls;
    default:
        return 0;
    }
}

static int compare_lines(const void *left, const void *right)
{
    const struct watch_line *a = left, *b = right;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if (a->now.bytes != b->now.bytes)
        return a->now.bytes > b->now.bytes ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

struct named {
    struct watch_line line;
    char *name;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* Builds names for the time of sorting.  If memory runs out, the order stays unchanged. */
static void sort_by_name(struct watch_table *table, struct watch_feed *feed, enum watch_axis axis)
{
    struct named *named = calloc(table->count + 1, sizeof *named);
    bool ok = named != NULL;
    char text[WATCH_NAME_TEXT];
    for (size_t i = 0; ok && i < table->count; i++) {
        watch_name(feed, axis, table->lines[i].id, text, sizeof text);
        named[i] = (struct named){table->lines[i], strdup(text)};
        ok = named[i].name != NULL;
    }
    if (ok) {
        qsort(named, table->count, sizeof *named, compare_names);
        for (size_t i = 0; i < table->count; i++)
            table->lines[i] = named[i].line;
    }
    for (size_t i = 0; named != NULL && i < table->count; i++)
        free(named[i].name);
    free(named);
}

static void reverse(struct watch_table *table)
{
    for (size_t i = 0; i < table->count / 2; i++) {
        struct watch_line line = table->lines[i];
        table->lines[i] = table->lines[table->count - 1 - i];
        table->lines[table->count - 1 - i] = line;
    }
}

static bool add_line(struct watch_table *table, const struct watch_line *line)
{
    if (!STEP_MAKE_ROOM(table->lines, table->capacity, table->count + 1))
        return false;
    table->lines[table->count++] = *line;
    return true;
}

bool watch_table_make(struct watch_table *table, struct watch_feed *feed,
                      const struct watch_order *order)
{
    const struct id_table *rows = &feed->model.rows[order->axis];
    bool searches = order->name != NULL && order->name[0] != '\0';
    table->count = table->search.left = 0;
    if (searches && !watch_search_begin(&table->search, order->axis, order->name, SEARCH_NS))
        return false;
    for (uint32_t id = 0; id_table_next(rows, &id); id++) {
        struct watch_line line = {.id = id};
        watch_table_fill(&line, feed, id_table_find(rows, id), order);
        const struct watch_estimates *estimates =
            id_table_find(&feed->model.estimates[order->axis], id);
        if (estimates != NULL)
            line.estimates = watch_estimates_now(&feed->model, estimates);
        line.key = watch_model_is_sampled(&feed->model)
                       ? sampled_key_of(&feed->model, &line, order->by)
                       : watch_line_value(&line, order->by);
        if (!is_empty(&line) && (!searches || watch_search_matches(&table->search, feed, id)) &&
            !add_line(table, &line))
            return false;
    }
    if (order->by == WATCH_NAME)
        sort_by_name(table, feed, order->axis);
    else if (table->count > 1)
        qsort(table->lines, table->count, sizeof *table->lines, compare_lines);
    if (order->reversed)
        reverse(table);
    return true;
}
