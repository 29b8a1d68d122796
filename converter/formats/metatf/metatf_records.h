/* SPDX-License-Identifier: Apache-2.0 */
/* Prints, describes, checks and converts Meta-TF traces of any DTD, using the library's universal
 * reader. */
#ifndef CONVERTER_FORMATS_METATF_METATF_RECORDS_H
#define CONVERTER_FORMATS_METATF_METATF_RECORDS_H

#include "converter/trace/trace_format.h"

enum metatf_form {
    METATF_AS_LINES,
    METATF_AS_JSON_LINES,
    METATF_AS_CSV,
    METATF_AS_METATF /* with the same DTD, in the layout of the settings */
};

struct metatf_choice {
    const char *dtd_path; /* NULL: the DTD that the file names or contains */
    const char *names;    /* records, as RECORD or SECTION.RECORD, separated by commas; NULL: all */
    bool metadata;        /* lines: metadata too */
    enum metatf_form form;
    const struct format_settings *settings; /* METATF_AS_METATF */
};

/* Writes to `output` ("-": standard output).  Both paths may be "-".  Reports errors. */
enum step_status metatf_records_put(const char *path, const char *output,
                                    const struct metatf_choice *choice);
/* Prints the DTD as stored in the file. */
enum step_status metatf_records_print_dtd(const char *path, const char *dtd_path);
/* Prints a summary of the trace.  `shown` is the name to print for it. */
enum step_status metatf_records_info(const char *path, const char *shown, const char *dtd_path,
                                     bool json);
/* Reads the whole trace and checks it against the DTD, its header and its index. */
enum step_status metatf_records_check(const char *path, const char *dtd_path);

#endif
