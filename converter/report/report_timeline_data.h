/* SPDX-License-Identifier: Apache-2.0 */
/* What lived over time, in a report's page. */
#ifndef CONVERTER_REPORT_REPORT_TIMELINE_DATA_H
#define CONVERTER_REPORT_REPORT_TIMELINE_DATA_H

#include "converter/report/report_model.h"
#include "format/json/json_output.h"

/* "timeline": bytes, objects and the most bytes of each step, collections, and the classes that
 * hold most.  False: out of memory. */
bool report_timeline_put_data(const struct report_model *model, struct json_output *json);

#endif
