/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a native program's trace, documented in docs/tables.md. */
#include "converter/tables/known_tables.h"
#include "converter/tables/makers.h"

/* Columns are in the order of the enumerations in makers.h. */
static const struct table_column allocations[] = {
    {"time", "ns", "", TABLE_TIME, false},
    {"thread", "", "", TABLE_UINT, false},
    {"object", "", "number, rising in the order of allocations", TABLE_UINT, false},
    {"address", "", "", TABLE_UINT, false},
    {"size", "bytes", "", TABLE_UINT, false},
    {"heap", "", "0: the program's own", TABLE_UINT, false}};

static const struct table_column frees[] = {
    {"time", "ns", "", TABLE_TIME, false},
    {"thread", "", "", TABLE_UINT, false},
    {"object", "", "null: nothing known lives there", TABLE_UINT, true},
    {"address", "", "", TABLE_UINT, false},
    {"heap", "", "0: the program's own", TABLE_UINT, false}};

static const struct table_column reallocs[] = {
    {"time", "ns", "", TABLE_TIME, false},
    {"thread", "", "", TABLE_UINT, false},
    {"object", "", "that it was; null: none", TABLE_UINT, true},
    {"address", "", "the old one; 0: none", TABLE_UINT, false},
    {"new_address", "", "", TABLE_UINT, false},
    {"size", "bytes", "the new one", TABLE_UINT, false},
    {"old_size", "bytes", "", TABLE_UINT, true},
    {"heap", "", "0: the program's own", TABLE_UINT, false},
    {"kind", "", "in place, move, alloc, free", TABLE_NAME, false}};

static const struct table_column objects[] = {
    {"object", "", "number, rising in the order of allocations", TABLE_UINT, false},
    {"thread", "", "that allocated it", TABLE_UINT, false},
    {"heap", "", "0: the program's own", TABLE_UINT, false},
    {"address", "", "", TABLE_UINT, false},
    {"size", "bytes", "at the end of its life", TABLE_UINT, false},
    {"born", "ns", "", TABLE_TIME, false},
    {"died", "ns", "null: it lived at the end", TABLE_TIME, true},
    {"alive", "", "at the end", TABLE_BOOL, false},
    {"moved", "", "a realloc moved an object to it", TABLE_BOOL, false}};

static const struct table_column live[] = {{"time", "ns", "end of the step", TABLE_TIME, false},
                                           {"step", "ns", "its length", TABLE_DURATION, false},
                                           {"objects", "", "at its end", TABLE_UINT, false},
                                           {"bytes", "bytes", "at its end", TABLE_UINT, false},
                                           {"most_bytes", "bytes", "within it", TABLE_UINT, false}};

#define COLUMNS(of) of, sizeof of / sizeof of[0]

static const struct table heap_tables[] = {
    {"objects", "one row an object", COLUMNS(objects)},
    {"allocations", "one row an allocation", COLUMNS(allocations)},
    {"frees", "one row a free", COLUMNS(frees)},
    {"reallocs", "one row a realloc", COLUMNS(reallocs)},
    {"live", "what lived, over time", COLUMNS(live)}};

enum step_status heap_tables_add(struct tables *tables, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < sizeof heap_tables / sizeof heap_tables[0]; i++) {
        const struct table_definition definition = {
            .base = heap_tables[i], .create = heap_rows_create, .record = STEP_NO_RECORD};
        if (status == STEP_STATUS_OK)
            status = tables_add(tables, &definition, error);
    }
    return status;
}
