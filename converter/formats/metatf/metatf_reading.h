/* SPDX-License-Identifier: Apache-2.0 */
/* Inside converter/records: a Meta-TF trace that is read record by record. */
#ifndef CONVERTER_FORMATS_METATF_METATF_READING_H
#define CONVERTER_FORMATS_METATF_METATF_READING_H

#include "converter/base/standard_input.h"
#include "converter/formats/metatf/metatf_trace.h"

struct metatf_records_reading {
    struct seekable_path seekable;
    struct metatf_trace trace;
    struct step_error error; /* of the reader */
};

/* `path` may be "-".  Faults are told.  Close is allowed after a failure. */
enum step_status metatf_reading_open(struct metatf_records_reading *reading, const char *path,
                                     const char *dtd_path);
enum step_status metatf_reading_next(struct metatf_records_reading *reading,
                                     struct metatf_event *event);
/* Tells the reader's error, and returns what the verb ends with. */
enum step_status metatf_reading_report(struct metatf_records_reading *reading,
                                       enum step_status status);
void metatf_reading_close(struct metatf_records_reading *reading);

#endif
