/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a Java trace, documented in docs/tables.md. */
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/tables/block_choice.h"
#include "converter/tables/known_tables.h"
#include "converter/tables/makers.h"

enum { COLUMNS_MOST = 20 };

struct java_column {
    struct table_column column;
    enum cell_kind kind;
    int owner; /* record type that defines the field, or the one for CELL_IS */
    const char *field;
};

#define ALLOC STEP_JAVA_OBJECT_ALLOC
#define FREE STEP_JAVA_OBJECT_FREE
#define DEATH STEP_JAVA_OBJECT_DEATH
#define COUNT STEP_JAVA_METHOD_COUNT

static const struct java_column objects[] = {
    {{"object", "", "number, rising in the order of allocations", TABLE_UINT, false},
     CELL_NUMBER,
     ALLOC,
     "object"},
    {{"class", "", "its class", TABLE_NAME, true}, CELL_CLASS, ALLOC, "class"},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "class"},
    {{"thread", "", "that allocated it; 0: the VM", TABLE_UINT, false},
     CELL_NUMBER,
     ALLOC,
     "thread"},
    {{"site", "", "number in sites", TABLE_UINT, true},
     CELL_ID,
     STEP_JAVA_OBJECT_ALLOC_AT,
     "stack"},
    {{"size", "bytes", "", TABLE_UINT, false}, CELL_NUMBER, ALLOC, "size"},
    {{"born", "ns", "when it was allocated", TABLE_TIME, false}, CELL_TICKS, ALLOC, "time"},
    {{"died", "ns", "when, or when a collection found it; null: it lived at the end", TABLE_TIME,
      true},
     CELL_MADE,
     -1,
     NULL},
    {{"alive", "", "at the end", TABLE_BOOL, false}, CELL_MADE, -1, NULL},
    {{"survived", "", "collections that it survived", TABLE_UINT, false}, CELL_MADE, -1, NULL},
    {{"existing", "", "it was there when tracing started", TABLE_BOOL, false},
     CELL_IS,
     STEP_JAVA_OBJECT_EXISTING,
     NULL},
    {{"weight", "", "of a sampled trace only: objects that it stands for", TABLE_REAL, false},
     CELL_WEIGHT,
     ALLOC,
     "size"},
    {{"life_weight", "", "the same for `died`, `alive`, `survived`; 0: its death was not awaited",
      TABLE_REAL, false},
     CELL_LIFE_WEIGHT,
     -1,
     NULL}};

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

/* The following columns are all CELL_MADE, in the order of the enumerations in makers.h. */
#define MADE CELL_MADE, -1, NULL

static const struct java_column calls[] = {
    {{"call", "", "number, rising in the order of entries", TABLE_UINT, false}, MADE},
    {{"parent", "", "the call that made it", TABLE_UINT, true}, MADE},
    {{"thread", "", "", TABLE_UINT, false}, MADE},
    {{"method", "", "", TABLE_NAME, true}, MADE},
    {{"class", "", "of the method", TABLE_NAME, true}, MADE},
    {{"method_id", "", "number in methods", TABLE_UINT, false}, MADE},
    {{"object", "", "`this`; null in a static method", TABLE_UINT, true}, MADE},
    {{"depth", "", "0: outermost", TABLE_UINT, false}, MADE},
    {{"entry", "ns", "", TABLE_TIME, false}, MADE},
    {{"exit", "ns", "null: it was open at the end", TABLE_TIME, true}, MADE},
    {{"duration", "ns", "", TABLE_DURATION, true}, MADE},
    {{"self", "ns", "without the calls that it made", TABLE_DURATION, true}, MADE},
    {{"ended", "", "return, exception, left, open", TABLE_NAME, false}, MADE}};

static const struct java_column classes[] = {
    {{"class_id", "", "", TABLE_UINT, false}, MADE},
    {{"class", "", "name", TABLE_NAME, false}, MADE},
    {{"loader", "", "number; 0: boot", TABLE_UINT, false}, MADE},
    {{"loaded", "ns", "null: no event says so", TABLE_TIME, true}, MADE},
    {{"existing", "", "it was there when tracing started", TABLE_BOOL, false}, MADE},
    {{"file", "", "of its source; empty: not known", TABLE_TEXT, false}, MADE}};

