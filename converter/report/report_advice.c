/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the sites of a report, and writes the advice on them. */
#include "converter/report/report_advice.h"

#include "converter/base/no_memory.h"
#include "converter/heap/heap_sites.h"
#include "converter/sites/site_stores.h"

enum { ROWS_MOST = 50, FRAMES = 4 };

bool report_advice_init(struct report_advice *advice, const struct event_source *source,
                        bool is_whole)
{
    *advice = (struct report_advice){.is_known = is_whole};
    bool ok = site_lives_init(&advice->lives);
    advice->lives.path = source->path;
    advice->lives.within = ADVICE_WITHIN_DEFAULT;
    advice->lives.is_native = source->content == TRACE_OF_ALLOCATIONS;
    return ok;
}

void report_advice_reset(struct report_advice *advice)
{
    advice_reset(&advice->list);
    site_lives_reset(&advice->lives);
}

enum step_status report_advice_put(struct report_advice *advice, const struct trace_event *events,
                                   size_t count, struct step_error *error)
{
    if (!advice->is_known)
        return STEP_STATUS_OK;
    enum step_status status = site_lives_put(&advice->lives, events, count, error);
    if (status != STEP_STATUS_CORRUPT)
        return status;
    advice->is_known = false; /* sizes that cannot be added up: the rest of the page has them */
    *error = (struct step_error){.offset = STEP_NO_OFFSET};
    return STEP_STATUS_OK;
}

enum step_status report_advice_find(struct report_advice *advice, const struct trace_names *names,
                                    struct step_reader *reader, struct step_error *error)
{
    struct advice_options options = {.least_bytes = ADVICE_LEAST_DEFAULT};
    enum step_status status = STEP_STATUS_END;
    advice->is_known = advice->is_known && advice->lives.born.bytes > 0;
    if (!advice->is_known)
        return STEP_STATUS_OK;
    site_lives_finish(&advice->lives);
    if (reader != NULL)
        status = site_stores_count(reader, &advice->lives, error);
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
        return status;
    advice->has_references = options.has_references = status == STEP_STATUS_OK;
    return advice_make(&advice->list, &advice->lives, names, &options) ? STEP_STATUS_OK
                                                                       : no_memory(error);
}

/* A row is [advice, bytes at stake, objects that show it, objects of the site, is an estimate,
 * class, site]. */
static void put_row(const struct report_advice *advice, const struct advice *row,
                    struct heap_sites *sites, struct json_output *json)
{
    const struct site_life *life = &advice->lives.items[row->site];
    uint32_t site = heap_sites_of_frame(sites, life->key.stack_id);
    char text[FRAMES * FRAME_TEXT];
    json_begin_array(json, NULL);
    json_text(json, NULL, advice_words[row->kind]);
    json_number(json, NULL, row->bytes);
    json_number(json, NULL, row->objects);
    json_number(json, NULL, life->born.objects);
    json_bool(json, NULL, row->is_bound);
    json_bytes(json, NULL, trace_class_of(sites->names, life->key.class_id)->name);
    size_t length =
        site == 0 ? 0 : stack_show(heap_site_stack(sites, site, FRAMES), text, sizeof text);
    json_bytes(json, NULL, (struct step_bytes){(const uint8_t *) text, length});
    json_end_array(json);
}

bool report_advice_put_data(const struct report_advice *advice, const struct trace_names *names,
                            struct json_output *json)
{
    struct heap_sites sites;
    size_t shown = advice->list.count < ROWS_MOST ? advice->list.count : ROWS_MOST;
    if (!advice->is_known) {
        json_null(json, "advice");
        return true;
    }
    bool ok = heap_sites_init(&sites, names);
    json_begin_object(json, "advice");
    json_bool(json, "has_references", advice->has_references);
    json_bool(json, "has_deaths", site_lives_precision(&advice->lives) != SITE_NO_DEATHS);
    json_number(json, "collections", site_lives_collections(&advice->lives));
    json_number(json, "left", advice->list.count - shown);
    json_begin_array(json, "rows");
    for (size_t i = 0; ok && i < shown; i++)
        put_row(advice, &advice->list.items[i], &sites, json);
    json_end_array(json);
    json_end_object(json);
    heap_sites_reset(&sites);
    return ok;
}
