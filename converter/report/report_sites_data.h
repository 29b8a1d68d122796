/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the call sites of a report's page. */
#ifndef CONVERTER_REPORT_REPORT_SITES_DATA_H
#define CONVERTER_REPORT_REPORT_SITES_DATA_H

#include "converter/numbers/statistics_report.h"
#include "converter/report/report_data.h"
#include "format/json/json_output.h"

/* Writes "sites" (a tree, with names by leaf), "places" (leaf and class), and the bins of both.
 * Returns false if memory runs out. */
bool report_sites_put_data(const struct report_model *model, const struct report_options *options,
                           const struct statistics_report *report, struct json_output *json);

#endif
