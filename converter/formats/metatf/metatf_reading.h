/* SPDX-License-Identifier: Apache-2.0 */
/* State of reading a Meta-TF trace record by record. */
#ifndef CONVERTER_FORMATS_METATF_METATF_READING_H
#define CONVERTER_FORMATS_METATF_METATF_READING_H

#include "converter/base/standard_input.h"
#include "converter/formats/metatf/metatf_trace.h"

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
