/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a sampled trace: estimates with 95 % intervals, by class, site and thread, and
 * growth. It has no curves: live bytes over time, the peak and sizes are of all objects. */
#ifndef CONVERTER_REPORT_SAMPLED_PAGE_H
#define CONVERTER_REPORT_SAMPLED_PAGE_H

#include "converter/numbers/leak_tracker.h"
#include "converter/numbers/statistics.h"
#include "converter/report/report_data.h"

struct sampled_model {
    struct event_source *source; /* borrowed */
    struct heap_moment moment;
    struct statistics statistics;
    struct heap_tracker heap;
    struct heap_snapshot snapshot; /* at the moment */
    bool has_leaks;
    struct leak_tracker leaks;
};

/* Returns false if memory runs out; reset is allowed then.  `has_leaks`: the whole trace is shown.
 */
bool sampled_model_init(struct sampled_model *model, struct event_source *source,
                        const struct heap_moment *moment, bool has_leaks);
/* Call it before the first event: reads how the samples are weighed. */
enum step_status sampled_model_weigh(struct sampled_model *model, struct step_error *error);
void sampled_model_reset(struct sampled_model *model);
/* Callback for input_each(); `user` is the model. */
enum step_status sampled_model_put(void *user, const struct trace_event *events, size_t count,
                                   struct step_error *error);
/* Returns NOT_FOUND if the trace has no such moment. */
enum step_status sampled_model_finish(struct sampled_model *model, struct step_error *error);
enum step_status sampled_page_write(const char *path, struct sampled_model *model,
                                    const struct report_options *options, struct step_error *error);

#endif
