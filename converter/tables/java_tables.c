/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a Java trace, documented in docs/tables.md; here are those whose rows are records.
 */
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/tables/makers.h"
#include "converter/tables/tables_trace.h"

enum { COLUMNS_MOST = 20 };

#define DEATH STEP_JAVA_OBJECT_DEATH
#define COUNT STEP_JAVA_METHOD_COUNT

static const struct java_column allocations[] = {
    {{"time", "ns", "", TABLE_TIME, false}, CELL_TICKS, ALLOC, "time"},
    {{"thread", "", "0: the VM", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "thread"},
    {{"class", "", "", TABLE_NAME, true}, CELL_CLASS, ALLOC, "class"},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "class"},
    {{"object", "", "its number", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "object"},
    {{"size", "bytes", "", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "size"},
    {{"site", "", "number in sites", TABLE_UINT, true},
     CELL_ID,
     STEP_JAVA_OBJECT_ALLOC_AT,
     "stack"},
    {{"existing", "", "it was there when tracing started", TABLE_BOOL, false},
     CELL_IS,
     STEP_JAVA_OBJECT_EXISTING,
     NULL},
    {{"weight", "", "of a sampled trace only: objects that it stands for", TABLE_REAL, false},
     CELL_WEIGHT,
     ALLOC,
     "size"}};

static const struct java_column frees[] = {
    {{"time", "ns", "", TABLE_TIME, false}, CELL_TICKS, FREE, "time"},
    {{"object", "", "its number", TABLE_UINT, false}, CELL_NUMBER, FREE, "object"},
    {{"collection", "", "number in collections", TABLE_UINT, false}, CELL_COLLECTION, FREE, "time"},
    {{"class", "", "where the trace lacks the allocation", TABLE_NAME, true},
     CELL_CLASS,
     STEP_JAVA_OBJECT_FREE_UNKNOWN,
     "class"},
    {{"collected", "ns", "when that found it; null: `time` is that", TABLE_TIME, true},
     CELL_TICKS,
     DEATH,
     "collected"},
    {{"how", "", "null: found then; else `time` is 0: exact, 1: a bound, 2: the collection's",
      TABLE_UINT, true},
     CELL_NUMBER,
     DEATH,
     "how"}};

static const struct java_column method_counts[] = {
    {{"method", "", "", TABLE_NAME, true}, CELL_METHOD, COUNT, "method"},
    {{"class", "", "of the method", TABLE_NAME, true}, CELL_METHOD_CLASS, COUNT, "method"},
    {{"method_id", "", "number in methods", TABLE_UINT, false}, CELL_NUMBER, COUNT, "method"},
    {{"calls", "", "", TABLE_UINT, false}, CELL_NUMBER, COUNT, "calls"},
    {{"exceptions", "", "calls that an exception ended", TABLE_UINT, false},
     CELL_NUMBER,
     COUNT,
     "exceptions"},
    {{"inclusive", "ns", "in outermost calls of each thread", TABLE_DURATION, false},
     CELL_NUMBER,
     COUNT,
     "inclusive"},
    {{"exclusive", "ns", "without the methods that it called", TABLE_DURATION, false},
     CELL_NUMBER,
     COUNT,
     "exclusive"}};

static const struct java_table allocations_table = {"allocations",
                                                    "one row an allocation",
                                                    COLUMNS(allocations),
                                                    NULL,
                                                    ROWS_OF_BLOCKS,
                                                    ALLOC,
                                                    false,
                                                    BY_ALLOC};

static const struct java_table frees_table = {
    "frees", "one row a death", COLUMNS(frees), NULL, ROWS_OF_BLOCKS, FREE, false, BY_FREE};

static const struct java_table method_counts_table = {
    "method_counts",
    "what calls came to (method=count)",
    COLUMNS(method_counts),
    NULL,
    ROWS_OF_BLOCKS,
    COUNT,
    false,
    COUNT,
    "counts of calls (the agent\'s option method=count)"};

static const struct java_table *const java_tables[] = {
    &objects_table, &allocations_table, &frees_table,     &calls_table, &method_counts_table,
    &classes_table, &methods_table,     &threads_table,   &sites_table, &collections_table,
    &live_table,    &phases_table,      &lifetimes_table, &advice_table};

/* Returns the cell of a column for this trace's definition.  A missing field gives null. */
static struct table_cell resolve(const struct tables *tables, uint32_t rows_of,
                                 const struct java_column *column)
{
    struct table_cell cell = {.kind = column->kind, .owner = STEP_NO_RECORD};
    if (column->kind == CELL_LIFE_WEIGHT)
        cell.kind = CELL_MADE;
    if (cell.kind == CELL_MADE)
        return cell;
    cell.owner = java_record_of(&tables->java, column->owner);
    if (cell.owner != STEP_NO_RECORD &&
        !step_record_extends(tables->definition, cell.owner, rows_of))
        cell.owner = STEP_NO_RECORD;
    if (column->kind == CELL_IS || cell.owner == STEP_NO_RECORD)
        return cell;
    const struct step_record *record = &tables->definition->records[cell.owner];
    size_t field = step_record_find_field(record, column->field);
    if (field == SIZE_MAX || record->fields[field].array_depth > 0 ||
        step_field_is_nested(&record->fields[field]) ||
        record->fields[field].kind == STEP_TYPE_STRING ||
        record->fields[field].kind == STEP_TYPE_DATA) {
        cell.owner = STEP_NO_RECORD;
        return cell;
    }
    cell.field = (uint32_t) field;
    cell.slot = record_field_slot(tables->definition, cell.owner, cell.field);
    return cell;
}

static bool is_of_samples(const struct java_column *column)
{
    return column->kind == CELL_WEIGHT || column->kind == CELL_LIFE_WEIGHT;
}

static enum step_status add(struct tables *tables, const struct java_table *table,
                            struct step_error *error)
{
    struct table_column columns[COLUMNS_MOST];
    struct table_cell cells[COLUMNS_MOST];
    struct table_definition definition = {
        .base = {table->name, table->doc, columns, 0},
        .rows = table->rows,
        .rows_from = table->rows_from,
        .record =
            table->record >= 0 ? java_record_of(&tables->java, table->record) : STEP_NO_RECORD,
        .cells = cells,
        .made_of =
            table->made_of >= 0 ? java_record_of(&tables->java, table->made_of) : STEP_NO_RECORD,
        .recorded_by = table->recorded_by};
    if (table->record >= 0 && definition.record == STEP_NO_RECORD)
        return STEP_STATUS_OK; /* the definition lacks these records */
    if (table->adds_up && tables->sample_interval_bytes != 0)
        return STEP_STATUS_OK;
    for (size_t i = 0; i < table->column_count; i++) {
        if (is_of_samples(&table->columns[i]) && tables->sample_interval_bytes == 0)
            continue;
        columns[i] = table->columns[i].column;
        cells[i] = resolve(tables, definition.record, &table->columns[i]);
        definition.base.column_count = i + 1;
    }
    return tables_add(tables, &definition, error);
}

enum step_status java_tables_add(struct tables *tables, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < sizeof java_tables / sizeof java_tables[0]; i++)
        if (status == STEP_STATUS_OK)
            status = add(tables, java_tables[i], error);
    return status;
}
