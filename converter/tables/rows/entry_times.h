/* SPDX-License-Identifier: Apache-2.0 */
/* When classes were loaded and threads began and ended, by number, as events tell. */
#ifndef CONVERTER_TABLES_ROWS_ENTRY_TIMES_H
#define CONVERTER_TABLES_ROWS_ENTRY_TIMES_H

#include "converter/base/id_table.h"
#include "converter/tables/tables_trace.h"

struct entry_time {
    uint64_t begin_ns;
    uint64_t end_ns;
    bool has_begin, has_end;
    bool is_existing;
};

/* The record types that tell. */
struct entry_events {
    const char *field; /* that has the number */
    const char *begin;
    const char *existing; /* extends `begin` */
    const char *end;      /* NULL: none */
};
extern const struct entry_events entry_times_of_classes;
extern const struct entry_events entry_times_of_threads;

/* Zero-initialised: nothing is known. */
struct entry_times {
    struct id_table times; /* struct entry_time */
    bool is_read;
};

enum step_status entry_times_read(struct entry_times *times, struct tables *tables,
                                  const struct entry_events *events, struct step_error *error);
void entry_times_reset(struct entry_times *times);
/* Never NULL. */
const struct entry_time *entry_times_of(const struct entry_times *times, uint64_t id);

#endif
