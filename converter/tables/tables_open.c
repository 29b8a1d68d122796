/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a trace as tables, and finding tables and columns by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/arguments.h"
#include "converter/base/given_definition.h"
#include "converter/base/no_memory.h"
#include "converter/formats/step/stepfile.h"
#include "converter/tables/tables_trace.h"

/* ---- what the trace is ---- */

uint32_t tables_record(const struct tables *tables, const char *name)
{
    return step_definition_find(tables->definition, name);
}

size_t tables_slot(const struct step_definition *definition, uint32_t record, uint32_t field)
{
    size_t slot = 0;
    for (uint32_t i = 0; i < field; i++) {
        const struct step_field *before = &definition->records[record].fields[i];
        slot +=
            step_field_is_nested(before) ? step_record_slot_count(definition, before->record) : 1;
    }
    return slot;
}

static void read_resolution(struct tables *tables)
{
    const char *text = step_reader_property(tables->reader, "resolution-ns");
    unsigned long long value = text != NULL ? strtoull(text, NULL, 10) : 0;
    tables->has_resolution = value > 0;
    tables->resolution_ns = value > 0 ? value : 1;
}

static uint64_t entries_of(const struct tables *tables, uint32_t record)
{
    return record != STEP_NO_RECORD ? step_reader_dictionary_count(tables->reader, record) : 0;
}

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
    enum step_status status = step_java_trace_bind(tables->definition, &tables->binding, error);
    if (status != STEP_STATUS_OK)
        return status;
    tables->is_bound = true;
    tables->classes = tables_record(tables, "java.Class");
    tables->methods = tables_record(tables, "java.Method");
    tables->threads = tables_record(tables, "java.Thread");
    tables->frames = tables_record(tables, "java.Frame");
    status = table_names_init(&tables->class_names, entries_of(tables, tables->classes) + 1, error);
    return status == STEP_STATUS_OK
               ? table_names_init(&tables->method_names, entries_of(tables, tables->methods) + 1,
                                  error)
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
    enum step_status status = open_with_given_definition(path, &tables->reader, error);
    if (status == STEP_STATUS_FORMAT)
        step_error_set(error, status, path, STEP_NO_OFFSET,
                       "tables are made of .step traces; `steptrace convert` makes one of others");
    if (status == STEP_STATUS_OK) {
        tables->definition = step_reader_borrow_definition(tables->reader);
        tables->kind = stepfile_reader_has_heap_events(tables->reader)         ? TABLES_OF_HEAP
                       : tables_record(tables, "java.Event") != STEP_NO_RECORD ? TABLES_OF_JAVA
                                                                               : TABLES_OF_RECORDS;
        read_resolution(tables);
        status = add_tables(tables, error);
    }
    if (status != STEP_STATUS_OK) {
        tables_close(tables);
        return status;
    }
    *out = tables;
    return status;
}

static void free_definition(struct table_definition *definition)
{
    for (size_t i = 0; i < definition->base.column_count; i++) {
        free((void *) (uintptr_t) definition->base.columns[i].name);
        free((void *) (uintptr_t) definition->base.columns[i].doc);
    }
    free((void *) (uintptr_t) definition->base.columns);
    free((void *) (uintptr_t) definition->base.name);
    free((void *) (uintptr_t) definition->base.doc);
    free((void *) (uintptr_t) definition->cells);
}

void tables_close(struct tables *tables)
{
    if (tables == NULL)
        return;
    for (size_t i = 0; i < tables->count; i++)
        free_definition(&tables->items[i]);
    free(tables->items);
    if (tables->is_bound)
        step_java_trace_unbind(&tables->binding);
    table_names_reset(&tables->class_names);
    table_names_reset(&tables->method_names);
    table_names_reset(&tables->type_names);
    table_names_reset(&tables->words);
    free(tables->collections);
    step_reader_destroy(tables->reader);
    free(tables->path);
    free(tables);
}

/* ---- its tables ---- */

/* Copies the texts of `from`, whose columns may come from anywhere. */
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
        size_t capacity = tables->capacity * 2 + 16;
        struct table_definition *items = realloc(tables->items, capacity * sizeof *items);
        if (items == NULL)
            return no_memory(error);
        tables->items = items;
        tables->capacity = capacity;
    }
    return copy_definition(&tables->items[tables->count++], definition) ? STEP_STATUS_OK
                                                                        : no_memory(error);
}

size_t tables_count(const struct tables *tables)
{
    return tables->count;
}

const struct table *tables_at(const struct tables *tables, size_t i)
{
    return i < tables->count ? &tables->items[i].base : NULL;
}

/* "there is no table 'objcts'; did you mean objects? There are: objects, allocations" */
static enum step_status tell_names(const char *what, const char *typed, const char *const *names,
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
    enum step_status status = tell_names("table", name, names, tables->count, error);
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
    enum step_status status = tell_names(what, name, names, table->column_count, error);
    free(names);
    return status;
}

const char *table_type_name(enum table_type type)
{
    static const char *const names[] = {"uint", "int",  "time", "duration",
                                        "bool", "name", "text", "data"};
    return (size_t) type < sizeof names / sizeof names[0] ? names[type] : "?";
}

/* ---- the rest ---- */

const struct step_reader *tables_borrow_reader(const struct tables *tables)
{
    return tables->reader;
}

uint64_t tables_start_time_ns(const struct tables *tables)
{
    const char *text = step_reader_property(tables->reader, "start-time-ns");
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

enum step_status tables_damage(const struct tables *tables, struct step_error *error)
{
    const struct step_reader *reader = tables->reader;
    size_t count = step_reader_damage_count(reader);
    if (count > 0) {
        const struct step_damage *damage = step_reader_damage(reader, 0);
        return step_error_set(error, STEP_STATUS_CORRUPT, tables->path, damage->offset,
                              count > 1 ? "%s; and %zu more places" : "%s", damage->message,
                              count - 1);
    }
    if (tables->damage.status != STEP_STATUS_OK) {
        if (error != NULL)
            *error = tables->damage;
        return STEP_STATUS_CORRUPT;
    }
    if (!step_reader_is_whole(reader) && !step_reader_is_running(reader))
        return step_error_set(error, STEP_STATUS_CORRUPT, tables->path,
                              step_reader_file_size(reader),
                              "the trace ends before its end: it was cut, or its process died");
    return STEP_STATUS_OK;
}

uint64_t table_row_count(const struct tables *tables, const struct table *table)
{
    const struct table_definition *definition = table_definition_of(table);
    uint64_t rows = 0;
    if (definition->record == STEP_NO_RECORD)
        return 0;
    if (definition->create == entry_rows_create)
        return step_reader_dictionary_count(tables->reader, definition->record);
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++) {
        const struct step_block_info *info = step_reader_block_info(tables->reader, i);
        for (size_t k = 0; k < info->type_count; k++)
            if (step_record_extends(tables->definition, info->counts[k].record, definition->record))
                rows += info->counts[k].count;
    }
    return rows;
}

bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column)
{
    (void) tables;
    return table_definition_of(table)->create == entry_rows_create && column == 0;
}
