/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace and adds its tables. */
#include <stdlib.h>
#include <string.h>

#include "converter/base/given_definition.h"
#include "converter/base/no_memory.h"
#include "converter/base/sampled_trace.h"
#include "converter/step/stepfile.h"
#include "converter/tables/makers.h"
#include "converter/tables/tables_trace.h"
#include "format/core/grow.h"

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
    enum step_status status = open_with_weights(path, &tables->reader, error);
    if (status == STEP_STATUS_FORMAT)
        step_error_set(error, status, path, STEP_NO_OFFSET,
                       "tables are made of .step traces; `steptrace convert` makes one of others");
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
    java_records_reset(&tables->java);
    table_names_reset(&tables->class_names);
    table_names_reset(&tables->method_names);
    table_names_reset(&tables->type_names);
    table_names_reset(&tables->words);
    free(tables->collections);
    step_reader_destroy(tables->reader);
    free(tables->path);
    free(tables);
}
