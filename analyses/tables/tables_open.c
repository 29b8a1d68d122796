/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace and adds its tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/makers.h"
#include "analyses/tables/more_tables.h"
#include "analyses/tables/tables_trace.h"
#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_reader.h"
#include "converter/step/stepfile.h"
#include "converter/trace/unmatched.h"
#include "format/core/grow.h"

/* ---- the tables of a Java trace, documented in docs/tables.md; here are those whose rows are
 * records ---- */

enum { COLUMNS_MOST = 20 };

#define DEATH STEP_JAVA_OBJECT_DEATH
#define FREE_UNKNOWN STEP_JAVA_OBJECT_FREE_UNKNOWN
#define COUNT STEP_JAVA_METHOD_COUNT
#define EDEN STEP_JAVA_EDEN_CLASS

static const struct java_column allocations[] = {
    {{"time", "ns", "", TABLE_TIME, false}, CELL_TICKS, ALLOC, "time"},
    {{"thread", "", "0: the VM", TABLE_UINT, false}, OF_ALLOC("thread")},
    {{"class", "", "", TABLE_NAME, true}, CELL_CLASS, ALLOC, "class"},
    {{"class_id", "", "number in classes", TABLE_UINT, false}, OF_ALLOC("class")},
    {{"object", "", "its number", TABLE_UINT, false}, OF_ALLOC("object")},
    {{"size", "bytes", "", TABLE_UINT, false}, OF_ALLOC("size")},
    {{"site", "", "number in sites", TABLE_UINT, true}, CELL_ID, ALLOC_AT, "stack"},
    EXISTING_COLUMN,
    WEIGHT_COLUMN};

