/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, generated readers, and the dynamic one. */
#include "tests/bench/bench_readers.h"

#include <stdlib.h>

#include "steptrace/java_trace.h"
#include "steptrace/records.h"

static enum step_status open_file(const struct step_buffer *file, struct step_reader **reader,
                                  struct step_error *error)
{
    return step_reader_open_memory(file->data, file->length, "memory", reader, error);
}

enum step_status read_blocks(const struct step_buffer *file, struct read_tally *tally,
                             struct step_error *error)
{
    struct step_reader *reader;
    struct step_block *block = NULL;
    *tally = (struct read_tally){0};
    enum step_status status = open_file(file, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    for (size_t i = 0; i < step_reader_block_count(reader) && status == STEP_STATUS_OK; i++) {
        struct step_record_view view;
        status = step_reader_load(reader, i, NULL, &block, error);
        while (status == STEP_STATUS_OK && step_block_next(block, &view) == STEP_STATUS_OK) {
            tally->records++;
            tally->sum += view.slots[0];
        }
    }
    step_block_destroy(block);
    step_reader_destroy(reader);
    return status;
}

/* One case as a program would have it, for the records that fill traces. */
static uint64_t use_record(const struct step_java_trace_binding *binding,
                           const struct step_record_view *view)
{
    switch (step_java_trace_record(binding, view->record)) {
    case STEP_JAVA_OBJECT_ALLOC:
    case STEP_JAVA_OBJECT_EXISTING: {
        struct step_java_object_alloc alloc;
        return step_java_object_alloc_get(binding, view, &alloc)
                   ? alloc.time + alloc.class_ + alloc.size + alloc.object
                   : 0;
    }
    case STEP_JAVA_OBJECT_FREE: {
        struct step_java_object_free freed;
        return step_java_object_free_get(binding, view, &freed) ? freed.time + freed.object : 0;
    }
    case STEP_JAVA_METHOD_ENTRY: {
        struct step_java_method_entry entry;
        return step_java_method_entry_get(binding, view, &entry)
                   ? entry.time + entry.method + entry.object
                   : 0;
    }
    case STEP_JAVA_METHOD_EXIT: {
        struct step_java_method_exit left;
        return step_java_method_exit_get(binding, view, &left) ? left.time + left.method : 0;
    }
    default: {
        struct step_java_event event;
        return step_java_event_get(binding, view, &event) ? event.time + event.thread : 0;
    }
    }
}

enum step_status read_generated(const struct step_buffer *file, struct read_tally *tally,
                                struct step_error *error)
{
    struct step_java_trace_reader reader = {0};
    struct step_record_view view;
    *tally = (struct read_tally){0};
    enum step_status status = open_file(file, &reader.file, error);
    if (status == STEP_STATUS_OK)
        status = step_java_trace_bind(step_reader_borrow_definition(reader.file), &reader.binding,
                                      error);
    if (status == STEP_STATUS_OK)
        status = step_records_create(reader.file, NULL, &reader.records, error);
    while (status == STEP_STATUS_OK &&
           (status = step_java_trace_next(&reader, &view, error)) == STEP_STATUS_OK) {
        tally->records++;
        tally->sum += use_record(&reader.binding, &view);
    }
    step_java_trace_close(&reader);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* What a field's slot holds, by the definition. */
enum shown { SHOWN_NUMBER, SHOWN_BYTES, SHOWN_ARRAY, SHOWN_ENTRY, SHOWN_VARIANT };

struct shown_slot {
    enum shown shown;
    uint32_t record; /* of an ENTRY */
};

struct shown_record {
    struct shown_slot *slots;
    size_t count;
};

static enum shown shown_as(const struct step_field *field)
{
    if (field->array_depth > 0)
        return SHOWN_ARRAY;
    if (step_field_is_identifier(field))
        return field->kind == STEP_TYPE_RECORD ? SHOWN_ENTRY : SHOWN_NUMBER;
    if (step_field_is_variant(field))
        return SHOWN_VARIANT;
    return field->kind == STEP_TYPE_STRING || field->kind == STEP_TYPE_DATA ? SHOWN_BYTES
                                                                            : SHOWN_NUMBER;
}

static void show_fields(const struct step_definition *definition, uint32_t record,
                        struct shown_record *out)
{
    const struct step_record *type = &definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        if (step_field_is_nested(&type->fields[i]))
            show_fields(definition, type->fields[i].record, out);
        else
            out->slots[out->count++] =
                (struct shown_slot){shown_as(&type->fields[i]), type->fields[i].record};
    }
}

static struct shown_record *show_records(const struct step_definition *definition)
{
    struct shown_record *records = calloc(definition->record_count + 1, sizeof *records);
    for (uint32_t i = 0; records != NULL && i < definition->record_count; i++) {
        size_t count = step_record_slot_count(definition, i);
        records[i].slots = calloc(count + 1, sizeof *records[i].slots);
        if (records[i].slots != NULL)
            show_fields(definition, i, &records[i]);
    }
    return records;
}

static uint64_t use_slots(const struct step_reader *reader, const struct shown_record *shown,
                          const uint64_t *slots)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < shown->count; i++) {
        switch (shown->slots[i].shown) {
        case SHOWN_BYTES:
            sum += step_slot_bytes(slots[i])->length;
            break;
        case SHOWN_ARRAY:
            sum += step_slot_array(slots[i])->count;
            break;
        case SHOWN_VARIANT:
            sum += step_slot_variant(slots[i])->record;
            break;
        case SHOWN_ENTRY:
            sum += step_reader_dictionary_entry(reader, shown->slots[i].record, slots[i]) != NULL;
            break;
        case SHOWN_NUMBER:
            sum += slots[i];
            break;
        }
    }
    return sum;
}

enum step_status read_dynamic(const struct step_buffer *file, struct read_tally *tally,
                              struct step_error *error)
{
    struct step_reader *reader = NULL;
    struct step_records *records = NULL;
    struct step_record_view view;
    *tally = (struct read_tally){0};
    enum step_status status = open_file(file, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct shown_record *shown = show_records(definition);
    status = step_records_create(reader, NULL, &records, error);
    while (shown != NULL && status == STEP_STATUS_OK &&
           (status = step_records_next(records, &view, error)) == STEP_STATUS_OK) {
        tally->records++;
        tally->sum += use_slots(reader, &shown[view.record], view.slots);
    }
    step_records_destroy(records);
    for (size_t i = 0; shown != NULL && i < definition->record_count; i++)
        free(shown[i].slots);
    free(shown);
    step_reader_destroy(reader);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}
