/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a definition; what parses gets records of every type, which are written, read, asked
 * for by name and shown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/records/record_dump.h"
#include "format/io/memory_output.h"
#include "steptrace/records.h"
#include "tests/unit/format/definitions/values.h"

enum { MOST_RECORDS = 64, MOST_SLOTS = 500, ROUNDS = 4, KINDS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const struct step_definition *definition)
{
    bool small = definition->record_count <= MOST_RECORDS;
    for (uint32_t i = 0; small && i < definition->record_count; i++)
        small = step_record_slot_count(definition, i) <= MOST_SLOTS;
    return small;
}

/* False: the definition is one that the writer refuses, or its values are. */
static bool write_all(const struct step_definition *definition, enum step_write_layout layout,
                      struct step_buffer *memory)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(memory);
    options.compression = STEP_COMPRESSION_NONE;
    options.layout = layout;
    if (step_writer_create(&options, &writer, NULL) != STEP_STATUS_OK)
        return false;
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < definition->record_count; i++)
            step_writer_put(writer, 0, i, values_make(definition, i, round % KINDS));
    bool good = step_writer_close(writer, NULL) == STEP_STATUS_OK;
    step_writer_destroy(writer);
    return good;
}

static void read_all(const struct step_definition *definition, struct step_reader *reader,
                     FILE *out)
{
    struct step_records *records = NULL;
    struct step_selection *selection = NULL;
    struct step_record_view view;
    uint64_t count = 0;
    const char *name = definition->records[0].name;
    struct record_text *text = record_text_create(reader);
    if (text == NULL || step_records_create(reader, NULL, &records, NULL) != STEP_STATUS_OK)
        abort();
    for (; step_records_next(records, &view, NULL) == STEP_STATUS_OK; count++) {
        uint32_t expected = (uint32_t) (count % definition->record_count);
        if (view.record != expected ||
            !values_same(
                definition, expected, view.slots,
                values_make(definition, expected, count / definition->record_count % KINDS)))
            abort();
        record_text_put(text, view.record, view.slots, out);
    }
    if (count != ROUNDS * definition->record_count || step_reader_damage_count(reader) != 0)
        abort();
    step_records_destroy(records);
    if (step_selection_create(definition, &name, 1, true, &selection, NULL) != STEP_STATUS_OK ||
        step_records_create(reader, selection, &records, NULL) != STEP_STATUS_OK)
        abort();
    while (step_records_next(records, &view, NULL) == STEP_STATUS_OK) {
        if (!step_record_extends(definition, view.record, 0))
            abort();
        record_text_put(text, view.record, view.slots, out);
    }
    step_records_destroy(records);
    step_selection_destroy(selection);
    record_text_destroy(text);
}

static void try_layout(const struct step_definition *definition, enum step_write_layout layout)
{
    struct step_buffer memory = {.data = NULL};
    struct step_reader *reader = NULL;
    FILE *out = fopen("/dev/null", "w");
    if (out != NULL && write_all(definition, layout, &memory)) {
        if (step_reader_open_memory(memory.data, memory.length, "fuzz", &reader, NULL) !=
            STEP_STATUS_OK)
            abort();
        read_all(definition, reader, out);
        step_reader_destroy(reader);
    }
    if (out != NULL)
        fclose(out);
    step_buffer_reset(&memory);
    values_release();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step_definition *definition = NULL;
    if (size > 4096)
        return 0;
    if (step_definition_parse((const char *) data, size, "fuzz", NULL, NULL, &definition, NULL) ==
            STEP_STATUS_OK &&
        definition->record_count > 0 && is_small(definition)) {
        try_layout(definition, STEP_WRITE_COLUMNS);
        try_layout(definition, STEP_WRITE_ROWS);
    }
    step_definition_destroy(definition);
    return 0;
}
