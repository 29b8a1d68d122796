/* SPDX-License-Identifier: Apache-2.0 */
/* Meta-TF traces of any DTD: printed, told of, tested, and written in other forms, through the
 * library's universal reader. */
#ifndef CONVERTER_FORMATS_METATF_METATF_RECORDS_H
#define CONVERTER_FORMATS_METATF_METATF_RECORDS_H

#include "converter/trace/event_sink.h"

enum metatf_form {
    METATF_AS_LINES,
    METATF_AS_JSON_LINES,
    METATF_AS_CSV,
    METATF_AS_METATF /* of the same DTD, in the layout of the settings */
};

struct metatf_choice {
    const char *dtd_path; /* NULL: the file tells */
    const char *names;    /* of records, or section.record, with commas between; NULL: all */
    bool metadata;        /* lines: metadata too */
    enum metatf_form form;
    const struct format_settings *settings; /* METATF_AS_METATF */
};

/* Writes to `output` ("-": standard output).  Both may be "-".  Faults are told. */
enum step_status metatf_records_put(const char *path, const char *output,
                                    const struct metatf_choice *choice);
/* The DTD, as the file has it. */
enum step_status metatf_records_print_dtd(const char *path, const char *dtd_path);
/* What is in the trace; `shown` is what it is called. */
enum step_status metatf_records_info(const char *path, const char *shown, const char *dtd_path,
                                     bool json);
/* Reads all of it, by every rule of the DTD, the header and the index. */
enum step_status metatf_records_check(const char *path, const char *dtd_path);

#endif
