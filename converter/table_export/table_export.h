/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a trace for other engines: Parquet files in Hive's layout, or ClickHouse's Native as a
 * stream.
 */
#ifndef CONVERTER_TABLE_EXPORT_TABLE_EXPORT_H
#define CONVERTER_TABLE_EXPORT_TABLE_EXPORT_H

#include "converter/events/event_selection.h"
#include "steptrace/status.h"

enum table_format { TABLES_AS_NOTHING, TABLES_AS_PARQUET, TABLES_AS_NATIVE };

struct table_export {
    enum table_format format;
    const char *tables;  /* names with commas between; NULL: all that a Java or heap trace has */
    const char *columns; /* the same, of one table; NULL: all */
    const char *run;     /* what the run is called; NULL: like the file, without its ending */
    const char *output;  /* of Parquet a directory, or FILE.parquet for one table; "-": a stream */
    bool by_clock;       /* times are those of the clock, not since the VM's start */
    uint64_t part_rows;  /* of a Parquet file in a directory; 0: the default */
    int level;           /* of the compression; 0: the default */
    const struct event_selection *selected; /* times, thread, class */
};

/* By name ("parquet", "clickhouse-native"); NOTHING: neither. */
enum table_format table_format_by_name(const char *name);
/* Their lines of `steptrace convert --help`. */
void table_format_help(char *out, size_t out_size);

/* INVALID for a wrong table or column, CORRUPT where the trace is damaged or cut: what is whole was
 * written then.  Faults are told on stderr. */
enum step_status table_export(const char *path, const struct table_export *export);

#endif
