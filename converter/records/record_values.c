/* SPDX-License-Identifier: Apache-2.0 */
/* Formats records of any definition as JSON. */
#include "converter/records/record_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "format/core/grow.h"

bool record_field_is_address(const struct step_field *field)
{
    bool found = step_attributes_rule(&field->attributes, "property", "address", NULL, NULL);
    for (size_t i = 0; i < field->sub_attribute_count && field->array_depth > 0; i++)
        found = found || step_attributes_rule(&field->sub_attributes[i].attributes, "property",
                                              "address", NULL, NULL);
    return found;
}

void record_values_init(struct record_values *values, const struct step_reader *reader, FILE *file)
{
    *values = (struct record_values){
        .reader = reader, .definition = step_reader_borrow_definition(reader), .file = file};
    json_init(&values->json, file);
    values->json.is_compact = true;
}

static void record_values_put_name(struct record_values *values, const char *name, bool first)
{
    fprintf(values->file, "%s\"%s\":", first ? "" : ",", name);
}

static const uint64_t *record_values_put_fields(struct record_values *values, uint32_t record,
                                                const uint64_t *slots, bool entries, bool first)
{
    const struct step_record *type = &values->definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        record_values_put_name(values, field->name, first && i == 0);
        if (step_field_is_nested(field)) {
            fputc('{', values->file);
            slots = record_values_put_fields(values, field->record, slots, entries, true);
            fputc('}', values->file);
        } else {
            record_values_put(values, field, 0, slots++, entries);
        }
    }
    return slots;
}

static void record_values_put_record(struct record_values *values, uint32_t record,
                                     const uint64_t *slots, bool entries)
{
    fprintf(values->file, "{\"$record\":\"%s\"", values->definition->records[record].name);
    record_values_put_fields(values, record, slots, entries, false);
    fputc('}', values->file);
}

static void record_values_put_entry(struct record_values *values, uint32_t record, uint64_t id)
{
    const uint64_t *entry =
        id != 0 ? step_reader_dictionary_entry(values->reader, record, id) : NULL;
    if (id == 0) {
        fputs("null", values->file);
        return;
    }
    fprintf(values->file, "{\"$id\":%" PRIu64, id);
    if (entry != NULL)
        record_values_put_fields(values, record, entry, false, false);
    fputc('}', values->file);
}

static void record_values_put_array(struct record_values *values, const struct step_field *field,
                                    uint32_t depth, const struct step_array *array, bool entries)
{
    bool by_value = depth + 1 == field->array_depth && field->kind == STEP_TYPE_RECORD &&
                    !step_field_is_identifier(field) && !step_field_is_variant(field);
    size_t step = by_value ? step_record_slot_count(values->definition, field->record) : 1;
    fputc('[', values->file);
    for (size_t i = 0; i < array->count; i++) {
        if (i > 0)
            fputc(',', values->file);
        record_values_put(values, field, depth + 1, array->slots + i * step, entries);
    }
    fputc(']', values->file);
}

static void put_variant(struct record_values *values, const struct step_variant *variant,
                        bool entries)
{
    if (variant->record >= values->definition->record_count)
        fputs("null", values->file);
    else
        record_values_put_record(values, variant->record, variant->slots, entries);
}

void record_values_put(struct record_values *values, const struct step_field *field, uint32_t depth,
                       const uint64_t *slots, bool entries)
{
    if (depth < field->array_depth)
        record_values_put_array(values, field, depth, step_slot_array(*slots), entries);
    else if (step_field_is_identifier(field) && entries)
        record_values_put_entry(values, field->record, *slots);
    else if (step_field_is_identifier(field))
        fprintf(values->file, "%" PRIu64, *slots);
    else if (step_field_is_variant(field))
        put_variant(values, step_slot_variant(*slots), entries);
    else if (field->kind == STEP_TYPE_STRING)
        json_bytes(&values->json, NULL, *step_slot_bytes(*slots));
    else if (field->kind == STEP_TYPE_DATA)
        json_hex(&values->json, NULL, *step_slot_bytes(*slots));
    else if (field->kind == STEP_TYPE_INT)
        fprintf(values->file, step_field_is_unsigned(field) ? "%" PRIu64 : "%" PRId64, *slots);
    else {
        fputc('{', values->file);
        record_values_put_fields(values, field->record, slots, entries, true);
        fputc('}', values->file);
    }
}

void record_values_put_line(struct record_values *values, const struct step_record_view *view)
{
    record_values_put_record(values, view->record, view->slots, true);
    fputc('\n', values->file);
}

/* ---- records of any definition as one CSV table (RFC 4180): all rows have all columns ---- */

enum { NAME_BYTES = 600, COLUMNS_MOST = 65536 };

/* A cell of a record type: its column, and the field and slot it shows. */
struct cell {
    uint32_t column;
    const struct step_field *field;
    size_t slot;
};

struct row_type {
    struct cell *cells;
    size_t cell_count;
};

struct record_table {
    struct record_values *values;
    struct row_type *types; /* by record */
    char **names;           /* of the columns */
    uint32_t column_count;
    size_t column_capacity;
    const struct cell **row; /* by column: the current record's cell */
    char *text;              /* buffer for a cell's JSON */
    size_t text_bytes;
};

