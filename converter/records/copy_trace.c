/* SPDX-License-Identifier: Apache-2.0 */
/* Copies records one by one, block by block. */
#include "converter/records/copy_trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/files/trace_files.h"
#include "converter/trace/copy_loss.h"
#include "steptrace/live.h"

/* Drops STEP_LIVE_REST, as the copy has no live file. */
static enum step_status copy_trace_properties(const struct step_reader *reader,
                                              struct step_writer *writer)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < step_reader_property_count(reader) && status == STEP_STATUS_OK; i++)
        if (strcmp(step_reader_property_key(reader, i), STEP_LIVE_REST) != 0)
            status = step_writer_property(writer, step_reader_property_key(reader, i),
                                          step_reader_property_value(reader, i));
    return status;
}

/* Sets the slots of a lost entry: numbers are 0, texts and arrays are empty. */
static uint64_t *fill_empty(const struct step_definition *definition, uint32_t record,
                            uint64_t *slots)
{
    static const uint8_t nothing[1] = {0};
    static const struct step_bytes no_bytes = {nothing, 0};
    static const struct step_array no_array = {NULL, 0};
    const struct step_record *type = &definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        if (field->array_depth > 0)
            *slots++ = step_slot_of_array(&no_array);
        else if (step_field_is_identifier(field) || field->kind == STEP_TYPE_INT)
            *slots++ = 0;
        else if (step_field_is_variant(field))
            *slots++ = step_slot_of_variant(NULL);
        else if (field->kind == STEP_TYPE_RECORD)
            slots = fill_empty(definition, field->record, slots);
        else
            *slots++ = step_slot_of_bytes(&no_bytes);
    }
    return slots;
}

/* Gaps become empty entries. */
static enum step_status copy_dictionary(const struct step_reader *reader,
                                        struct step_writer *writer, uint32_t record)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint64_t count = step_reader_dictionary_count(reader, record);
    if (count == 0)
        return STEP_STATUS_OK;
    uint64_t *empty = calloc(step_record_slot_count(definition, record) + 1, sizeof *empty);
    if (empty == NULL)
        return STEP_STATUS_NO_MEMORY;
    fill_empty(definition, record, empty);
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t id = 1; id <= count && status == STEP_STATUS_OK; id++) {
        const uint64_t *slots = step_reader_dictionary_entry(reader, record, id);
        status = step_writer_define(writer, record, slots != NULL ? slots : empty, NULL);
    }
    free(empty);
    return status;
}

enum step_status stepfile_copy_start(struct step_reader *reader, struct step_writer *writer)
{
    size_t types = step_reader_borrow_definition(reader)->record_count;
    enum step_status status = copy_trace_properties(reader, writer);
    for (uint32_t i = 0; i < types && status == STEP_STATUS_OK; i++)
        status = copy_dictionary(reader, writer, i);
    return status;
}

enum step_status stepfile_copy_block(struct step_reader *reader, size_t i,
                                     struct step_block **block, struct step_writer *writer,
                                     uint64_t *records, struct step_error *error)
{
    struct step_record_view view;
    uint64_t stream = step_reader_block_info(reader, i)->stream;
    enum step_status status = trace_load_block(reader, i, NULL, block, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    while (status == STEP_STATUS_OK && step_block_next(*block, &view) == STEP_STATUS_OK) {
        status = step_writer_put(writer, stream, view.record, view.slots);
        ++*records;
    }
    return status;
}

enum step_status stepfile_copy_blocks(struct step_reader *reader, struct step_writer *writer,
                                      uint64_t *records, struct step_error *error)
{
    struct step_block *block = NULL;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < step_reader_block_count(reader) && status == STEP_STATUS_OK; i++) {
        status = stepfile_copy_block(reader, i, &block, writer, records, error);
        if (status == STEP_STATUS_OK)
            status = step_writer_flush_stream(writer, step_reader_block_info(reader, i)->stream);
    }
    step_block_destroy(block);
    return status;
}

enum step_status stepfile_copy(struct step_reader *reader, struct step_writer *writer,
                               uint64_t *records, struct step_error *error)
{
    *records = 0;
    enum step_status status = stepfile_copy_start(reader, writer);
    if (status == STEP_STATUS_OK)
        status = stepfile_copy_blocks(reader, writer, records, error);
    return status == STEP_STATUS_OK ? copy_loss_put_of_reader(reader, writer) : status;
}
