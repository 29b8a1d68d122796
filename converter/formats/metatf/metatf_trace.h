/* SPDX-License-Identifier: Apache-2.0 */
/* A Meta-TF file with its DTD, which the user gives, the file contains, or a file beside it has. */
#ifndef CONVERTER_FORMATS_METATF_METATF_TRACE_H
#define CONVERTER_FORMATS_METATF_METATF_TRACE_H

#include "steptrace/metatf.h"

#define METATF_JAVA_DTD "java.dtd"
#define METATF_HATF_DTD "hatf.dtd"
#define METATF_HATF_SPLIT_DTD "hatf-split.dtd"

struct metatf_trace {
    const char *path;
    int descriptor;
    uint64_t file_bytes;
    struct metatf_file *file;
    struct metatf_dtd *dtd;
    struct metatf_reader *reader;
};

/* `dtd_path` NULL: not given by the user.  Reset is allowed after a failure. */
enum step_status metatf_trace_open(struct metatf_trace *trace, const char *path,
                                   const char *dtd_path, struct step_error *error);
void metatf_trace_reset(struct metatf_trace *trace);

/* Returns the share of the file that was read, 0 to 1. */
double metatf_trace_progress(const struct metatf_trace *trace);

#endif