static const struct java_column frees[] = {
    {{"time", "ns", "", TABLE_TIME, false}, CELL_TICKS, FREE, "time"},
    {{"object", "", "its number", TABLE_UINT, false}, CELL_NUMBER, FREE, "object"},
    {{"collection", "", "number in collections", TABLE_UINT, false}, CELL_COLLECTION, FREE, "time"},
    {{"class", "", "where the trace lacks the allocation", TABLE_NAME, true},
     CELL_CLASS,
     FREE_UNKNOWN,
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

#define OF_COUNT(field) CELL_NUMBER, COUNT, field
static const struct java_column method_counts[] = {
    {{"method", "", "", TABLE_NAME, true}, CELL_METHOD, COUNT, "method"},
    {{"class", "", "of the method", TABLE_NAME, true}, CELL_METHOD_CLASS, COUNT, "method"},
    {{"method_id", "", "number in methods", TABLE_UINT, false}, OF_COUNT("method")},
    {{"calls", "", "", TABLE_UINT, false}, OF_COUNT("calls")},
    {{"exceptions", "", "calls that an exception ended", TABLE_UINT, false},
     OF_COUNT("exceptions")},
    {{"inclusive", "ns", "in outermost calls of each thread", TABLE_DURATION, false},
     OF_COUNT("inclusive")},
    {{"exclusive", "ns", "without the methods that it called", TABLE_DURATION, false},
     OF_COUNT("exclusive")}};

#define OF_EDEN(field) CELL_NUMBER, EDEN, field
#define OF_SURVIVED(field) CELL_NUMBER, STEP_JAVA_EDEN_SURVIVED, field
static const struct java_column eden_classes[] = {
    {{"collection", "", "1, 2..; the last one is the end", TABLE_UINT, false},
     OF_EDEN("collection")},
    {{"time", "ns", "when it began", TABLE_TIME, false}, CELL_TICKS, EDEN, "time"},
    {{"class", "", "null: not known", TABLE_NAME, true}, CELL_CLASS, EDEN, "class"},
    {{"class_id", "", "number in classes; 0: not known", TABLE_UINT, false}, OF_EDEN("class")},
    {{"objects", "", "since the collection before", TABLE_UINT, false}, OF_EDEN("objects")},
    {{"bytes", "bytes", "of these", TABLE_UINT, false}, OF_EDEN("bytes")},
    {{"survived", "", "of the objects, this collection; null: not known", TABLE_UINT, true},
     OF_SURVIVED("survived")},
    {{"survived_bytes", "bytes", "of these", TABLE_UINT, true}, OF_SURVIVED("survived_bytes")}};

static const struct java_table allocations_table =
    RECORD_TABLE("allocations", "one row per allocation", allocations, NULL, ALLOC, BY_ALLOC);

static const struct java_table frees_table =
    RECORD_TABLE("frees", "one row per death", frees, NULL, FREE, BY_FREE);

static const struct java_table method_counts_table =
    RECORD_TABLE("method_counts", "what calls came to (method=count)", method_counts, NULL, COUNT,
                 COUNT, "counts of calls (the agent\'s option method=count)");

static const struct java_table eden_classes_table =
    RECORD_TABLE("eden_classes", "what was allocated by class (engine=walk)", eden_classes, NULL,
                 EDEN, EDEN, "totals of classes (the agent\'s option engine=walk)");

/* Then those that analyses register (steptrace_tables() in cmake/registry.cmake). */
#define TABLE_DECLARE(name) extern const struct java_table name##_table;
MORE_TABLES(TABLE_DECLARE)
#undef TABLE_DECLARE
#define TABLE_ROW(name) &name##_table,
static const struct java_table *const java_tables[] = {
    &objects_table,       &allocations_table,    &frees_table,   &calls_table,
    &method_counts_table, &classes_table,        &methods_table, &threads_table,
    &sites_table,         &collections_table,    &live_table,    &phases_table,
    &eden_classes_table,  MORE_TABLES(TABLE_ROW)};
#undef TABLE_ROW

/* Returns the cell of a column for this trace's definition.  A missing field gives null. */
static struct table_cell tables_open_resolve(const struct tables *tables, uint32_t rows_of,
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

static enum step_status tables_open_add(struct tables *tables, const struct java_table *table,
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
        cells[i] = tables_open_resolve(tables, definition.record, &table->columns[i]);
        definition.base.column_count = i + 1;
    }
    return tables_add(tables, &definition, error);
}

static enum step_status java_tables_add(struct tables *tables, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < sizeof java_tables / sizeof java_tables[0]; i++)
        if (status == STEP_STATUS_OK)
            status = tables_open_add(tables, java_tables[i], error);
    return status;
}

/* ---- tables of record types ----
 * There is a table for each record type of the trace's definition, with its fields and those of
 * types that extend it, and one for the entries of each dictionary type. */

enum { NAME_BYTES = 600, COLUMNS_OF_RECORDS_MOST = 2000 }; /* SQLite's default maximum */

struct growing_table {
    struct tables *tables;
    struct table_column *columns;
    struct table_cell *cells;
    size_t count;
    bool failed;
};

static bool has_column(const struct growing_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return true;
    return false;
}

static void tables_open_add_column(struct growing_table *table, const char *name, const char *doc,
                                   enum table_type type, bool nullable, struct table_cell cell)
{
    if (table->count == COLUMNS_OF_RECORDS_MOST || table->failed)
        return;
    char *copy = step_arena_text(&table->tables->memory, name, strlen(name));
    if (copy == NULL) {
        table->failed = true;
        return;
    }
    bool is_time = type == TABLE_TIME;
    table->columns[table->count] =
        (struct table_column){copy, is_time ? "ns" : "", doc != NULL ? doc : "", type, nullable};
    table->cells[table->count++] = cell;
}

/* Selects the table type and cell kind of a scalar field. */
static enum table_type type_of(const struct tables *tables, const struct step_field *field,
                               bool is_time, enum cell_kind *kind)
{
    *kind = CELL_NUMBER;
    if (field->array_depth > 0 || step_field_is_variant(field)) {
        *kind = CELL_JSON;
        return TABLE_TEXT;
    }
    if (step_field_is_identifier(field) && field->kind == STEP_TYPE_RECORD)
        return TABLE_UINT;
    if (field->kind == STEP_TYPE_STRING || field->kind == STEP_TYPE_DATA) {
        *kind = CELL_TEXT;
        return field->kind == STEP_TYPE_STRING ? TABLE_TEXT : TABLE_DATA;
    }
    if (is_time && tables->has_resolution) {
        *kind = CELL_TICKS;
        return TABLE_TIME;
    }
    return is_time || step_field_is_unsigned(field) ? TABLE_UINT : TABLE_INT;
}

/* Adds the columns of a field; nested records have columns like "at.x". */
static void tables_open_add_field(struct growing_table *table, uint32_t owner, uint32_t top,
                                  const struct step_field *field, const char *name, size_t *slot,
                                  bool nullable)
{
    const struct step_definition *definition = table->tables->definition;
    char inner[NAME_BYTES];
    if (step_field_is_nested(field)) {
        const struct step_record *record = &definition->records[field->record];
        for (size_t i = 0; i < record->field_count; i++) {
            snprintf(inner, sizeof inner, "%.400s.%.180s", name, record->fields[i].name);
            tables_open_add_field(table, owner, top, &record->fields[i], inner, slot, nullable);
        }
        return;
    }
    struct table_cell cell = {.owner = owner, .field = top, .slot = *slot};
    bool is_time = step_record_find_property(definition, owner, "time") == *slot;
    enum table_type type = type_of(table->tables, field, is_time, &cell.kind);
    snprintf(inner, sizeof inner, "%.400s", name);
    const char *full = definition->records[owner].name;
    const char *last = strrchr(full, '.');
    if (has_column(table, inner)) /* types that extend one may share field names */
        snprintf(inner, sizeof inner, "%.180s.%.400s", last != NULL ? last + 1 : full, name);
    if (!has_column(table, inner))
        tables_open_add_column(table, inner, field->description, type, nullable, cell);
    (*slot)++;
}

static void tables_open_add_fields(struct growing_table *table, uint32_t owner, size_t first,
                                   bool nullable)
{
    const struct step_definition *definition = table->tables->definition;
    const struct step_record *record = &definition->records[owner];
    size_t slot = record_field_slot(definition, owner, (uint32_t) first);
    for (size_t i = first; i < record->field_count; i++)
        tables_open_add_field(table, owner, (uint32_t) i, &record->fields[i],
                              record->fields[i].name, &slot, nullable);
}

static enum step_status tables_open_add_record(struct tables *tables, uint32_t number,
                                               struct growing_table *table,
                                               struct step_error *error)
{
    const struct step_definition *definition = tables->definition;
    const struct step_record *record = &definition->records[number];
    tables_open_add_column(table, "record", "its type", TABLE_NAME, false,
                           (struct table_cell){.kind = CELL_TYPE, .owner = number});
    tables_open_add_fields(table, number, 0, false);
    for (uint32_t i = 0; i < definition->record_count; i++) {
        uint32_t parent = definition->records[i].parent;
        if (i != number && parent != STEP_NO_RECORD && step_record_extends(definition, i, number))
            tables_open_add_fields(table, i, definition->records[parent].field_count, true);
    }
    const struct table_definition made = {
        .base = {record->name, record->description != NULL ? record->description : "",
                 table->columns, table->count},
        .rows_from = ROWS_OF_BLOCKS,
        .record = number,
        .cells = table->cells};
    return table->failed ? no_memory(error) : tables_add(tables, &made, error);
}

static enum step_status record_tables_add(struct tables *tables, struct step_error *error)
{
    struct growing_table table = {.tables = tables,
                                  .columns = calloc(COLUMNS_OF_RECORDS_MOST, sizeof *table.columns),
                                  .cells = calloc(COLUMNS_OF_RECORDS_MOST, sizeof *table.cells)};
    enum step_status status =
        table.columns != NULL && table.cells != NULL ? STEP_STATUS_OK : no_memory(error);
    for (uint32_t i = 0; i < tables->definition->record_count && status == STEP_STATUS_OK; i++) {
        table.count = 0;
        status = tables_open_add_record(tables, i, &table, error);
    }
    free(table.columns);
    free(table.cells);
    return status;
}

/* ---- kind of trace ---- */

static enum step_status name_types(struct tables *tables, struct step_error *error)
{
    enum step_status status = table_names_init(&tables->type_names, 0, error);
    for (size_t i = 0; i < tables->definition->record_count && status == STEP_STATUS_OK; i++)
        if (table_names_code(&tables->type_names, step_text(tables->definition->records[i].name)) ==
            NO_NAME_CODE)
            status = no_memory(error);
    return status == STEP_STATUS_OK ? table_names_init(&tables->words, 0, error) : status;
}

static enum step_status bind_java(struct tables *tables, struct step_error *error)
{
    enum step_status status = java_records_init(&tables->java, tables->reader, error);
    if (status == STEP_STATUS_OK)
        status = table_names_init(&tables->class_names,
                                  java_entry_count(&tables->java, STEP_JAVA_CLASS) + 1, error);
    return status == STEP_STATUS_OK
               ? table_names_init(&tables->method_names,
                                  java_entry_count(&tables->java, STEP_JAVA_METHOD) + 1, error)
               : status;
}

static enum step_status add_tables(struct tables *tables, struct step_error *error)
{
    enum step_status status = name_types(tables, error);
    if (tables->kind == TABLES_OF_JAVA && status == STEP_STATUS_OK)
        status = bind_java(tables, error);
    if (tables->kind == TABLES_OF_JAVA && status == STEP_STATUS_OK)
        status = java_tables_add(tables, error);
    if (tables->kind == TABLES_OF_HEAP && status == STEP_STATUS_OK)
        status = heap_tables_add(tables, error);
    return status == STEP_STATUS_OK ? record_tables_add(tables, error) : status;
}

enum step_status tables_open(const char *path, struct tables **out, struct step_error *error)
{
    *out = NULL;
    struct tables *tables = calloc(1, sizeof *tables);
    if (tables == NULL || (tables->path = strdup(path)) == NULL) {
        free(tables);
        return no_memory(error);
    }
    tables->memory.limit = UINT64_MAX;
    enum step_status status = open_with_given_definition(path, NULL, &tables->reader, error);
    if (status == STEP_STATUS_FORMAT)
        step_error_set(
            error, status, path, STEP_NO_OFFSET,
            "only .step traces can be queried; convert other formats with `steptrace convert`");
    if (status == STEP_STATUS_OK) {
        tables->definition = step_reader_borrow_definition(tables->reader);
        bool is_java = step_definition_find(tables->definition, "java.Event") != STEP_NO_RECORD;
        tables->kind = stepfile_reader_has_heap_events(tables->reader) ? TABLES_OF_HEAP
                       : is_java                                       ? TABLES_OF_JAVA
                                                                       : TABLES_OF_RECORDS;
        tables->has_resolution = trace_given_resolution_ns(tables->reader) > 0;
        tables->resolution_ns = trace_resolution_ns(tables->reader);
        tables->sample_interval_bytes =
            sampled_interval_bytes(step_reader_property(tables->reader, "engine"),
                                   step_reader_property(tables->reader, "sample"));
        status = add_tables(tables, error);
    }
    if (status != STEP_STATUS_OK) {
        tables_close(tables);
        return status;
    }
    *out = tables;
    return status;
}

void tables_close(struct tables *tables)
{
    if (tables == NULL)
        return;
    free(tables->items);
    step_arena_reset(&tables->memory);
    java_records_reset(&tables->java);
    table_names_reset(&tables->class_names);
    table_names_reset(&tables->method_names);
    table_names_reset(&tables->type_names);
    table_names_reset(&tables->words);
    free(tables->collections);
    sample_weights_reset(&tables->weights);
    if (tables->weighed != NULL)
        tables->weighed->operations->destroy(tables->weighed);
    step_reader_destroy(tables->reader);
    free(tables->path);
    free(tables);
}

/* ---- tables and columns by index or name; errors list the existing names ---- */

size_t tables_count(const struct tables *tables)
{
    return tables->count;
}

const struct table *tables_at(const struct tables *tables, size_t i)
{
    return i < tables->count ? &tables->items[i].base : NULL;
}

/* Sets the message "there is no table 'objcts'; did you mean objects? There are: objects,
 * allocations". */
static enum step_status report_names(const char *what, const char *typed, const char *const *names,
                                     size_t count, struct step_error *error)
{
    const char *nearest = nearest_word(typed, names, count);
    char list[380] = "";
    size_t length = 0;
    for (size_t i = 0; i < count && length + strlen(names[i]) + 8 < sizeof list; i++)
        length += (size_t) snprintf(list + length, sizeof list - length, "%s%s", i > 0 ? ", " : "",
                                    names[i]);
    return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                          "there is no %s '%.60s'%s%s%s (there are: %s)", what, typed,
                          nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
                          nearest != NULL ? "?" : "", list);
}

