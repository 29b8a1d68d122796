/* SPDX-License-Identifier: Apache-2.0 */
/* Names, damage, row counts and tables of a trace.  Errors list the existing names. */
#include "converter/tables/tables_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/arguments.h"
#include "converter/base/no_memory.h"
#include "converter/base/trace_gap.h"
#include "converter/tables/block_choice.h"
#include "converter/trace/unmatched.h"
#include "format/core/grow.h"

/* Dictionaries of a valid trace are smaller (STEP_MAX_DICTIONARY_MEMORY); larger ids can only
 * come from a malicious file. */
#define NUMBERS_MOST (UINT64_C(1) << 25)

enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error)
{
    *names = (struct table_names){0};
    names->code_count = (size_t) (numbers < NUMBERS_MOST ? numbers : NUMBERS_MOST);
    names->codes = malloc((names->code_count + 1) * sizeof *names->codes);
    if (names->codes == NULL)
        return no_memory(error);
    memset(names->codes, 0xff, (names->code_count + 1) * sizeof *names->codes);
    return STEP_STATUS_OK;
}

void table_names_reset(struct table_names *names)
{
    for (size_t i = 0; i < names->owned_count; i++)
        free(names->owned[i]);
    free(names->owned);
    free(names->codes);
    free(names->texts);
    name_index_reset(&names->index);
    *names = (struct table_names){0};
}

uint32_t table_names_code(struct table_names *names, struct step_bytes text)
{
    bool is_new = false;
    if (names->dictionary.count == names->capacity) {
        struct step_bytes *texts =
            step_grown(names->texts, &names->capacity, names->capacity + 1, sizeof *texts);
        if (texts == NULL)
            return NO_NAME_CODE;
        names->texts = texts;
        names->dictionary.texts = texts;
    }
    uint32_t number = name_index_put(&names->index, 0, text, &is_new);
    if (number == 0)
        return NO_NAME_CODE;
    if (is_new)
        names->texts[names->dictionary.count++] = text;
    return number - 1;
}

bool table_names_codes(struct table_names *names, const char *const *texts, size_t count,
                       uint32_t *codes)
{
    for (size_t i = 0; i < count; i++)
        if ((codes[i] = table_names_code(names, step_text(texts[i]))) == NO_NAME_CODE)
            return false;
    return true;
}

static bool own(struct table_names *names, void *text)
{
    if (names->owned_count == names->owned_capacity) {
        void **owned = step_grown(names->owned, &names->owned_capacity, names->owned_capacity + 1,
                                  sizeof *owned);
        if (owned == NULL)
            return false;
        names->owned = owned;
    }
    names->owned[names->owned_count++] = text;
    return true;
}

uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second)
{
    size_t length = first.length + 1 + second.length;
    uint8_t *joined = malloc(length + 1);
    if (joined == NULL || !own(names, joined)) {
        free(joined);
        return NO_NAME_CODE;
    }
    if (first.length > 0)
        memcpy(joined, first.data, first.length);
    joined[first.length] = '.';
    if (second.length > 0)
        memcpy(joined + first.length + 1, second.data, second.length);
    return table_names_code(names, (struct step_bytes){joined, length});
}

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
    char text[TRACE_GAP_ROOM];
    const char *gap = trace_gap(reader, text);
    return gap == NULL ? STEP_STATUS_OK
                       : step_error_set(error, STEP_STATUS_CORRUPT, tables->path, STEP_NO_OFFSET,
                                        "%s", gap);
}

static uint64_t count_records(const struct tables *tables, uint32_t record)
{
    uint64_t count = 0;
    for (size_t i = 0; i < step_reader_block_count(tables->reader); i++)
        count += block_rows(tables, i, record);
    return count;
}

uint64_t table_row_count(const struct tables *tables, const struct table *table)
{
    const struct table_definition *definition = table_definition_of(table);
    if (definition->record == STEP_NO_RECORD)
        return 0;
    if (definition->rows_from == ROWS_OF_DICTIONARY)
        return step_reader_dictionary_count(tables->reader, definition->record);
    return count_records(tables, definition->record);
}

const char *table_unrecorded(const struct tables *tables, const struct table *table)
{
    const struct table_definition *definition = table_definition_of(table);
    bool is_recorded =
        definition->recorded_by == NULL || table_row_count(tables, table) > 0 ||
        (definition->made_of != STEP_NO_RECORD && count_records(tables, definition->made_of) > 0);
    return is_recorded ? NULL : definition->recorded_by;
}

bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column)
{
    (void) tables;
    return table_definition_of(table)->rows_from == ROWS_OF_DICTIONARY && column == 0;
}

/* ---- adding tables ---- */

/* Copies the texts of `from`, whose columns may be temporary. */
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
        struct table_definition *items =
            step_grown(tables->items, &tables->capacity, tables->count + 1, sizeof *items);
        if (items == NULL)
            return no_memory(error);
        tables->items = items;
    }
    struct table_definition *added = &tables->items[tables->count++];
    bool good = copy_definition(added, definition);
    return good ? STEP_STATUS_OK : no_memory(error);
}

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
