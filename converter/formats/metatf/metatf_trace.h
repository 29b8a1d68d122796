/* SPDX-License-Identifier: Apache-2.0 */
/* A Meta-TF file with its DTD, which the user gives, the file contains, or a file beside it has. */
#ifndef CONVERTER_FORMATS_METATF_METATF_TRACE_H
#define CONVERTER_FORMATS_METATF_METATF_TRACE_H

#include "converter/base/standard_input.h"
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

/* State of reading a Meta-TF trace record by record. */
struct metatf_records_reading {
    struct seekable_path seekable;
    struct metatf_trace trace;
    struct step_error error; /* of the reader */
};

/* `path` may be "-".  Reports errors.  Close is allowed after a failure. */
enum step_status metatf_reading_open(struct metatf_records_reading *reading, const char *path,
                                     const char *dtd_path);
enum step_status metatf_reading_next(struct metatf_records_reading *reading,
                                     struct metatf_event *event);
/* Reports the reader's error, and returns the final status of the verb. */
enum step_status metatf_reading_report(struct metatf_records_reading *reading,
                                       enum step_status status);
void metatf_reading_close(struct metatf_records_reading *reading);

#endif
