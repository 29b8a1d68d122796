/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an HTML page: its fixed parts with data between them; the data that all pages have. */
#ifndef CONVERTER_REPORT_PAGE_FILE_H
#define CONVERTER_REPORT_PAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "converter/numbers/compare_report.h"
#include "converter/report/report_data.h"
#include "steptrace/status.h"

enum step_status compare_page_write(const char *path, const struct compare_report *report,
                                    struct step_error *error);

struct page_parts {
    const unsigned char *before;
    size_t before_bytes;
    const unsigned char *after;
    size_t after_bytes;
};

/* Writes the data of a page.  Returns false if memory runs out. */
typedef bool (*page_put_data)(const void *user, FILE *out);

/* Builds the data in memory first; its size is limited by what a page may contain. */
enum step_status page_file_write(const char *path, const struct page_parts *parts,
                                 page_put_data put, const void *user, struct step_error *error);

/* What pages of any trace say of it. */

/* Writes the members "title", "source_url", "gaps" and "properties".  `not_probed`: number of
 * classes and methods that could not be traced. */
void report_properties_put(const struct event_source *source, uint64_t not_probed,
                           const struct report_options *options, struct json_output *json);

#endif