enum step_status tables_find(const struct tables *tables, const char *name,
                             const struct table **out, struct step_error *error)
{
    *out = NULL;
    for (size_t i = 0; i < tables->count && *out == NULL; i++)
        if (strcmp(tables->items[i].base.name, name) == 0)
            *out = &tables->items[i].base;
    if (*out != NULL)
        return STEP_STATUS_OK;
    const char **names = calloc(tables->count + 1, sizeof *names);
    if (names == NULL)
        return no_memory(error);
    for (size_t i = 0; i < tables->count; i++)
        names[i] = tables->items[i].base.name;
    const char *what =
        tables->sample_interval_bytes != 0 ? "table of a sample (engine=sampled)" : "table";
    enum step_status status = report_names(what, name, names, tables->count, error);
    free(names);
    return status;
}

enum step_status table_find_column(const struct table *table, const char *name, size_t *out,
                                   struct step_error *error)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].name, name) != 0)
            continue;
        *out = i;
        return STEP_STATUS_OK;
    }
    char what[160];
    const char **names = calloc(table->column_count + 1, sizeof *names);
    if (names == NULL)
        return no_memory(error);
    for (size_t i = 0; i < table->column_count; i++)
        names[i] = table->columns[i].name;
    snprintf(what, sizeof what, "column of %s", table->name);
    enum step_status status = report_names(what, name, names, table->column_count, error);
    free(names);
    return status;
}

