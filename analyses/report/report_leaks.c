/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the rows of `steptrace leaks` for the page.  Frames are numbered, since the sites of leaks
 * share most of them. */
#include "analyses/leaks/leak_rows.h"
#include "analyses/report/report_data.h"
#include "converter/numbers/quantity.h"
#include "format/json/json_output.h"

#define REPORT_LEAKS_SURVIVED UINT64_C(3) /* the default of the verb */
#define REPORT_LEAKS_MOST ((size_t) 50)
#define REPORT_LEAKS_FRAMES 24u

/* Returns the number of the frame without its callers. */
static uint32_t report_leaks_frame_of(const struct heap_sites *sites, uint32_t site,
                                      struct heap_sites *frames)
{
    struct heap_site frame = sites->items[site];
    frame.parent = 0;
    return heap_sites_put(frames, &frame);
}

static void report_leaks_put_row(struct json_output *json, const struct leak_tracker *tracker,
                                 const struct leak_row *row, bool by_site,
                                 struct heap_sites *frames)
{
    const struct heap_sites *sites = &tracker->heap.sites;
    unsigned depth = 0;
    json_begin_array(json, NULL);
    json_number(json, NULL, row->old.objects);
    json_number(json, NULL, row->old.bytes);
    json_real(
        json, NULL,
        time_of_age((double) row->old.ages_us / (double) row->old.objects, tracker->heap.unit));
    json_real(json, NULL, row->slope);
    json_real(json, NULL, row->fit);
    json_begin_array(json, NULL);
    for (uint32_t at = row->key.site; at != 0 && depth < REPORT_LEAKS_FRAMES; depth++) {
        json_number(json, NULL, report_leaks_frame_of(sites, at, frames));
        at = sites->items[at].parent;
    }
    json_end_array(json);
    if (by_site)
        json_null(json, NULL);
    else
        json_bytes(json, NULL, trace_class_of(sites->names, row->key.class_id)->name);
    json_numbers(json, NULL, row->series, tracker->sample_count, sizeof row->series[0]);
    json_end_array(json);
}

static void report_leaks_put_frames(struct json_output *json, const struct heap_sites *frames)
{
    json_begin_array(json, "frames");
    json_text(json, NULL, "");
    for (uint32_t i = 1; i < frames->count; i++) {
        char text[HEAP_SITE_TEXT];
        size_t length = heap_site_print(frames, i, text, sizeof text);
        json_bytes(json, NULL, (struct step_bytes){(const uint8_t *) text, length});
    }
    json_end_array(json);
}

static void put_leaks(struct json_output *json, const struct leak_tracker *tracker,
                      const struct leak_rows *rows, bool by_site, struct heap_sites *frames)
{
    size_t shown = rows->count < REPORT_LEAKS_MOST ? rows->count : REPORT_LEAKS_MOST;
    json_begin_object(json, "leaks");
    json_number(json, "collections", tracker->time_count);
    json_number(json, "least_survived", REPORT_LEAKS_SURVIVED);
    json_bool(json, "by_site", by_site);
    JSON_NUMBERS(json, "survived", rows->all.objects, rows->all.bytes);
    json_begin_array(json, "after");
    for (size_t i = 0; i < tracker->sample_count; i++)
        json_number(json, NULL, tracker->samples[i].collection);
    json_end_array(json);
    json_begin_array(json, "rows");
    for (size_t i = 0; i < shown; i++)
        report_leaks_put_row(json, tracker, &rows->rows[i], by_site, frames);
    json_end_array(json);
    json_number(json, "left", rows->count - shown);
    report_leaks_put_frames(json, frames);
    json_end_object(json);
}

bool report_leaks_put_data(const struct leak_tracker *tracker, struct json_output *json)
{
    const struct leak_limits limits = {.survived = REPORT_LEAKS_SURVIVED};
    struct suppressions none = {NULL, 0};
    struct leak_rows rows;
    struct heap_sites frames;
    if (tracker == NULL) {
        json_null(json, "leaks");
        return true;
    }
    bool by_site = tracker->heap.sites.count > 1;
    bool ok = heap_sites_init(&frames, tracker->heap.sites.names);
    ok = leak_rows_make(tracker, &limits, by_site ? HEAP_BY_SITE : HEAP_BY_CLASS, &none, &rows) &&
         ok;
    if (ok)
        put_leaks(json, tracker, &rows, by_site, &frames);
    leak_rows_reset(&rows);
    heap_sites_reset(&frames);
    return ok;
}
