/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace and adds its tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/arguments.h"
#include "converter/base/given_definition.h"
#include "converter/base/no_memory.h"
#include "converter/base/sampled_trace.h"
#include "converter/step/stepfile.h"
#include "converter/tables/makers.h"
#include "converter/tables/tables_trace.h"
#include "converter/trace/unmatched.h"
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

/* Finds tables and columns by index or name.  Errors list the existing names. */

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
