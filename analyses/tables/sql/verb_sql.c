/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace sql: runs SQL queries on traces. */
#include <stdio.h>

#include "analyses/tables/sql/sql_run.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/output/output_limit.h"

VERB(sql);

static const struct verb_help help = {
    "sql", "[NAME=]IN.step... \"SELECT ...\"",
    "Queries STEP traces in SQL (SQLite's). The tables are objects, allocations, frees,\n"
    "calls, method_counts, classes, methods, threads, sites, collections, live, phases,\n"
    "eden_classes, lifetimes and advice, and one for each record type;\n"
    "`pragma table_info(objects)` lists columns. If several traces are given, each is a schema, "
    "called NAME or the\n"
    "file name without its ending; the first needs no schema name. Times are nanoseconds\n"
    "since the start of the JVM.\n"};

enum step_status verb_sql(int argc, char **argv)
{
    bool as_csv = false, as_json = false;
    uint64_t limit_output = OUTPUT_LIMIT_DEFAULT;
    const struct option_row rows[] = {
        {"csv", 0, NULL, "as CSV (lines end in LF)", take_flag, &as_csv},
        {"json", 0, NULL, "as JSON: an array of objects", take_flag, &as_json},
        OUTPUT_LIMIT_ROW(&limit_output),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 2, 10))
        return arguments.status;
    if (arguments_refuse_files(&arguments) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if (as_csv && as_json)
        return arguments_fault(&arguments, "--csv and --json are two formats");
    size_t traces = arguments.operand_count - 1;
    output_limit_set(limit_output, arguments.operands[0]);
    enum step_status status = sql_run(&(struct sql_run){.traces = arguments.operands,
                                                        .trace_count = traces,
                                                        .text = arguments.operands[traces],
                                                        .format = as_csv    ? SQL_AS_CSV
                                                                  : as_json ? SQL_AS_JSON
                                                                            : SQL_AS_TABLE,
                                                        .out = stdout});
    return output_limit_end() ? STEP_STATUS_CORRUPT : status;
}
