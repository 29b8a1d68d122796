/* SPDX-License-Identifier: Apache-2.0 */
/* A report's figures as the JSON text that its page reads (converter/report/). */
#ifndef CONVERTER_REPORT_REPORT_DATA_H
#define CONVERTER_REPORT_REPORT_DATA_H

#include <stdio.h>

#include "converter/report/report_model.h"
#include "converter/report/report_retained.h"

struct report_options {
    const char *title; /* NULL: the trace's file name */
    uint64_t top;      /* rows of each table at most */
};

/* False: out of memory; errors of the file are the caller's to look at. */
bool report_data_put(const struct report_model *model, const struct report_retained *retained,
                     const struct report_options *options, FILE *file);

#endif
