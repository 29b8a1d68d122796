/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes and methods, and times of collections, of a Java trace. */
#include <stdlib.h>

#include "analyses/tables/block_choice.h"
#include "converter/containers/no_memory.h"
#include "format/core/grow.h"
#include "format/core/search.h"

/* ---- names ---- */

uint32_t tables_class_code(struct tables *tables, uint64_t class_id)
{
    struct table_names *names = &tables->class_names;
    if (class_id >= names->code_count)
        return table_names_code(names, step_text("?"));
    uint32_t *code = &names->codes[class_id];
    if (*code == NO_NAME_CODE)
        *code = table_names_code(names, java_class_name(&tables->java, class_id));
    return *code;
}

static struct step_bytes class_text(struct tables *tables, uint64_t class_id)
{
    uint32_t code = tables_class_code(tables, class_id);
    return code != NO_NAME_CODE ? tables->class_names.texts[code] : step_text("?");
}

uint32_t tables_method_code(struct tables *tables, uint64_t method_id)
{
    struct table_names *names = &tables->method_names;
    struct step_java_method entry;
    if (method_id >= names->code_count)
        return table_names_code(names, step_text("?"));
    uint32_t *code = &names->codes[method_id];
    if (*code != NO_NAME_CODE)
        return *code;
    *code = java_method(&tables->java, method_id, &entry)
                ? table_names_join(names, class_text(tables, entry.class_), entry.name)
                : table_names_code(names, step_text("?"));
    return *code;
}

uint64_t tables_method_class(struct tables *tables, uint64_t method_id)
{
    struct step_java_method entry;
    return java_method(&tables->java, method_id, &entry) ? entry.class_ : 0;
}

bool row_put_class(struct table_rows *rows, size_t column, uint64_t class_id)
{
    if (rows->builder.values[column] == NULL)
        return true;
    uint32_t code = class_id != 0 ? tables_class_code(rows->tables, class_id) : 0;
    row_put_code(&rows->builder, column, code, class_id == 0);
    return code != NO_NAME_CODE;
}

bool row_put_method(struct table_rows *rows, size_t column, uint64_t method_id)
{
    if (rows->builder.values[column] == NULL)
        return true;
    uint32_t code = method_id != 0 ? tables_method_code(rows->tables, method_id) : 0;
    row_put_code(&rows->builder, column, code, method_id == 0);
    return code != NO_NAME_CODE;
}

/* ---- collections ---- */

static int java_names_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a;
    uint64_t y = *(const uint64_t *) b;
    return x < y ? -1 : x > y;
}

static bool add_time(struct tables *tables, size_t *capacity, uint64_t time_ns)
{
    size_t count = tables->collection_count;
    if (count > 0 && tables->collections[count - 1] == time_ns)
        return true;
    if (!STEP_MAKE_ROOM(tables->collections, *capacity, count + 1))
        return false;
    tables->collections[tables->collection_count++] = time_ns;
    return true;
}

bool tables_field(const struct tables *tables, int known, int of, const char *name,
                  struct table_field *out)
{
    uint32_t number = java_record_of(&tables->java, known);
    if (number == STEP_NO_RECORD ||
        !step_record_extends(tables->definition, number, java_record_of(&tables->java, of)))
        return false;
    const struct step_record *record = &tables->definition->records[number];
    size_t field = step_record_find_field(record, name);
    if (field == SIZE_MAX || record->fields[field].array_depth > 0 ||
        (record->fields[field].kind != STEP_TYPE_INT &&
         !step_field_is_identifier(&record->fields[field])))
        return false;
    *out = (struct table_field){number, (uint32_t) field,
                                record_field_slot(tables->definition, number, (uint32_t) field)};
    return true;
}

enum step_status collected_view_set(struct collected_view *view, struct step_block *block,
                                    uint32_t record, size_t time_slot,
                                    const struct table_field *field, struct step_error *error)
{
    *view = (struct collected_view){0};
    enum step_status status =
        step_block_column(block, record, record, time_slot, &view->times, error);
    if (status == STEP_STATUS_OK && field != NULL)
        status =
            step_block_column(block, record, field->record, field->slot, &view->collected, error);
    return status;
}

static enum step_status add_block(struct tables *tables, const struct collected_view *view,
                                  size_t *capacity, struct step_error *error)
{
    bool is_one = view->times.step == 0 && view->collected.count == 0 && view->times.count > 1;
    size_t rows = is_one ? 1 : view->times.count;
    for (size_t i = 0; i < rows; i++)
        if (!add_time(tables, capacity, tables_time_ns(tables, collected_view_ticks(view, i))))
            return no_memory(error);
    return STEP_STATUS_OK;
}

static void sort_times(struct tables *tables)
{
    size_t kept = 0;
    uint64_t *times = tables->collections;
    if (tables->collection_count > 0)
        qsort(times, tables->collection_count, sizeof *times, java_names_compare);
    for (size_t i = 0; i < tables->collection_count; i++)
        if (kept == 0 || times[kept - 1] != times[i])
            times[kept++] = times[i];
    tables->collection_count = kept;
}

enum step_status tables_find_collections(struct tables *tables, struct step_error *error)
{
    struct step_block *block = NULL;
    enum step_status status = STEP_STATUS_OK;
    struct table_field time, collected;
    struct collected_view view;
    size_t capacity = 0;
    if (tables->has_collections ||
        !tables_field(tables, STEP_JAVA_OBJECT_FREE, STEP_JAVA_OBJECT_FREE, "time", &time))
        return status;
    uint8_t **fields = wanted_fields_create(tables->definition, time.record);
    if (fields == NULL)
        return no_memory(error);
    wanted_fields_add(fields, tables->definition, &time);
    bool is_dated = tables_field(tables, COLLECTED_FIELD, &collected);
    if (is_dated)
        wanted_fields_add(fields, tables->definition, &collected);
    tables->collection_count = 0;
    size_t count = step_reader_block_count(tables->reader);
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        if (block_rows(tables, i, time.record) == 0)
            continue;
        status = step_reader_load_fields(tables->reader, i, (const uint8_t *const *) fields, &block,
                                         error);
        if (status == STEP_STATUS_OK)
            status = collected_view_set(&view, block, time.record, time.slot,
                                        is_dated ? &collected : NULL, error);
        if (status == STEP_STATUS_OK)
            status = add_block(tables, &view, &capacity, error);
        if (tables_is_damage(status))
            status = STEP_STATUS_OK;
    }
    wanted_fields_destroy(fields, tables->definition);
    step_block_destroy(block);
    sort_times(tables);
    tables->has_collections = status == STEP_STATUS_OK;
    return status;
}

size_t tables_collections_before(const struct tables *tables, uint64_t time_ns)
{
    return step_lower_bound(tables->collections, tables->collection_count, time_ns);
}