/* Returns the column with that name, adding it if necessary; UINT32_MAX if out of memory. */
static uint32_t find_column(struct record_table *table, const char *name)
{
    for (uint32_t i = 0; i < table->column_count; i++)
        if (strcmp(table->names[i], name) == 0)
            return i;
    if (!STEP_MAKE_ROOM(table->names, table->column_capacity, table->column_count + (size_t) 1))
        return UINT32_MAX;
    char *copy = table->column_count < COLUMNS_MOST ? strdup(name) : NULL;
    if (copy == NULL)
        return UINT32_MAX;
    table->names[table->column_count] = copy;
    return table->column_count++;
}

static bool record_values_add_fields(struct record_table *table, struct row_type *type,
                                     uint32_t record, const char *prefix, size_t *slot)
{
    const struct step_record *fields = &table->values->definition->records[record];
    bool good = true;
    for (size_t i = 0; good && i < fields->field_count; i++) {
        const struct step_field *field = &fields->fields[i];
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", field->name);
        if (step_field_is_nested(field)) {
            good = record_values_add_fields(table, type, field->record, name, slot);
            continue;
        }
        uint32_t column = find_column(table, name);
        good = column != UINT32_MAX;
        if (good)
            type->cells[type->cell_count++] = (struct cell){column, field, (*slot)++};
    }
    return good;
}

struct record_table *record_table_create(struct record_values *values, const uint8_t *wanted)
{
    const struct step_definition *definition = values->definition;
    struct record_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->values = values;
    table->types = calloc(definition->record_count + 1, sizeof *table->types);
    bool good = table->types != NULL;
    for (uint32_t i = 0; good && i < definition->record_count; i++) {
        size_t slot = 0;
        if (!wanted[i])
            continue;
        table->types[i].cells =
            calloc(step_record_slot_count(definition, i) + 1, sizeof(struct cell));
        good = table->types[i].cells != NULL &&
               record_values_add_fields(table, &table->types[i], i, "", &slot);
    }
    table->row = calloc(table->column_count + 1u, sizeof(struct cell *));
    if (good && table->row != NULL)
        return table;
    record_table_destroy(table);
    return NULL;
}

void record_table_destroy(struct record_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; table->types != NULL && i < table->values->definition->record_count; i++)
        free(table->types[i].cells);
    for (uint32_t i = 0; i < table->column_count; i++)
        free(table->names[i]);
    free(table->types);
    free(table->names);
    free(table->row);
    free(table->text);
    free(table);
}

void record_table_put_head(struct record_table *table)
{
    fputs("record", table->values->file);
    for (uint32_t i = 0; i < table->column_count; i++)
        fprintf(table->values->file, ",%s", table->names[i]);
    fputs("\n", table->values->file);
}

/* Writes an array, a variant or a dictionary entry as JSON in the cell. */
static bool put_as_json(struct record_table *table, const struct step_field *field,
                        const uint64_t *slot)
{
    struct record_values inner;
    FILE *memory = open_memstream(&table->text, &table->text_bytes);
    if (memory == NULL)
        return false;
    record_values_init(&inner, table->values->reader, memory);
    record_values_put(&inner, field, 0, slot, true);
    bool good = fclose(memory) == 0;
    if (good)
        csv_put_text((struct step_bytes){(const uint8_t *) table->text, table->text_bytes},
                     table->values->file);
    free(table->text);
    table->text = NULL;
    return good;
}

static bool record_values_put_cell(struct record_table *table, const struct cell *cell,
                                   const uint64_t *slots)
{
    const struct step_field *field = cell->field;
    bool single = field->array_depth == 0 && field->kind != STEP_TYPE_RECORD;
    const uint64_t *slot = &slots[cell->slot];
    if (single && field->kind == STEP_TYPE_STRING) {
        csv_put_text(*step_slot_bytes(*slot), table->values->file);
    } else if (single && field->kind == STEP_TYPE_INT) {
        record_values_put(table->values, field, 0, slot, true);
    } else if (single) {
        const struct step_bytes *bytes = step_slot_bytes(*slot);
        for (size_t i = 0; i < bytes->length; i++)
            fprintf(table->values->file, "%02x", bytes->data[i]);
    } else if (field->array_depth > 0 || !step_field_is_identifier(field) || *slot != 0) {
        return put_as_json(table, field, slot);
    }
    return true;
}

bool record_table_put(struct record_table *table, const struct step_record_view *view)
{
    const struct row_type *type = &table->types[view->record];
    bool good = true;
    for (size_t i = 0; i < type->cell_count; i++)
        table->row[type->cells[i].column] = &type->cells[i];
    fputs(table->values->definition->records[view->record].name, table->values->file);
    for (uint32_t i = 0; good && i < table->column_count; i++) {
        fputc(',', table->values->file);
        if (table->row[i] != NULL)
            good = record_values_put_cell(table, table->row[i], view->slots);
    }
    fputs("\n", table->values->file);
    for (size_t i = 0; i < type->cell_count; i++)
        table->row[type->cells[i].column] = NULL;
    return good;
}