static const struct java_column methods[] = {
    {{"method_id", "", "", TABLE_UINT, false}, MADE},
    {{"method", "", "class and name", TABLE_NAME, false}, MADE},
    {{"class", "", "", TABLE_NAME, true}, MADE},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, MADE},
    {{"name", "", "", TABLE_TEXT, false}, MADE},
    {{"descriptor", "", "", TABLE_TEXT, false}, MADE},
    {{"modifiers", "", "access flags", TABLE_UINT, false}, MADE}};

static const struct java_column threads[] = {
    {{"thread", "", "", TABLE_UINT, false}, MADE},
    {{"name", "", "", TABLE_TEXT, false}, MADE},
    {{"number", "", "as text exports show it", TABLE_UINT, false}, MADE},
    {{"daemon", "", "", TABLE_BOOL, false}, MADE},
    {{"virtual", "", "", TABLE_BOOL, false}, MADE},
    {{"started", "ns", "null: no event says so", TABLE_TIME, true}, MADE},
    {{"ended", "ns", "null: it ran at the end", TABLE_TIME, true}, MADE},
    {{"existing", "", "it ran when tracing started", TABLE_BOOL, false}, MADE}};

static const struct java_column sites[] = {
    {{"site", "", "a frame of the tree of call stacks", TABLE_UINT, false}, MADE},
    {{"parent", "", "the frame that called it; null: outermost", TABLE_UINT, true}, MADE},
    {{"method", "", "", TABLE_NAME, true}, MADE},
    {{"class", "", "of the method", TABLE_NAME, true}, MADE},
    {{"method_id", "", "number in methods", TABLE_UINT, false}, MADE},
    {{"line", "", "of the source", TABLE_UINT, true}, MADE},
    {{"bytecode", "", "index, where the line is not known", TABLE_UINT, true}, MADE},
    {{"depth", "", "1: outermost", TABLE_UINT, false}, MADE},
    {{"stack", "", "all of it, innermost first", TABLE_TEXT, false}, MADE}};

static const struct java_column collections[] = {
    {{"collection", "", "number, from 1", TABLE_UINT, false}, MADE},
    {{"time", "ns", "", TABLE_TIME, false}, MADE},
    {{"freed_objects", "", "", TABLE_UINT, false}, MADE},
    {{"freed_bytes", "bytes", "", TABLE_UINT, false}, MADE},
    {{"live_objects", "", "after it", TABLE_UINT, false}, MADE},
    {{"live_bytes", "bytes", "after it", TABLE_UINT, false}, MADE}};

static const struct java_column live[] = {
    {{"time", "ns", "end of the step", TABLE_TIME, false}, MADE},
    {{"step", "ns", "its length", TABLE_DURATION, false}, MADE},
    {{"objects", "", "at its end", TABLE_UINT, false}, MADE},
    {{"bytes", "bytes", "at its end", TABLE_UINT, false}, MADE},
    {{"most_bytes", "bytes", "within it", TABLE_UINT, false}, MADE}};

static const struct java_column phases[] = {
    {{"phase", "", "its name", TABLE_TEXT, false}, MADE},
    {{"program", "", "it has the events of all threads", TABLE_BOOL, false}, MADE},
    {{"thread", "", "that began it", TABLE_UINT, false}, MADE},
    {{"depth", "", "1: outermost", TABLE_UINT, false}, MADE},
    {{"started", "ns", "", TABLE_TIME, false}, MADE},
    {{"ended", "ns", "null: it was open at the end", TABLE_TIME, true}, MADE},
    {{"duration", "ns", "", TABLE_DURATION, true}, MADE}};

static const struct java_column lifetimes[] = {
    {{"class", "", "", TABLE_NAME, true}, MADE},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, MADE},
    {{"site", "", "number in sites", TABLE_UINT, true}, MADE},
    {{"objects", "", "allocated in the trace", TABLE_UINT, false}, MADE},
    {{"bytes", "bytes", "", TABLE_UINT, false}, MADE},
    {{"dead_objects", "", "by the end", TABLE_UINT, false}, MADE},
    {{"dead_bytes", "bytes", "", TABLE_UINT, false}, MADE},
    {{"old_objects", "", "survived two collections or more", TABLE_UINT, false}, MADE},
    {{"old_bytes", "bytes", "", TABLE_UINT, false}, MADE},
    {{"most_living", "", "objects at one time", TABLE_UINT, false}, MADE},
    {{"meaning", "", "of the lifetimes: exact, upper_bound, estimate", TABLE_NAME, false}, MADE},
    {{"p10_bytes", "bytes", "allocated in 10 % of lifetimes at most", TABLE_UINT, true}, MADE},
    {{"p50_bytes", "bytes", "half", TABLE_UINT, true}, MADE},
    {{"p90_bytes", "bytes", "90 %", TABLE_UINT, true}, MADE},
    {{"p99_bytes", "bytes", "99 %", TABLE_UINT, true}, MADE},
    {{"p50_time", "ns", "half of the lifetimes are no longer", TABLE_DURATION, true}, MADE},
    {{"p90_time", "ns", "90 %", TABLE_DURATION, true}, MADE}};

