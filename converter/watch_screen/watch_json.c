/* SPDX-License-Identifier: Apache-2.0 */
/* The same figures as the screen's, unrounded. */
#include "converter/watch_screen/watch_json.h"

#include <string.h>

#include "format/json/json_output.h"
#include "steptrace/text.h"

#define CURVE_POINTS 100u

static const char *const plurals[WATCH_AXES] = {"classes", "sites", "threads", "methods"};

static void put_sums(struct json_output *json, const struct watch_sums *sums)
{
    json_number(json, "allocated_objects", sums->objects);
    json_number(json, "allocated_bytes", sums->bytes);
    json_number(json, "freed_objects", sums->freed_objects);
    json_number(json, "freed_bytes", sums->freed_bytes);
    json_number(json, "live_objects", watch_live_objects(sums));
    json_number(json, "live_bytes", watch_live_bytes(sums));
    json_number(json, "calls", sums->calls);
}

static void put_rates(const struct watch_view *view, struct json_output *json)
{
    struct watch_rates rates = watch_view_rates(view);
    if (rates.seconds <= 0)
        return;
    json_begin_object(json, "a_second");
    json_real(json, "seconds", rates.seconds);
    json_real(json, "allocated_bytes", rates.bytes);
    json_real(json, "allocated_objects", rates.objects);
    json_real(json, "freed_objects", rates.freed_objects);
    json_real(json, "calls", rates.calls);
    json_end_object(json);
}

static void put_curve(const struct watch_feed *feed, struct json_output *json)
{
    uint64_t levels[CURVE_POINTS];
    uint64_t until_ns =
        feed->tail.last_ns > feed->model.last_ns ? feed->tail.last_ns : feed->model.last_ns;
    watch_feed_curve(feed, until_ns, levels, CURVE_POINTS);
    json_begin_object(json, "live_bytes_over_time");
    json_number(json, "until_ns", until_ns);
    json_begin_array(json, "bytes");
    for (size_t i = 0; i < CURVE_POINTS; i++)
        json_number(json, NULL, levels[i]);
    json_end_array(json);
    json_end_object(json);
}

static bool put_table(struct watch_view *view, enum watch_axis axis, size_t top,
                      struct json_output *json)
{
    double seconds = watch_view_rates(view).seconds;
    const struct watch_order order = {
        .axis = axis, .by = view->by[axis], .name = view->name, .seconds = seconds};
    char name[WATCH_NAME_TEXT];
    if (!watch_table_make(&view->table, view->feed, &order))
        return false;
    json_begin_array(json, plurals[axis]);
    for (size_t i = 0; i < view->table.count && (top == 0 || i < top); i++) {
        const struct watch_line *line = &view->table.lines[i];
        size_t length = watch_name(view->feed, axis, line->id, name, sizeof name);
        json_begin_object(json, NULL);
        json_bytes(json, "name", (struct step_bytes){(const uint8_t *) name, length});
        put_sums(json, &line->now);
        if (seconds > 0)
            json_real(json, axis == WATCH_METHODS ? "calls_a_second" : "bytes_a_second",
                      line->rate);
        json_end_object(json);
    }
    json_end_array(json);
    return true;
}

bool watch_print_json(struct watch_view *view, size_t top, FILE *out)
{
    static const char *const states[] = {"running", "ended", "cut"};
    struct watch_feed *feed = view->feed;
    struct json_output json;
    json_init(&json, out);
    json_begin_object(&json, NULL);
    json_text(&json, "trace", feed->tail.path);
    json_text(&json, "state", states[feed->tail.state]);
    if (view->pid != 0)
        json_number(&json, "process", (uint64_t) view->pid);
    json_number(&json, "time_ns",
                feed->tail.last_ns > feed->model.last_ns ? feed->tail.last_ns
                                                         : feed->model.last_ns);
    json_number(&json, "events_in_file", feed->tail.events);
    json_number(&json, "dropped", feed->tail.dropped);
    json_number(&json, "damaged", step_reader_damage_count(watch_feed_reader(feed)));
    json_bool(&json, "exact", watch_feed_is_exact(feed));
    json_real(&json, "read", watch_feed_progress(feed) / feed->model.stride);
    json_begin_object(&json, "total");
    put_sums(&json, &view->total);
    json_end_object(&json);
    put_rates(view, &json);
    put_curve(feed, &json);
    bool ok = true;
    for (int axis = 0; axis < WATCH_AXES && ok; axis++)
        ok = put_table(view, (enum watch_axis) axis, top, &json);
    json_end_object(&json);
    json_finish(&json);
    return ok;
}
