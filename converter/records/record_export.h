/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a STEP trace of any definition as JSON lines, as CSV, or as another STEP trace. */
#ifndef CONVERTER_RECORDS_RECORD_EXPORT_H
#define CONVERTER_RECORDS_RECORD_EXPORT_H

#include "converter/records/record_filter.h"

enum record_format { RECORDS_AS_NOTHING, RECORDS_AS_JSON_LINES, RECORDS_AS_CSV, RECORDS_AS_STEP };

/* By name ("jsonl", "csv"), or by the ending of a path; NOTHING: neither. */
enum record_format record_format_by_name(const char *name);
enum record_format record_format_by_ending(const char *path);

/* Their lines of `steptrace convert --help`. */
void record_format_help(char *out, size_t out_size);

/* `path` is a STEP trace, `output` may be "-".  Faults are reported. */
enum step_status record_export(const char *path, const char *output, enum record_format format,
                               int level, const struct record_selection *selected);

#endif
