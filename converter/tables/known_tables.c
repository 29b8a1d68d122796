/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a trace's tables. */
#include "converter/tables/known_tables.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "format/core/grow.h"

/* ---- adding tables ---- */

/* Copies the texts of `from`, whose columns may be temporary. */
static bool copy_definition(struct table_definition *to, const struct table_definition *from)
{
    size_t count = from->base.column_count;
    struct table_column *columns = calloc(count + 1, sizeof *columns);
    struct table_cell *cells = calloc(count + 1, sizeof *cells);
    *to = *from;
    to->base.name = strdup(from->base.name);
    to->base.doc = strdup(from->base.doc);
    to->base.columns = columns;
    to->cells = cells;
    bool good = to->base.name != NULL && to->base.doc != NULL && columns != NULL && cells != NULL;
    to->base.column_count = good ? count : 0;
    for (size_t i = 0; good && i < count; i++) {
        columns[i] = from->base.columns[i];
        columns[i].name = strdup(from->base.columns[i].name);
        columns[i].doc = strdup(from->base.columns[i].doc);
        cells[i] = from->cells != NULL ? from->cells[i] : (struct table_cell){.kind = CELL_MADE};
        good = columns[i].name != NULL && columns[i].doc != NULL;
    }
    return good;
}

enum step_status tables_add(struct tables *tables, const struct table_definition *definition,
                            struct step_error *error)
{
    if (tables->count == tables->capacity) {
        struct table_definition *items =
            step_grown(tables->items, &tables->capacity, tables->count + 1, sizeof *items);
        if (items == NULL)
            return no_memory(error);
        tables->items = items;
    }
    struct table_definition *added = &tables->items[tables->count++];
    bool good = copy_definition(added, definition);
    return good ? STEP_STATUS_OK : no_memory(error);
}
