/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps most alive at a report's moment, by where it was allocated and by class: of traces
 * with stores of references, or with a snapshot by then. */
#ifndef CONVERTER_REPORT_REPORT_RETAINED_H
#define CONVERTER_REPORT_REPORT_RETAINED_H

#include "converter/keepers/retained.h"
#include "format/json/json_output.h"

/* Zero-initialised: the trace does not tell. */
struct report_retained {
    bool is_known;
    struct graph_moment graph;
    struct retained by_site, by_class;
};

/* `reader` must live as long.  At most `top` rows each are kept.  OK as well where the trace has no
 * graph by that moment; report_retained_reset() in any case. */
enum step_status report_retained_find(struct report_retained *retained, struct step_reader *reader,
                                      const struct heap_moment *moment, uint64_t top,
                                      struct step_error *error);
void report_retained_reset(struct report_retained *retained);

/* As "retained"; null where it is not known. */
void report_retained_put_data(const struct report_retained *retained, struct json_output *json);

#endif
