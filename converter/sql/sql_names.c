/* SPDX-License-Identifier: Apache-2.0 */
/* Reads SQLite's "no such table: X" and "no such column: X". */
#include "converter/sql/sql_names.h"

#include <stdio.h>
#include <string.h>

/* The name without its schema's or table's, where the message begins like that; NULL: it does not.
 */
static const char *name_after(const char *message, const char *beginning)
{
    size_t length = strlen(beginning);
    if (strncmp(message, beginning, length) != 0)
        return NULL;
    const char *dot = strrchr(message + length, '.');
    return dot != NULL ? dot + 1 : message + length;
}

/* The columns of the first table that the statement names. */
static const struct table *table_of(const struct tables *tables, const char *statement)
{
    for (size_t i = 0; i < tables_count(tables); i++)
        if (strstr(statement, tables_at(tables, i)->name) != NULL)
            return tables_at(tables, i);
    return NULL;
}

void sql_names_hint(const struct tables *tables, const char *message, const char *statement,
                    char *out, size_t out_size)
{
    const struct table *table;
    struct step_error error;
    size_t column;
    out[0] = '\0';
    const char *name = name_after(message, "no such table: ");
    if (name != NULL) {
        if (tables_find(tables, name, &table, &error) != STEP_STATUS_OK)
            snprintf(out, out_size, "%s", error.message);
        return;
    }
    name = name_after(message, "no such column: ");
    table = name != NULL ? table_of(tables, statement) : NULL;
    if (table != NULL && table_find_column(table, name, &column, &error) != STEP_STATUS_OK)
        snprintf(out, out_size, "%s", error.message);
}
