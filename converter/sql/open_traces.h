/* SPDX-License-Identifier: Apache-2.0 */
/* The traces that a connection to SQLite has open: each file once, for all its tables. */
#ifndef CONVERTER_SQL_OPEN_TRACES_H
#define CONVERTER_SQL_OPEN_TRACES_H

#include "converter/tables/table.h"

struct open_trace {
    struct open_trace *next;
    struct tables *tables;
    char *path;
    size_t uses;
};

/* Zero-initialised is empty. */
struct open_traces {
    struct open_trace *first;
};

/* Opens the file, or uses it once more. */
enum step_status open_traces_take(struct open_traces *traces, const char *path,
                                  struct open_trace **out, struct step_error *error);
/* Closes it with its last use. */
void open_traces_give_back(struct open_traces *traces, struct open_trace *trace);

#endif
