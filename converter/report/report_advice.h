/* SPDX-License-Identifier: Apache-2.0 */
/* What `steptrace advise` says with its defaults, for the page. */
#ifndef CONVERTER_REPORT_REPORT_ADVICE_H
#define CONVERTER_REPORT_REPORT_ADVICE_H

#include "converter/sites/advice.h"
#include "converter/trace/event_source.h"
#include "format/json/json_output.h"

struct report_advice {
    struct site_lives lives;
    struct advice_list list;
    bool is_known; /* the page shows the whole trace, and it has sizes */
    bool has_references;
};

/* `is_whole`: the page shows the whole trace.  Returns false if memory runs out; reset is allowed
 * then. */
bool report_advice_init(struct report_advice *advice, const struct event_source *source,
                        bool is_whole);
void report_advice_reset(struct report_advice *advice);
enum step_status report_advice_put(struct report_advice *advice, const struct trace_event *events,
                                   size_t count, struct step_error *error);
/* `reader`: of the trace, for its references; NULL: it has none.  Call it after the last event. */
enum step_status report_advice_find(struct report_advice *advice, const struct trace_names *names,
                                    struct step_reader *reader, struct step_error *error);
/* Writes the member "advice"; null if it is unknown.  Returns false if memory runs out. */
bool report_advice_put_data(const struct report_advice *advice, const struct trace_names *names,
                            struct json_output *json);

#endif