const char *table_type_name(enum table_type type)
{
    static const char *const names[] = {"uint", "int",  "time", "duration", "bool",
                                        "name", "text", "data", "real"};
    return (size_t) type < sizeof names / sizeof names[0] ? names[type] : "?";
}

bool tables_have_class(const struct tables *tables, const char *glob, char *text)
{
    struct step_java_class entry;
    char nearest[300];
    size_t count = 0;
    bool found = false;
    uint32_t record = java_record_of(&tables->java, STEP_JAVA_CLASS);
    if (record == STEP_NO_RECORD)
        return true;
    uint64_t most = step_reader_dictionary_count(tables->reader, record);
    struct step_bytes *names = malloc(((size_t) most + 1) * sizeof *names);
    for (uint64_t id = 0; names != NULL && !found && count < most &&
                          (id = step_reader_dictionary_next(tables->reader, record, id)) != 0;) {
        if (!java_class(&tables->java, id, &entry))
            continue;
        names[count++] = entry.name;
        found = trace_class_matches(glob, entry.name);
    }
    if (!found && count > 0) {
        nearest_class(glob, names, count, nearest, sizeof nearest);
        snprintf(text, TABLES_CLASS_TEXT, "%s: no class matches '%.200s'%s", tables->path, glob,
                 nearest);
    }
    free(names);
    return found || count == 0;
}
