/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of scans, for makers that read rows of other tables. */
#ifndef CONVERTER_TABLES_TABLE_SCAN_H
#define CONVERTER_TABLES_TABLE_SCAN_H

#include "converter/tables/table_rows.h"

/* Memory for the selected rows of a column. */
struct table_scan_room {
    void *values;
    uint8_t *validity;
};

struct table_scan {
    struct tables *tables;
    struct table_request request;
    struct table_rows *rows;
    size_t *columns;
    size_t column_count;
    uint8_t *needed;              /* by column of the table */
    struct table_vector *vectors; /* by column of the query */
    struct table_scan_room *room; /* by column of the query */
    uint32_t *selected;
    struct table_batch batch;
};

/* Creates a scan like table_scan_create(), but with the blocks in order of their first times. */
enum step_status table_scan_create_by_time(struct tables *tables, const struct table *table,
                                           const struct table_query *query, bool by_time,
                                           struct table_scan **out, struct step_error *error);

#endif
