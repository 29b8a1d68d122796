/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a comparison as an HTML page. */
#ifndef CONVERTER_REPORT_COMPARE_PAGE_H
#define CONVERTER_REPORT_COMPARE_PAGE_H

#include "converter/numbers/compare_report.h"
#include "steptrace/status.h"

enum step_status compare_page_write(const char *path, const struct compare_report *report,
                                    struct step_error *error);

#endif
