/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for each record type of the trace's definition, with its fields and those of types that
 * extend it, and a table for the entries of each dictionary type.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/tables/makers.h"
#include "converter/tables/tables_trace.h"

enum { NAME_BYTES = 600, COLUMNS_MOST = 2000 }; /* SQLite's default maximum */

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

static void add_column(struct growing_table *table, const char *name, const char *doc,
                       enum table_type type, bool nullable, struct table_cell cell)
{
    if (table->count == COLUMNS_MOST || table->failed)
        return;
    char *copy = strdup(name);
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
static void add_field(struct growing_table *table, uint32_t owner, uint32_t top,
                      const struct step_field *field, const char *name, size_t *slot, bool nullable)
{
    const struct step_definition *definition = table->tables->definition;
    char inner[NAME_BYTES];
    if (step_field_is_nested(field)) {
        const struct step_record *record = &definition->records[field->record];
        for (size_t i = 0; i < record->field_count; i++) {
            snprintf(inner, sizeof inner, "%.400s.%.180s", name, record->fields[i].name);
            add_field(table, owner, top, &record->fields[i], inner, slot, nullable);
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
        add_column(table, inner, field->description, type, nullable, cell);
    (*slot)++;
}

static void add_fields(struct growing_table *table, uint32_t owner, size_t first, bool nullable)
{
    const struct step_definition *definition = table->tables->definition;
    const struct step_record *record = &definition->records[owner];
    size_t slot = record_field_slot(definition, owner, (uint32_t) first);
    for (size_t i = first; i < record->field_count; i++)
        add_field(table, owner, (uint32_t) i, &record->fields[i], record->fields[i].name, &slot,
                  nullable);
}

static enum step_status add_record(struct tables *tables, uint32_t number,
                                   struct growing_table *table, struct step_error *error)
{
    const struct step_definition *definition = tables->definition;
    const struct step_record *record = &definition->records[number];
    add_column(table, "record", "its type", TABLE_NAME, false,
               (struct table_cell){.kind = CELL_TYPE, .owner = number});
    add_fields(table, number, 0, false);
    for (uint32_t i = 0; i < definition->record_count; i++) {
        uint32_t parent = definition->records[i].parent;
        if (i != number && parent != STEP_NO_RECORD && step_record_extends(definition, i, number))
            add_fields(table, i, definition->records[parent].field_count, true);
    }
    const struct table_definition made = {
        .base = {record->name, record->description != NULL ? record->description : "",
                 table->columns, table->count},
        .rows_from = ROWS_OF_BLOCKS,
        .record = number,
        .cells = table->cells};
    return table->failed ? no_memory(error) : tables_add(tables, &made, error);
}

enum step_status record_tables_add(struct tables *tables, struct step_error *error)
{
    struct growing_table table = {.tables = tables,
                                  .columns = calloc(COLUMNS_MOST, sizeof *table.columns),
                                  .cells = calloc(COLUMNS_MOST, sizeof *table.cells)};
    enum step_status status =
        table.columns != NULL && table.cells != NULL ? STEP_STATUS_OK : no_memory(error);
    for (uint32_t i = 0; i < tables->definition->record_count && status == STEP_STATUS_OK; i++) {
        table.count = 0;
        status = add_record(tables, i, &table, error);
        for (size_t k = 0; k < table.count; k++)
            free((void *) (uintptr_t) table.columns[k].name);
    }
    free(table.columns);
    free(table.cells);
    return status;
}
