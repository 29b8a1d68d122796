/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_tables FILE.step TABLE [COLUMN...]: reads a table (of all columns, or of these), batch by
 * batch, and tells rows, seconds of this process, rows a second, and the most memory that it had.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "analyses/tables/table.h"

static double seconds(const struct timeval *time)
{
    return (double) time->tv_sec + (double) time->tv_usec / 1e6;
}

static int fail(const struct step_error *error)
{
    char text[1024];
    step_error_print(error, text, sizeof text);
    fprintf(stderr, "bench_tables: %s\n", text);
    return 1;
}

static enum step_status read_all(struct table_scan *scan, uint64_t *rows, struct step_error *error)
{
    const struct table_batch *batch;
    enum step_status status;
    while ((status = table_scan_next(scan, &batch, error)) == STEP_STATUS_OK)
        *rows += batch->row_count;
    return status;
}

int main(int argc, char **argv)
{
    struct tables *tables;
    const struct table *table;
    struct table_scan *scan = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct rusage usage;
    uint64_t rows = 0;
    size_t columns[64];
    struct table_query query = {0};
    if (argc < 3 || argc > 64)
        return 2;
    enum step_status status = tables_open(argv[1], &tables, &error);
    if (status == STEP_STATUS_OK)
        status = tables_find(tables, argv[2], &table, &error);
    for (int i = 3; i < argc && status == STEP_STATUS_OK; i++) {
        status = table_find_column(table, argv[i], &columns[query.column_count++], &error);
        query.columns = columns;
    }
    if (status == STEP_STATUS_OK)
        status = table_scan_create(tables, table, &query, &scan, &error);
    if (status == STEP_STATUS_OK)
        status = read_all(scan, &rows, &error);
    if (status != STEP_STATUS_END)
        return fail(&error);
    getrusage(RUSAGE_SELF, &usage);
    double took = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
    printf("%s: %" PRIu64 " rows, %.3f s, %.2f million rows/s, %.1f MiB\n", argv[2], rows, took,
           (double) rows / took / 1e6, (double) usage.ru_maxrss / 1024);
    table_scan_destroy(scan);
    tables_close(tables);
    return 0;
}
