/* SPDX-License-Identifier: Apache-2.0 */
/* What pages of any trace say of it. */
#ifndef CONVERTER_REPORT_REPORT_PROPERTIES_H
#define CONVERTER_REPORT_REPORT_PROPERTIES_H

#include "converter/report/report_data.h"

/* Writes the members "title", "source_url", "gaps" and "properties".  `not_probed`: number of
 * classes and methods that could not be traced. */
void report_properties_put(const struct event_source *source, uint64_t not_probed,
                           const struct report_options *options, struct json_output *json);

#endif