static const struct java_column advice[] = {
    {{"advice", "", "pretenure, reuse, duplicate, scalar, presize", TABLE_NAME, false}, MADE},
    {{"class", "", "", TABLE_NAME, true}, MADE},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, MADE},
    {{"site", "", "number in sites", TABLE_UINT, true}, MADE},
    {{"bytes", "bytes", "at stake", TABLE_UINT, false}, MADE},
    {{"objects", "", "that show it", TABLE_UINT, false}, MADE},
    {{"site_objects", "", "all of the site", TABLE_UINT, false}, MADE},
    {{"is_estimate", "", "some deaths are lower bounds", TABLE_BOOL, false}, MADE}};

struct java_table {
    const char *name;
    const char *doc;
    const struct java_column *columns;
    size_t column_count;
    table_rows_create create;
    int record;   /* -1: rows come from several record types */
    bool adds_up; /* over all objects: a sampled trace has no such table */
    int made_of;  /* see struct table_definition; as `recorded_by` */
    const char *recorded_by;
};

#define COLUMNS(of) of, sizeof of / sizeof of[0]
#define BY_ALLOC ALLOC, "allocations (the agent's option events=alloc)"
#define BY_FREE FREE, "deaths (the agent's option events=free; collections find deaths)"
#define BY_METHOD STEP_JAVA_METHOD_ENTRY, "method events (the agent's option events=method)"
#define BY_ANY -1, NULL

static const struct java_table java_tables[] = {
    {"objects", "one row an object", COLUMNS(objects), object_rows_create, ALLOC, false, BY_ALLOC},
    {"allocations", "one row an allocation", COLUMNS(allocations), record_rows_create, ALLOC, false,
     BY_ALLOC},
    {"frees", "one row a death", COLUMNS(frees), record_rows_create, FREE, false, BY_FREE},
    {"calls", "one row a call", COLUMNS(calls), call_rows_create, -1, false, BY_METHOD},
    {"method_counts", "what calls came to (method=count)", COLUMNS(method_counts),
     record_rows_create, COUNT, false, COUNT, "counts of calls (the agent's option method=count)"},
    {"classes", "all classes", COLUMNS(classes), entry_rows_create, STEP_JAVA_CLASS, false, BY_ANY},
    {"methods", "all methods", COLUMNS(methods), entry_rows_create, STEP_JAVA_METHOD, false,
     STEP_JAVA_METHOD, "methods (the agent's options events=method and stack=16)"},
    {"threads", "all threads", COLUMNS(threads), entry_rows_create, STEP_JAVA_THREAD, false,
     BY_ANY},
    {"sites", "all frames of call stacks", COLUMNS(sites), entry_rows_create, STEP_JAVA_FRAME,
     false, STEP_JAVA_FRAME, "call stacks (the agent's option stack=16)"},
    {"collections", "one row a collection that freed something", COLUMNS(collections),
     level_rows_create, -1, true, BY_FREE},
    {"live", "what lived, over time", COLUMNS(live), level_rows_create, -1, true, BY_ALLOC},
    {"phases", "one row a phase", COLUMNS(phases), phase_rows_create, -1, false,
     STEP_JAVA_PHASE_BEGIN, "phases (the agent's option phase=CLASS.METHOD)"},
    {"lifetimes", "one row an allocation site", COLUMNS(lifetimes), site_rows_create, -1, true,
     BY_ALLOC},
    {"advice", "what `steptrace advise` says", COLUMNS(advice), site_rows_create, -1, true,
     BY_ALLOC}};

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
        .create = table->create,
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
            status = add(tables, &java_tables[i], error);
    return status;
}
