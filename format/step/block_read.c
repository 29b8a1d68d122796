/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks from bytes: summary, directory, and columns as they are asked for. */
#include "block_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum column_state { COLUMN_ABSENT, COLUMN_LISTED, COLUMN_UNDER_WAY, COLUMN_DECODED };

/* A column of the plan in the block at hand. */
struct column {
    enum column_state state;
    struct step_coding coding;
    const uint8_t *stored;
    uint64_t count;                  /* values that it must have */
    struct step_slot_cursor *cursor; /* of the slots that it, or the node at it, makes */
    bool unsupported;                /* it, or something below the node at it, cannot be decoded */
};

struct decoding {
    struct step_block_reader *reader;
    const struct step_plan *plan;
    const struct step_payload *payload;
    const uint8_t *wanted;
    struct step_block *block;
    struct column *columns;     /* by number in the plan */
    struct step_series *series; /* the same, of those decoded */
    uint32_t *records;          /* by local type */
    struct step_coding types;
    const uint8_t *types_stored;
    struct step_error *error;
};

enum step_status step_block_reader_init(struct step_block_reader *reader,
                                        const struct step_plan *plan)
{
    *reader = (struct step_block_reader){.plan = plan};
    return step_decompressor_create(&reader->decompressor);
}

void step_block_reader_reset(struct step_block_reader *reader)
{
    step_decompressor_destroy(reader->decompressor);
    step_scratch_reset(&reader->scratch);
    step_arena_reset(&reader->temporary);
    *reader = (struct step_block_reader){0};
}

bool step_summary_parse(const uint8_t *bytes, const struct step_block_header *header,
                        size_t record_types, struct step_summary *summary, const char **fault)
{
    struct step_cursor cursor = step_cursor_of(bytes, header->summary_bytes);
    uint64_t next = 0;
    uint64_t total = 0;
    *fault = "its list of record types is damaged";
    if (!step_cursor_varint(&cursor, &summary->count) || summary->count > record_types)
        return false;
    summary->bytes = cursor.at;
    summary->length = step_cursor_left(&cursor);
    for (uint64_t i = 0; i < summary->count; i++) {
        uint64_t record;
        uint64_t count;
        if (!step_cursor_varint(&cursor, &record) || !step_cursor_varint(&cursor, &count))
            return false;
        if (record < next || record >= record_types || count == 0 || count > STEP_MAX_BLOCK_RECORDS)
            return false;
        next = record + 1;
        total += count;
    }
    if (step_cursor_left(&cursor) > 0)
        return false;
    *fault = "its record counts disagree";
    return total == header->record_count && total <= STEP_MAX_BLOCK_RECORDS;
}

