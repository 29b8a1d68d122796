/* SPDX-License-Identifier: Apache-2.0 */
/* Names, damage and row counts of a trace, and its list of tables. */
#include "analyses/tables/tables_trace.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/numbers/trace_ticks.h"
#include "format/core/grow.h"

/* Dictionaries of a valid trace are smaller (STEP_MAX_DICTIONARY_MEMORY); larger ids can only
 * come from a malicious file. */
#define NUMBERS_MOST (UINT64_C(1) << 25)

enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error)
{
    *names = (struct table_names){.code_count = 0};
    names->code_count = (size_t) (numbers < NUMBERS_MOST ? numbers : NUMBERS_MOST);
    names->codes = malloc((names->code_count + 1) * sizeof *names->codes);
    if (names->codes == NULL)
        return no_memory(error);
    memset(names->codes, 0xff, (names->code_count + 1) * sizeof *names->codes);
    return STEP_STATUS_OK;
}

void table_names_reset(struct table_names *names)
{
    step_arena_reset(&names->joined);
    free(names->codes);
    free(names->texts);
    name_index_reset(&names->index);
    *names = (struct table_names){0};
}

uint32_t table_names_code(struct table_names *names, struct step_bytes text)
{
    bool is_new = false;
    if (!STEP_MAKE_ROOM(names->texts, names->capacity, names->dictionary.count + 1))
        return NO_NAME_CODE;
    names->dictionary.texts = names->texts;
    uint32_t number = name_index_put(&names->index, 0, text, &is_new);
    if (number == 0)
        return NO_NAME_CODE;
    if (is_new)
        names->texts[names->dictionary.count++] = names->index.entries[number].text;
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

uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second)
{
    size_t length = first.length + 1 + second.length;
    step_arena_clear(&names->joined, UINT64_MAX);
    uint8_t *joined = step_arena_take(&names->joined, length, 1);
    if (joined == NULL)
        return NO_NAME_CODE;
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
    return trace_number(step_reader_property(tables->reader, "start-time-ns"), 0);
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

uint64_t block_rows(const struct tables *tables, size_t block, uint32_t record)
{
    const struct step_block_info *info = step_reader_block_info(tables->reader, block);
    uint64_t rows = 0;
    for (size_t i = 0; i < info->type_count; i++)
        if (step_record_extends(tables->definition, info->counts[i].record, record))
            rows += info->counts[i].count;
    return rows;
}

static uint64_t tables_trace_count_records(const struct tables *tables, uint32_t record)
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
    return tables_trace_count_records(tables, definition->record);
}

const char *table_unrecorded(const struct tables *tables, const struct table *table)
{
    const struct table_definition *definition = table_definition_of(table);
    bool is_recorded = definition->recorded_by == NULL || table_row_count(tables, table) > 0 ||
                       (definition->made_of != STEP_NO_RECORD &&
                        tables_trace_count_records(tables, definition->made_of) > 0);
    return is_recorded ? NULL : definition->recorded_by;
}

bool table_has_fast_range(const struct tables *tables, const struct table *table, size_t column)
{
    (void) tables;
    return table_definition_of(table)->rows_from == ROWS_OF_DICTIONARY && column == 0;
}

enum step_status tables_add(struct tables *tables, const struct table_definition *definition,
                            struct step_error *error)
{
    size_t count = definition->base.column_count;
    struct table_column *columns =
        step_arena_zeroed(&tables->memory, (count + 1) * sizeof *columns);
    struct table_cell *cells = step_arena_zeroed(&tables->memory, (count + 1) * sizeof *cells);
    if (columns == NULL || cells == NULL ||
        !STEP_MAKE_ROOM(tables->items, tables->capacity, tables->count + 1))
        return no_memory(error);
    memcpy(columns, definition->base.columns, count * sizeof *columns);
    if (definition->cells != NULL)
        memcpy(cells, definition->cells, count * sizeof *cells);
    struct table_definition *added = &tables->items[tables->count++];
    *added = *definition;
    added->base.columns = columns;
    added->cells = cells;
    return STEP_STATUS_OK;
}
