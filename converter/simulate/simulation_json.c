/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the results of models as JSON. */
#include "converter/simulate/simulation.h"
#include "format/json/json_output.h"

static void put_generations(const struct simulation *simulation, const char *name,
                            const struct generation_list *list, struct json_output *json)
{
    json_begin_array(json, name);
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *model = &list->items[i];
        json_begin_object(json, NULL);
        json_number(json, "young", model->young);
        json_number(json, "eden", model->eden);
        json_number(json, "survivor", model->survivor);
        json_bool(json, "is_coarse", simulation_is_coarse(simulation, model));
        const struct least_heap *least = simulation_least_heap(simulation, model);
        if (least != NULL)
            json_number(json, "least_heap", least->heap);
        if (model->heap != 0) {
            json_number(json, "heap", model->heap);
            json_bool(json, "fits", !model->is_too_small);
        }
        if (model->is_too_small) {
            json_end_object(json);
            continue;
        }
        json_number(json, "collections", model->collections);
        json_number(json, "survived", model->survived);
        json_number(json, "copied", model->copied);
        json_number(json, "promoted", model->promoted);
        json_real(
            json, "mark_cons",
            simulation_mark_cons(simulation, model->copied + model->promoted + model->marked));
        json_number(json, "overflows", model->overflows);
        json_number(json, "dead_old", model->dead_old);
        json_number(json, "peak", model->peak);
        if (model->heap != 0) {
            json_number(json, "full_collections", model->full);
            json_number(json, "marked", model->marked);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_spaces(const struct simulation *simulation, const char *name, const char *work,
                       const struct space_list *list, struct json_output *json)
{
    json_begin_array(json, name);
    for (size_t i = 0; i < list->count; i++) {
        const struct one_space *space = &list->items[i];
        json_begin_object(json, NULL);
        json_number(json, "heap", space->heap);
        json_bool(json, "fits", !space->is_too_small);
        if (!space->is_too_small) {
            json_number(json, "collections", space->collections);
            json_number(json, work, space->kept);
            json_real(json, "mark_cons", simulation_mark_cons(simulation, space->kept));
            json_number(json, "peak", space->peak);
        }
        json_end_object(json);
    }
    json_end_array(json);
}

void simulation_print_json(const struct simulation *simulation, const char *path, FILE *out)
{
    enum simulation_precision precision = simulation_precision(simulation);
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", path);
    json_number(&json, "objects", simulation->objects);
    json_number(&json, "allocated", simulation->allocated);
    json_number(&json, "existing", simulation->existing);
    json_number(&json, "minimum_heap", simulation->peak_living);
    json_number(&json, "least_heap", simulation->least.heap);
    json_bool(&json, "is_exact", precision == SIMULATION_EXACT);
    json_bool(&json, "is_upper_bound", precision >= SIMULATION_DELAYED);
    death_dates_put_json(&simulation->deaths, &json);
    json_begin_object(&json, "options");
    json_number(&json, "survivor_ratio", simulation->options.survivor_ratio);
    json_number(&json, "max_tenuring", simulation->options.max_tenuring);
    json_number(&json, "target_survivor", simulation->options.target_survivor);
    json_number(&json, "region", simulation->options.region);
    json_end_object(&json);
    put_generations(simulation, "generations", &simulation->young, &json);
    put_generations(simulation, "regions", &simulation->regions, &json);
    put_spaces(simulation, "semi_space", "copied", &simulation->semi_space, &json);
    put_spaces(simulation, "mark_compact", "marked", &simulation->mark_compact, &json);
    json_close(&json);
}
