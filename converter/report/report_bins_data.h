/* SPDX-License-Identifier: Apache-2.0 */
/* The bins of a report in its page. */
#ifndef CONVERTER_REPORT_REPORT_BINS_DATA_H
#define CONVERTER_REPORT_REPORT_BINS_DATA_H

#include "converter/report/report_sites.h"
#include "converter/statistics/statistics_report.h"
#include "format/json/json_output.h"

/* "bins": start, step, and a list for each of site, class (their numbers in the page; -1: a class
 * that is not in its table), objects and bytes allocated, objects and bytes that died, site, ...
 * Where the page has no room, the smallest pairs of site and class are told in all bins at site 0
 * without a class: what lived of a pair is the sum of its bins.  False: out of memory. */
bool report_bins_put_data(const struct report_model *model, const struct report_sites *sites,
                          const struct statistics_report *report, struct json_output *json);

#endif