void step_summary_counts(const struct step_summary *summary, uint64_t *counts)
{
    struct step_cursor cursor = step_cursor_of(summary->bytes, summary->length);
    for (uint64_t i = 0; i < summary->count; i++) {
        uint64_t record = 0;
        uint64_t count = 0;
        step_cursor_varint(&cursor, &record);
        step_cursor_varint(&cursor, &count);
        counts[record] += count;
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static enum step_status
fail(const struct decoding *decoding, enum step_status status, const uint8_t *at,
     const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const struct step_payload *payload = decoding->payload;
    uint64_t offset = payload->offset;
    if (at != NULL)
        offset += (uint64_t) (at - payload->bytes);
    return step_error_set(decoding->error, status, payload->file, offset, "%s", text);
}

static enum step_status no_memory(const struct decoding *decoding)
{
    return fail(decoding, STEP_STATUS_NO_MEMORY, NULL, "out of memory");
}

static void *take_from(struct decoding *decoding, struct step_arena *arena, uint64_t count,
                       size_t size, enum step_status *status)
{
    int limited = 0;
    void *result = step_arena_take(arena, count, size, &limited);
    if (result != NULL)
        return result;
    *status = limited ? fail(decoding, STEP_STATUS_LIMIT, NULL,
                             "the block needs more memory than the limit of %" PRIu64 " bytes",
                             arena->limit)
                      : no_memory(decoding);
    return NULL;
}

/* Storage that lives as long as the decoded block. */
static void *take(struct decoding *decoding, uint64_t count, size_t size, enum step_status *status)
{
    return take_from(decoding, &decoding->block->arena, count, size, status);
}

/* Storage that lives until the block is decoded. */
static void *borrow(struct decoding *decoding, uint64_t count, size_t size,
                    enum step_status *status)
{
    return take_from(decoding, &decoding->reader->temporary, count, size, status);
}

/* "java.ObjectAlloc.size" for messages. */
static void name_column(const struct decoding *decoding, uint32_t index, char *out, size_t room)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    const struct step_record *record = &decoding->plan->definition->records[column->record];
    snprintf(out, room, "%.60s.%.60s", record->name, record->fields[column->field].name);
}

/* Takes a section's bytes off what is left of the payload. */
static bool take_section(struct step_cursor *sections, const struct step_coding *coding,
                         const uint8_t **stored)
{
    /* no compression that we know does better than 1 to 65536 */
    return coding->raw_length <= STEP_MAX_BLOCK_MEMORY &&
           coding->raw_length / 65536 <= coding->stored_length &&
           step_cursor_bytes(sections, coding->stored_length, stored);
}

static enum step_status parse_entry(struct decoding *decoding, struct step_cursor *directory,
                                    struct step_cursor *sections)
{
    uint64_t record;
    uint64_t field;
    uint64_t leaf;
    struct step_coding coding;
    const uint8_t *at = directory->at;
    const uint8_t *stored;
    if (!step_cursor_varint(directory, &record) || !step_cursor_varint(directory, &field) ||
        !step_cursor_varint(directory, &leaf) || !step_coding_parse(directory, &coding))
        return fail(decoding, STEP_STATUS_CORRUPT, at, "the block's directory is damaged");
    if (!take_section(sections, &coding, &stored))
        return fail(decoding, STEP_STATUS_CORRUPT, at, "a column is longer than its block allows");
    uint32_t index = step_plan_find_column(decoding->plan, record, field, leaf);
    if (index == STEP_NO_INDEX || decoding->columns[index].state != COLUMN_ABSENT)
        return fail(decoding, STEP_STATUS_CORRUPT, at,
                    "the block's directory names a column that does not exist, or one twice");
    struct column *column = &decoding->columns[index];
    column->state = COLUMN_LISTED;
    column->coding = coding;
    column->stored = stored;
    return STEP_STATUS_OK;
}

static enum step_status parse_directory(struct decoding *decoding)
{
    const struct step_payload *payload = decoding->payload;
    struct step_cursor sections =
        step_cursor_of(payload->bytes, (size_t) payload->header->payload_bytes);
    sections.at += payload->header->summary_bytes;
    uint64_t length;
    uint64_t count;
    const uint8_t *start;
    if (!step_cursor_varint(&sections, &length) || !step_cursor_bytes(&sections, length, &start))
        return fail(decoding, STEP_STATUS_CORRUPT, sections.at,
                    "the block's directory passes the end of the block");
    struct step_cursor directory = step_cursor_of(start, (size_t) length);
    if (!step_coding_parse(&directory, &decoding->types) ||
        !take_section(&sections, &decoding->types, &decoding->types_stored) ||
        !step_cursor_varint(&directory, &count) || count > decoding->plan->column_count)
        return fail(decoding, STEP_STATUS_CORRUPT, start, "the block's directory is damaged");
    for (uint64_t i = 0; i < count; i++) {
        enum step_status status = parse_entry(decoding, &directory, &sections);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (step_cursor_left(&directory) > 0 || step_cursor_left(&sections) > 0)
        return fail(decoding, STEP_STATUS_CORRUPT, directory.at,
                    "the block has bytes that its directory does not tell of");
    return STEP_STATUS_OK;
}

/* The types of the records, and that there are as many of each as the summary says. */
static enum step_status decode_types(struct decoding *decoding)
{
    struct step_block *block = decoding->block;
    size_t count = (size_t) block->record_count;
    enum step_status status = STEP_STATUS_OK;
    if (block->type_count == 1) {
        block->types = NULL;
        return status;
    }
    block->types = take(decoding, count, sizeof *block->types, &status);
    uint64_t *left = borrow(decoding, block->type_count, sizeof *left, &status);
    if (block->types == NULL || left == NULL)
        return status;
    if (decoding->types.unknown != NULL)
        return fail(decoding, STEP_STATUS_UNSUPPORTED, NULL,
                    "the record types: %s %" PRIu64 " is not known to this library",
                    decoding->types.unknown, decoding->types.unknown_number);
    struct step_scratch *scratch = &decoding->reader->scratch;
    if (!step_scratch_reserve(scratch, count))
        return no_memory(decoding);
    status = step_column_read(&decoding->types, decoding->types_stored, NULL, scratch->work, count,
                              decoding->reader->decompressor, scratch);
    if (status != STEP_STATUS_OK)
        return fail(decoding, status, decoding->types_stored, "the record types are damaged");
    for (size_t i = 0; i < block->type_count; i++)
        left[i] = block->block_types[i].count;
    for (size_t i = 0; i < count; i++) {
        uint64_t type = scratch->work[i];
        if (type >= block->type_count || left[type]-- == 0)
            return fail(decoding, STEP_STATUS_CORRUPT, decoding->types_stored,
                        "the record types disagree with their counts");
        block->types[i] = (uint16_t) type;
    }
    return STEP_STATUS_OK;
}

static struct step_sequence sequence_of(const struct decoding *decoding)
{
    const struct step_block *block = decoding->block;
    return (struct step_sequence){
        decoding->plan,    block->types,      (size_t) block->record_count,
        decoding->records, block->type_count, decoding->series};
}

static enum step_status decode_column(struct decoding *decoding, uint32_t index);

/* The values of the column that `given` names among the columns of one field. */
static enum step_status nested_series(struct decoding *decoding, uint32_t index, uint64_t leaf,
                                      struct step_series *series)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    uint32_t other = step_plan_find_column(decoding->plan, column->record, column->field, leaf);
    if (other == STEP_NO_INDEX || leaf >= column->leaf)
        return STEP_STATUS_CORRUPT;
    /* both get their count before either is decoded, as fields of one record */
    if (decoding->columns[other].count != decoding->columns[index].count ||
        decoding->plan->columns[other].kind != STEP_COLUMN_VALUES)
        return STEP_STATUS_CORRUPT;
    enum step_status status = decode_column(decoding, other);
    *series = decoding->series[other];
    return status;
}

/* The values of the field that `given` names, for each record that has the column. */
static enum step_status field_series(struct decoding *decoding, uint32_t index, uint64_t field,
                                     uint64_t **storage, struct step_series *series)
{
    const struct step_plan_column *column = &decoding->plan->columns[index];
    if (field >= column->field || column->in_array)
        return STEP_STATUS_CORRUPT;
    bool any = false;
    for (size_t i = 0; i < decoding->block->type_count; i++) {
        uint32_t record = decoding->records[i];
        if (step_field_column(decoding->plan, record, column->field) != index)
            continue;
        any = true;
        uint32_t other = step_field_column(decoding->plan, record, field);
        enum step_status status =
            other != STEP_NO_INDEX ? decode_column(decoding, other) : STEP_STATUS_CORRUPT;
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (!any)
        return STEP_STATUS_CORRUPT;
    struct step_sequence sequence = sequence_of(decoding);
    return step_gather(&sequence, index, (uint32_t) field, (size_t) decoding->columns[index].count,
                       storage, series);
}

static enum step_status find_series(struct decoding *decoding, uint32_t index, uint64_t **storage,
                                    struct step_series *series, const struct step_series **used)
{
    const struct step_chain *chain = &decoding->columns[index].coding.chain;
    *used = NULL;
    for (size_t i = 0; i < chain->length; i++) {
        if (!chain->links[i].transform->uses_series)
            continue;
        uint64_t reference = chain->links[i].parameters[0];
        if (*used != NULL)
            return STEP_STATUS_CORRUPT;
        *used = series;
        enum step_status status =
            reference & 1 ? nested_series(decoding, index, reference >> 1, series)
                          : field_series(decoding, index, reference >> 1, storage, series);
        if (status != STEP_STATUS_OK)
            return status;
        if (series->values == NULL)
            return STEP_STATUS_CORRUPT;
    }
    return STEP_STATUS_OK;
}

/* A column of one value needs no array. */
static enum step_status decode_constant(struct decoding *decoding, uint32_t index)
{
    enum step_status status = STEP_STATUS_OK;
    uint64_t *value = take(decoding, 1, sizeof *value, &status);
    if (value == NULL)
        return status;
    *value = decoding->columns[index].coding.chain.form_parameter;
    decoding->series[index] = (struct step_series){value, 0};
    return decoding->columns[index].coding.raw_length == 0 ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
}

static enum step_status decode_values(struct decoding *decoding, uint32_t index)
{
    struct column *column = &decoding->columns[index];
    const struct step_coding *coding = &column->coding;
    if (coding->chain.length == 0 && coding->chain.form == &step_form_constant)
        return decode_constant(decoding, index);
    enum step_status status = STEP_STATUS_OK;
    if (coding->chain.form == NULL || column->count > STEP_MAX_BLOCK_MEMORY ||
        coding->raw_length > coding->chain.form->bound(coding->chain.form_parameter, column->count))
        return STEP_STATUS_CORRUPT;
    uint64_t *values = take(decoding, column->count, sizeof *values, &status);
    if (values == NULL)
        return status;
    uint64_t *storage = NULL;
    struct step_series series = {NULL, 0};
    const struct step_series *used;
    status = find_series(decoding, index, &storage, &series, &used);
    if (status == STEP_STATUS_OK)
        status = step_column_read(coding, column->stored, used, values, (size_t) column->count,
                                  decoding->reader->decompressor, &decoding->reader->scratch);
    free(storage);
    decoding->series[index] = (struct step_series){values, 1};
    return status;
}

/* Fills series[index] with the column's values.  UNSUPPORTED leaves the rest of the block usable.
 */
static enum step_status decode_column(struct decoding *decoding, uint32_t index)
{
    struct column *column = &decoding->columns[index];
    char name[128];
    if (column->state == COLUMN_DECODED)
        return STEP_STATUS_OK;
    name_column(decoding, index, name, sizeof name);
    if (column->state == COLUMN_ABSENT)
        return fail(decoding, STEP_STATUS_CORRUPT, NULL, "the block lacks column %s", name);
    if (column->state == COLUMN_UNDER_WAY)
        return fail(decoding, STEP_STATUS_CORRUPT, NULL, "column %s depends on itself", name);
    if (column->coding.unknown != NULL)
        return fail(decoding, STEP_STATUS_UNSUPPORTED, column->stored,
                    "column %s: %s %" PRIu64 " is not known to this library", name,
                    column->coding.unknown, column->coding.unknown_number);
    column->state = COLUMN_UNDER_WAY;
    if (decoding->error != NULL)
        decoding->error->status = STEP_STATUS_OK;
    enum step_status status = decode_values(decoding, index);
    column->state = status == STEP_STATUS_OK ? COLUMN_DECODED : COLUMN_LISTED;
    if (status != STEP_STATUS_OK &&
        (decoding->error == NULL || decoding->error->status == STEP_STATUS_OK))
        fail(decoding, status, column->stored, "column %s is damaged", name);
    return status;
}

/* The sum of a column's values, or false where it passes any limit. */
static bool add_up(const struct step_series *series, uint64_t count, uint64_t most, uint64_t *total)
{
    *total = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = series->values[i * series->step];
        if (value > most - *total)
            return false;
        *total += value;
    }
    return true;
}

/* Writes the slots of `count` values of a node: the first at out[0], the next `stride` after it. */
static enum step_status fill(struct decoding *decoding, const struct step_plan_node *node,
                             uint64_t count, uint64_t *out, size_t stride);

static enum step_status fill_values(struct decoding *decoding, uint32_t index, uint64_t count,
                                    uint64_t *out, size_t stride)
{
    enum step_status status = decode_column(decoding, index);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_series *series = &decoding->series[index];
    for (uint64_t i = 0; i < count; i++)
        out[i * stride] = series->values[i * series->step];
    return status;
}

/* The bytes of all strings of a column, one after the other. */
static enum step_status decode_bytes(struct decoding *decoding, uint32_t index, uint64_t total,
                                     uint8_t **bytes)
{
    struct column *column = &decoding->columns[index];
    const struct step_coding *coding = &column->coding;
    char name[128];
    name_column(decoding, index, name, sizeof name);
    if (column->state == COLUMN_LISTED && coding->unknown != NULL)
        return fail(decoding, STEP_STATUS_UNSUPPORTED, column->stored,
                    "column %s: %s %" PRIu64 " is not known to this library", name, coding->unknown,
                    coding->unknown_number);
    if (column->state != COLUMN_LISTED || coding->chain.form != NULL || coding->raw_length != total)
        return fail(decoding, STEP_STATUS_CORRUPT, column->stored,
                    "the bytes of column %s disagree with their lengths", name);
    enum step_status status = STEP_STATUS_OK;
    *bytes = take(decoding, total, 1, &status);
    if (*bytes == NULL)
        return status;
    status = step_decompress(decoding->reader->decompressor, coding->method, column->stored,
                             (size_t) coding->stored_length, *bytes, (size_t) total);
    if (status != STEP_STATUS_OK)
        return fail(decoding, status, column->stored, "the bytes of column %s are damaged", name);
    column->state = COLUMN_DECODED;
    return status;
}

static enum step_status fill_bytes(struct decoding *decoding, const struct step_plan_node *node,
                                   uint64_t count, uint64_t *out, size_t stride)
{
    enum step_status status = decode_column(decoding, node->column);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_series *lengths = &decoding->series[node->column];
    uint64_t total;
    uint8_t *bytes;
    if (!add_up(lengths, count, STEP_MAX_BLOCK_MEMORY, &total))
        return fail(decoding, STEP_STATUS_CORRUPT, decoding->columns[node->column].stored,
                    "lengths pass the limit of a block");
    status = decode_bytes(decoding, node->column + 1, total, &bytes);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_bytes *items = take(decoding, count, sizeof *items, &status);
    if (items == NULL)
        return status;
    for (uint64_t i = 0; i < count; i++) {
        size_t length = (size_t) lengths->values[i * lengths->step];
        items[i] = (struct step_bytes){bytes, length};
        out[i * stride] = step_slot_of_bytes(&items[i]);
        bytes += length;
    }
    return status;
}

static void set_counts(struct decoding *decoding, const struct step_plan_node *node,
                       uint64_t count);

static enum step_status fill_arrays(struct decoding *decoding, const struct step_plan_node *node,
                                    uint64_t count, uint64_t *out, size_t stride)
{
    enum step_status status = decode_column(decoding, node->column);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_plan_node *element =
        &decoding->plan->nodes[decoding->plan->children[node->first_child]];
    const struct step_series *lengths = &decoding->series[node->column];
    uint64_t total;
    uint64_t most = STEP_MAX_BLOCK_MEMORY / sizeof(uint64_t);
    most = element->slot_count > 1 ? most / element->slot_count : most;
    if (!add_up(lengths, count, most, &total))
        return fail(decoding, STEP_STATUS_CORRUPT, decoding->columns[node->column].stored,
                    "array lengths pass the limit of a block");
    uint64_t *slots = take(decoding, total * element->slot_count, sizeof *slots, &status);
    struct step_array *arrays = take(decoding, count, sizeof *arrays, &status);
    if (slots == NULL || arrays == NULL)
        return status;
    set_counts(decoding, element, total);
    status = fill(decoding, element, total, slots, element->slot_count);
    if (status != STEP_STATUS_OK)
        return status;
    for (uint64_t i = 0; i < count; i++) {
        size_t length = (size_t) lengths->values[i * lengths->step];
        arrays[i] = (struct step_array){slots, length};
        out[i * stride] = step_slot_of_array(&arrays[i]);
        slots += length * element->slot_count;
    }
    return status;
}

static enum step_status fill(struct decoding *decoding, const struct step_plan_node *node,
                             uint64_t count, uint64_t *out, size_t stride)
{
    switch (node->kind) {
    case STEP_NODE_VALUE:
        return fill_values(decoding, node->column, count, out, stride);
    case STEP_NODE_BYTES:
        return fill_bytes(decoding, node, count, out, stride);
    case STEP_NODE_ARRAY:
        return fill_arrays(decoding, node, count, out, stride);
    case STEP_NODE_RECORD:
        break;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct step_plan_node *child =
            &decoding->plan->nodes[decoding->plan->children[node->first_child + i]];
        enum step_status status = fill(decoding, child, count, out, stride);
        if (status != STEP_STATUS_OK)
            return status;
        out += child->slot_count;
    }
    return STEP_STATUS_OK;
}

/* Adds to the columns of a node the values that they must have; those inside an array get theirs
 * when the array's lengths are known. */
static void set_counts(struct decoding *decoding, const struct step_plan_node *node, uint64_t count)
{
    if (node->kind != STEP_NODE_RECORD) {
        struct column *column = &decoding->columns[node->column];
        bool shared = !decoding->plan->columns[node->column].in_array;
        column->count = shared ? column->count + count : count;
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        set_counts(decoding,
                   &decoding->plan->nodes[decoding->plan->children[node->first_child + i]], count);
}

static enum step_status make_cursor(struct decoding *decoding, const struct step_plan_node *node,
                                    struct column *column)
{
    enum step_status status = STEP_STATUS_OK;
    struct step_slot_cursor cursor = {NULL, 1};
    if (node->kind == STEP_NODE_VALUE) {
        status = decode_column(decoding, node->column);
        const struct step_series *series = &decoding->series[node->column];
        cursor = (struct step_slot_cursor){series->values, series->step};
    } else {
        uint64_t *pointers = take(decoding, column->count, sizeof *pointers, &status);
        if (pointers == NULL)
            return status;
        status = fill(decoding, node, column->count, pointers, 1);
        cursor.next = pointers;
    }
    if (status != STEP_STATUS_OK)
        return status;
    column->cursor = take(decoding, 1, sizeof *column->cursor, &status);
    if (column->cursor != NULL)
        *column->cursor = cursor;
    return status;
}

/* Makes the cursors of a node's slots, and lists them at `*slots`, which moves on. */
static enum step_status list_slots(struct decoding *decoding, const struct step_plan_node *node,
                                   struct step_slot_cursor ***slots)
{
    enum step_status status = STEP_STATUS_OK;
    if (node->kind == STEP_NODE_RECORD) {
        for (uint32_t i = 0; i < node->child_count && status == STEP_STATUS_OK; i++)
            status = list_slots(
                decoding, &decoding->plan->nodes[decoding->plan->children[node->first_child + i]],
                slots);
        return status;
    }
    struct column *column = &decoding->columns[node->column];
    if (column->unsupported)
        return fail(decoding, STEP_STATUS_UNSUPPORTED, NULL, "an encoding is not known");
    if (column->cursor == NULL)
        status = make_cursor(decoding, node, column);
    column->unsupported = status == STEP_STATUS_UNSUPPORTED;
    if (status == STEP_STATUS_OK)
        *(*slots)++ = column->cursor;
    return status;
}

/* The cursors of a type that is passed over: those that other types made. */
static void list_moved(struct decoding *decoding, const struct step_plan_node *node,
                       struct step_slot_cursor ***slots)
{
    if (node->kind == STEP_NODE_RECORD) {
        for (uint32_t i = 0; i < node->child_count; i++)
            list_moved(decoding,
                       &decoding->plan->nodes[decoding->plan->children[node->first_child + i]],
                       slots);
        return;
    }
    struct column *column = &decoding->columns[node->column];
    if (column->cursor != NULL && column->cursor->step != 0)
        *(*slots)++ = column->cursor;
}

static const struct step_plan_node *field_node(const struct decoding *decoding,
                                               const struct step_block_type *type, uint32_t field)
{
    const struct step_plan_record *record = &decoding->plan->records[type->record];
    return &decoding->plan->nodes[record->field_nodes[field]];
}

static enum step_status decode_type(struct decoding *decoding, struct step_block_type *type,
                                    struct step_block_gap *gap)
{
    struct step_slot_cursor **next = type->slots;
    uint32_t field_count = decoding->plan->records[type->record].field_count;
    for (uint32_t i = 0; i < field_count; i++) {
        enum step_status status = list_slots(decoding, field_node(decoding, type, i), &next);
        if (status == STEP_STATUS_UNSUPPORTED) {
            type->wanted = false;
            if (gap->records == 0)
                snprintf(gap->message, sizeof gap->message, "%.110s", decoding->error->message);
            gap->records += type->count;
            return STEP_STATUS_OK;
        }
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

static void pass_over(struct decoding *decoding, struct step_block_type *type)
{
    struct step_slot_cursor **next = type->slots;
    uint32_t field_count = decoding->plan->records[type->record].field_count;
    for (uint32_t i = 0; i < field_count; i++)
        list_moved(decoding, field_node(decoding, type, i), &next);
    type->slot_count = (size_t) (next - type->slots);
}

/* Lists the record types of the block, and counts what each column must have. */
static enum step_status prepare_types(struct decoding *decoding, const struct step_summary *summary,
                                      bool *any_wanted)
{
    struct step_block *block = decoding->block;
    struct step_cursor cursor = step_cursor_of(summary->bytes, summary->length);
    enum step_status status = STEP_STATUS_OK;
    size_t most_slots = 1;
    block->type_count = (size_t) summary->count;
    block->block_types = take(decoding, summary->count, sizeof *block->block_types, &status);
    decoding->records = borrow(decoding, summary->count, sizeof *decoding->records, &status);
    if (block->block_types == NULL || decoding->records == NULL)
        return status;
    for (size_t i = 0; i < block->type_count; i++) {
        uint64_t record = 0;
        uint64_t count = 0;
        step_cursor_varint(&cursor, &record);
        step_cursor_varint(&cursor, &count);
        const struct step_plan_record *planned = &decoding->plan->records[record];
        struct step_block_type *type = &block->block_types[i];
        *type = (struct step_block_type){
            .record = (uint32_t) record,
            .wanted = decoding->wanted == NULL || decoding->wanted[record] != 0,
            .count = count,
            .slot_count = planned->slot_count,
        };
        decoding->records[i] = type->record;
        type->slots =
            take(decoding, planned->slot_count, sizeof(struct step_slot_cursor *), &status);
        if (type->slots == NULL)
            return status;
        *any_wanted = *any_wanted || type->wanted;
        most_slots = planned->slot_count > most_slots ? planned->slot_count : most_slots;
        for (uint32_t k = 0; k < planned->field_count; k++)
            set_counts(decoding, field_node(decoding, type, k), count);
    }
    block->slots = take(decoding, most_slots, sizeof *block->slots, &status);
    return status;
}

static enum step_status decode(struct decoding *decoding, struct step_block_gap *gap)
{
    struct step_block *block = decoding->block;
    size_t column_count = decoding->plan->column_count;
    enum step_status status = STEP_STATUS_OK;
    decoding->columns = borrow(decoding, column_count, sizeof *decoding->columns, &status);
    decoding->series = borrow(decoding, column_count, sizeof *decoding->series, &status);
    if (decoding->columns == NULL || decoding->series == NULL)
        return status;
    memset(decoding->columns, 0, column_count * sizeof *decoding->columns);
    memset(decoding->series, 0, column_count * sizeof *decoding->series);
    struct step_summary summary;
    const char *fault;
    if (!step_summary_parse(decoding->payload->bytes, decoding->payload->header,
                            decoding->plan->definition->record_count, &summary, &fault))
        return fail(decoding, STEP_STATUS_CORRUPT, NULL, "%s", fault);
    bool any_wanted = false;
    status = prepare_types(decoding, &summary, &any_wanted);
    if (status != STEP_STATUS_OK)
        return status;
    if (!any_wanted) {
        block->at = block->record_count;
        return status;
    }
    status = parse_directory(decoding);
    if (status == STEP_STATUS_OK)
        status = decode_types(decoding);
    for (size_t i = 0; i < block->type_count && status == STEP_STATUS_OK; i++)
        if (block->block_types[i].wanted)
            status = decode_type(decoding, &block->block_types[i], gap);
    for (size_t i = 0; i < block->type_count && status == STEP_STATUS_OK; i++)
        if (!block->block_types[i].wanted)
            pass_over(decoding, &block->block_types[i]);
    return status;
}

enum step_status step_block_decode(struct step_block_reader *reader,
                                   const struct step_payload *payload, const uint8_t *wanted,
                                   uint64_t memory_limit, struct step_block *block,
                                   struct step_block_gap *gap, struct step_error *error)
{
    struct step_error local;
    struct decoding decoding = {
        .reader = reader,
        .plan = reader->plan,
        .payload = payload,
        .wanted = wanted,
        .block = block,
        .error = error != NULL ? error : &local,
    };
    *gap = (struct step_block_gap){0};
    step_arena_clear(&block->arena, memory_limit);
    step_arena_clear(&reader->temporary, STEP_MAX_BLOCK_MEMORY);
    block->record_count = payload->header->record_count;
    block->at = 0;
    block->type_count = 0;
    enum step_status status = STEP_STATUS_UNSUPPORTED;
    if (payload->header->layout == STEP_LAYOUT_COLUMNS)
        status = decode(&decoding, gap);
    else
        fail(&decoding, status, NULL, "the block's layout %u is not known to this library",
             payload->header->layout);
    if (status != STEP_STATUS_OK)
        block->record_count = 0;
    return status;
}

enum step_status step_block_decode_bytes(struct step_block_reader *reader,
                                         const struct step_payload *payload, uint64_t most,
                                         struct step_buffer *out, struct step_error *error)
{
    const struct step_block_header *header = payload->header;
    struct step_cursor cursor = step_cursor_of(payload->bytes, (size_t) header->payload_bytes);
    cursor.at += header->summary_bytes;
    uint64_t length;
    uint64_t method;
    uint64_t raw_length;
    if (header->layout != STEP_LAYOUT_BYTES || !step_cursor_varint(&cursor, &method) ||
        !step_cursor_varint(&cursor, &raw_length))
        return step_error_set(error, STEP_STATUS_CORRUPT, payload->file, payload->offset,
                              "the block is damaged");
    length = step_cursor_left(&cursor);
    if (raw_length > most || raw_length / 65536 > length)
        return step_error_set(error, STEP_STATUS_LIMIT, payload->file, payload->offset,
                              "the block would be %" PRIu64 " bytes", raw_length);
    if (!step_buffer_reserve(out, (size_t) raw_length + 1))
        return step_error_set(error, STEP_STATUS_NO_MEMORY, payload->file, payload->offset,
                              "out of memory");
    enum step_status status =
        step_decompress(reader->decompressor, method, cursor.at, (size_t) length,
                        out->data + out->length, (size_t) raw_length);
    if (status != STEP_STATUS_OK)
        return step_error_set(error, status, payload->file, payload->offset,
                              "the block's contents are damaged");
    out->length += (size_t) raw_length;
    return status;
}

enum step_status step_block_next(struct step_block *block, struct step_record_view *view)
{
    while (block->at < block->record_count) {
        size_t local = block->types != NULL ? block->types[block->at] : 0;
        const struct step_block_type *type = &block->block_types[local];
        block->at++;
        if (!type->wanted) {
            for (size_t i = 0; i < type->slot_count; i++)
                type->slots[i]->next++;
            continue;
        }
        for (size_t i = 0; i < type->slot_count; i++) {
            struct step_slot_cursor *cursor = type->slots[i];
            block->slots[i] = *cursor->next;
            cursor->next += cursor->step;
        }
        view->record = type->record;
        view->slots = block->slots;
        return STEP_STATUS_OK;
    }
    return STEP_STATUS_END;
}

size_t step_block_memory(const struct step_block *block)
{
    return sizeof *block + block->arena.total;
}

void step_block_destroy(struct step_block *block)
{
    if (block == NULL)
        return;
    step_arena_reset(&block->arena);
    free(block);
}
