/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the live data over time of a report's page. */
#ifndef CONVERTER_REPORT_REPORT_TIMELINE_DATA_H
#define CONVERTER_REPORT_REPORT_TIMELINE_DATA_H

#include "converter/report/report_model.h"
#include "format/json/json_output.h"

/* Writes "timeline": bytes, objects and maximum bytes of each step, collections, and the largest
 * classes.  Returns false if memory runs out. */
bool report_timeline_put_data(const struct report_model *model, struct json_output *json);

#endif
