/* SPDX-License-Identifier: Apache-2.0 */
/* A Meta-TF file with its DTD: given by the person, carried by the file, or found beside it. */
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

/* `dtd_path` NULL: none was given.  Reset is allowed after a failure. */
enum step_status metatf_trace_open(struct metatf_trace *trace, const char *path,
                                   const char *dtd_path, struct step_error *error);
void metatf_trace_reset(struct metatf_trace *trace);

/* Share of the file that was read. */
double metatf_trace_progress(const struct metatf_trace *trace);

#endif
