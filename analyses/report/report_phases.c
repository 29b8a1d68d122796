/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the names of phases that a report shows, and marks the steps that they cover. */
#include "analyses/report/report_model.h"

#include <string.h>

#include "converter/containers/no_memory.h"

struct name_total {
    struct step_bytes name;
    uint64_t phases, total_ns;
    bool of_program;
};

struct phase_search {
    struct report_phases *phases;
    const struct timeline *timeline;
    struct id_table names; /* struct name_total */
};

static uint64_t report_phases_end_of(const struct timeline *timeline,
                                     const struct trace_phase *phase)
{
    uint64_t last_ns = timeline->start_ns + (timeline->step + 1) * timeline->step_ns;
    return phase->end_ns != UINT64_MAX ? phase->end_ns
           : last_ns > phase->begin_ns ? last_ns
                                       : phase->begin_ns;
}

static enum step_status report_phases_add_up(void *user, const struct trace_phase *phase)
{
    struct phase_search *search = user;
    struct name_total *total = id_table_get(&search->names, phase->number);
    if (total == NULL)
        return STEP_STATUS_NO_MEMORY;
    total->name = phase->name;
    total->phases++;
    total->total_ns += report_phases_end_of(search->timeline, phase) - phase->begin_ns;
    total->of_program = total->of_program || phase->of_program;
    return STEP_STATUS_OK;
}

/* Keeps the rows sorted by their total times. */
static void report_phases_put_row(struct report_phases *phases, uint32_t number,
                                  const struct name_total *total)
{
    size_t at = phases->count;
    while (at > 0 && phases->rows[at - 1].total_ns < total->total_ns)
        at--;
    phases->left += phases->count == REPORT_PHASES_MOST;
    if (at == REPORT_PHASES_MOST)
        return;
    phases->count += phases->count < REPORT_PHASES_MOST;
    memmove(&phases->rows[at + 1], &phases->rows[at],
            (phases->count - at - 1) * sizeof phases->rows[0]);
    phases->rows[at] = (struct report_phase){.name = total->name,
                                             .number = number,
                                             .phases = total->phases,
                                             .total_ns = total->total_ns,
                                             .of_program = total->of_program};
}

static size_t step_of(const struct timeline *timeline, uint64_t time_ns)
{
    if (time_ns <= timeline->start_ns || timeline->step_ns == 0)
        return 0;
    uint64_t step = (time_ns - timeline->start_ns) / timeline->step_ns;
    return step < timeline->step ? (size_t) step : timeline->step;
}

static enum step_status mark(void *user, const struct trace_phase *phase)
{
    struct phase_search *search = user;
    const struct timeline *timeline = search->timeline;
    size_t i = 0;
    while (i < search->phases->count && search->phases->rows[i].number != phase->number)
        i++;
    if (i == search->phases->count)
        return STEP_STATUS_OK;
    size_t last = step_of(timeline, report_phases_end_of(timeline, phase));
    for (size_t step = step_of(timeline, phase->begin_ns); step <= last; step++)
        search->phases->rows[i].steps[step] = 1;
    return STEP_STATUS_OK;
}

enum step_status report_phases_find(struct report_phases *phases, struct event_source *source,
                                    const struct timeline *timeline, struct step_error *error)
{
    struct phase_search search = {phases, timeline, {0}};
    *phases = (struct report_phases){0};
    id_table_init(&search.names, sizeof(struct name_total));
    enum step_status status = event_source_phases(source, report_phases_add_up, &search, error);
    for (uint32_t id = 0; status == STEP_STATUS_OK && id_table_next(&search.names, &id); id++) {
        const struct name_total *total = id_table_find(&search.names, id);
        if (total->phases > 0)
            report_phases_put_row(phases, id, total);
    }
    id_table_reset(&search.names);
    if (status == STEP_STATUS_OK && phases->count > 0)
        status = event_source_phases(source, mark, &search, error);
    return status == STEP_STATUS_NO_MEMORY ? no_memory(error) : status;
}

/* Writes pairs of first and last steps. */
static void put_steps(const struct report_phase *row, const struct timeline *timeline,
                      struct json_output *json)
{
    json_begin_array(json, "steps");
    for (size_t i = 0; i <= timeline->step; i++) {
        if (row->steps[i] == 0)
            continue;
        json_begin_array(json, NULL);
        json_number(json, NULL, i);
        while (i < timeline->step && row->steps[i + 1] != 0)
            i++;
        json_number(json, NULL, i);
        json_end_array(json);
    }
    json_end_array(json);
}

void report_phases_put_data(const struct report_phases *phases, const struct timeline *timeline,
                            struct json_output *json)
{
    json_begin_array(json, "phases");
    for (size_t i = 0; i < phases->count; i++) {
        const struct report_phase *row = &phases->rows[i];
        json_begin_object(json, NULL);
        json_bytes(json, "name", row->name);
        json_number(json, "phases", row->phases);
        json_number(json, "total_ns", row->total_ns);
        json_bool(json, "program", row->of_program);
        put_steps(row, timeline, json);
        json_end_object(json);
    }
    json_end_array(json);
    json_number(json, "phases_left", phases->left);
}
