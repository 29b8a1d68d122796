/* SPDX-License-Identifier: Apache-2.0 */
/* What a row of a heap is of, by the report's axes: a class, a call site, a thread. */
#ifndef CONVERTER_HEAP_REPORT_ROW_NAMES_H
#define CONVERTER_HEAP_REPORT_ROW_NAMES_H

#include "converter/heap_report/heap_report.h"

/* "class, site", and a row's own; as many frames of a site as the report asks for. */
void row_titles_put_text(const struct heap_report *report);
void row_names_put_text(const struct heap_report *report, const struct heap_key *key);
/* What rows are called: "classes", or "rows" where several axes are asked for. */
const char *row_names_plural(const struct heap_report *report);

/* Members of the object at hand; all frames of a site. */
void row_names_put_json(const struct heap_report *report, const struct heap_key *key,
                        struct json_output *json);

/* The fields at a line's end, each with its comma; all frames of a site. */
void row_titles_put_csv(const struct heap_report *report);
void row_names_put_csv(const struct heap_report *report, const struct heap_key *key);

#endif
