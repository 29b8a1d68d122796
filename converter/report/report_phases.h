/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of a trace for the timeline of a report: a row for each name, in the timeline's
 * steps. */
#ifndef CONVERTER_REPORT_REPORT_PHASES_H
#define CONVERTER_REPORT_REPORT_PHASES_H

#include "converter/report/report_timeline.h"
#include "converter/trace/event_source.h"
#include "format/json/json_output.h"

/* The names with the longest total times get a row; the others are counted. */
#define REPORT_PHASES_MOST 16u

struct report_phase {
    struct step_bytes name;
    uint32_t number;
    uint64_t phases, total_ns;
    bool of_program;               /* one of them is */
    uint8_t steps[TIMELINE_STEPS]; /* 1: a phase covers part of the step */
};

struct report_phases {
    struct report_phase rows[REPORT_PHASES_MOST];
    size_t count;
    uint64_t left; /* names without a row */
};

/* Reads the phases; call it after timeline_finish(). */
enum step_status report_phases_find(struct report_phases *phases, struct event_source *source,
                                    const struct timeline *timeline, struct step_error *error);
/* Writes the members "phases" and "phases_left". */
void report_phases_put_data(const struct report_phases *phases, const struct timeline *timeline,
                            struct json_output *json);

#endif
