/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the default sizes of young generations beside the other parts of a report. */
#include "converter/report/report_collectors.h"

#include <stdlib.h>

#define YOUNG_FIRST (UINT64_C(1) << 20)

bool report_collectors_begin(struct simulation **simulation, const struct event_source *source)
{
    struct simulation_options options = SIMULATION_OPTIONS_DEFAULT;
    simulation_options_add_young(&options, YOUNG_FIRST);
    *simulation = malloc(sizeof **simulation);
    if (*simulation == NULL)
        return false;
    bool ok = simulation_init(*simulation, &options);
    (*simulation)->path = source->path;
    (*simulation)->frees_are_exact = source->content == TRACE_OF_ALLOCATIONS;
    return ok;
}

enum step_status report_collectors_put(struct simulation **simulation,
                                       const struct trace_event *events, size_t count,
                                       struct step_error *error)
{
    enum step_status status =
        *simulation != NULL ? simulation_put(*simulation, events, count, error) : STEP_STATUS_OK;
    if (status != STEP_STATUS_CORRUPT)
        return status;
    report_collectors_end(*simulation);
    *simulation = NULL;
    return STEP_STATUS_OK;
}

void report_collectors_end(struct simulation *simulation)
{
    if (simulation != NULL)
        simulation_reset(simulation);
    free(simulation);
}

/* Rows: young, collections, copied, promoted.  A size that never fills is the last row. */
void report_collectors_put_data(const struct simulation *simulation, struct json_output *json)
{
    if (simulation == NULL || simulation->allocated == 0 ||
        simulation->young.items[0].collections == 0) {
        json_null(json, "collectors");
        return;
    }
    enum simulation_precision precision = simulation_precision(simulation);
    json_begin_object(json, "collectors");
    json_bool(json, "is_exact", precision == SIMULATION_EXACT);
    json_bool(json, "is_delayed", precision >= SIMULATION_DELAYED);
    json_number(json, "minimum", simulation->peak_living);
    json_begin_array(json, "rows");
    for (size_t i = 0; i < simulation->young.count; i++) {
        const struct generations *model = &simulation->young.items[i];
        json_begin_array(json, NULL);
        json_number(json, NULL, model->young);
        json_number(json, NULL, model->collections);
        json_number(json, NULL, model->copied);
        json_number(json, NULL, model->promoted);
        json_end_array(json);
        if (model->collections == 0)
            break;
    }
    json_end_array(json);
    json_end_object(json);
}
