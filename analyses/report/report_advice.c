/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what `advise` and `simulate` say of the trace for the page. */
#include "analyses/report/report_data.h"
#include "converter/heap/heap_sites.h"
#include "format/json/json_output.h"

enum { ADVICE_FRAMES = 4 }; /* of a site */

enum { ADVICE_MOST = 50 };

/* A row is [advice, bytes at stake, objects that show it, objects of the site, is an estimate,
 * class, site]. */
static void put_advice(const struct report_advice *advice, const struct advice *row,
                       struct heap_sites *sites, struct json_output *json)
{
    const struct site_life *life = &advice->lives.items[row->site];
    uint32_t site = heap_sites_of_frame(sites, life->key.stack_id);
    char text[ADVICE_FRAMES * FRAME_TEXT];
    json_begin_array(json, NULL);
    json_text(json, NULL, advice_words[row->kind]);
    json_number(json, NULL, row->bytes);
    json_number(json, NULL, row->objects);
    json_number(json, NULL, life->born.objects);
    json_bool(json, NULL, row->is_bound);
    json_bytes(json, NULL, trace_class_of(sites->names, life->key.class_id)->name);
    size_t length =
        site == 0 ? 0 : stack_show(heap_site_stack(sites, site, ADVICE_FRAMES), text, sizeof text);
    json_bytes(json, NULL, (struct step_bytes){(const uint8_t *) text, length});
    json_end_array(json);
}

bool report_advice_put_data(const struct report_advice *advice, const struct trace_names *names,
                            struct json_output *json)
{
    struct heap_sites sites;
    size_t shown = advice->list.count < ADVICE_MOST ? advice->list.count : ADVICE_MOST;
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
        put_advice(advice, &advice->list.items[i], &sites, json);
    json_end_array(json);
    json_end_object(json);
    heap_sites_reset(&sites);
    return ok;
}

/* Rows: young, collections, copied, promoted.  A size that never fills is the last row. */
void report_collectors_put_data(const struct simulation *simulation, struct json_output *json)
{
    if (simulation == NULL || simulation->allocated == 0 ||
        simulation->lists[MODEL_YOUNG].items[0].collections == 0) {
        json_null(json, "collectors");
        return;
    }
    enum simulation_precision precision = simulation_precision(simulation);
    json_begin_object(json, "collectors");
    json_bool(json, "is_exact", precision == SIMULATION_EXACT);
    json_bool(json, "is_delayed", precision >= SIMULATION_DELAYED);
    json_number(json, "minimum", simulation->peak_living);
    json_begin_array(json, "rows");
    for (size_t i = 0; i < simulation->lists[MODEL_YOUNG].count; i++) {
        const struct generations *model = &simulation->lists[MODEL_YOUNG].items[i];
        JSON_NUMBERS(json, NULL, model->young, model->collections, model->copied, model->promoted);
        if (model->collections == 0)
            break;
    }
    json_end_array(json);
    json_end_object(json);
}
