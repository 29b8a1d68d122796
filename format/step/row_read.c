/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to columns: the layout ROWS.  All bytes are hostile; what a meta-record says must agree with
 * the policies of the block's directory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "block_decode.h"
#include "follow.h"
#include "identifiers.h"
#include "meta.h"

enum { KEPT_VALUES = 1 << 20 };

/* Kept from block to block. */
struct step_row_reader {
    struct step_buffer rows;
    struct step_encoder *encoders;    /* by column of the plan */
    struct step_column_data *columns; /* the same: what was decoded */
    uint32_t *listed;                 /* columns in the order of the directory */
    uint64_t *given;                  /* by column: the field or leaf that `given` looks at */
    size_t listed_count;
    size_t column_count;
    struct step_encoder types;
    struct step_encoder events;
};

/* One block under way. */
struct reading {
    struct step_decoding *decoding;
    struct step_row_reader *reader;
    struct step_cursor cursor;
    const uint8_t *start;
    uint16_t *local_types; /* by record: its local number, plus 1 */
    uint32_t record;       /* the type of the record at hand */
    uint64_t number;       /* its number in the block */
    uint64_t changes;      /* of a meta-record: those that are to come */
    uint64_t until;        /* values before the next of them */
    uint64_t budget;       /* bytes that may still be decoded */
};

void step_row_reader_destroy(struct step_row_reader *rows)
{
    if (rows == NULL)
        return;
    for (size_t i = 0; i < rows->column_count; i++) {
        step_encoder_reset(&rows->encoders[i]);
        free(rows->columns[i].values);
        step_buffer_reset(&rows->columns[i].bytes);
    }
    step_encoder_reset(&rows->types);
    step_encoder_reset(&rows->events);
    step_buffer_reset(&rows->rows);
    free(rows->encoders);
    free(rows->columns);
    free(rows->listed);
    free(rows->given);
    free(rows);
}

static struct step_row_reader *make_reader(size_t column_count)
{
    struct step_row_reader *rows = calloc(1, sizeof *rows);
    if (rows == NULL)
        return NULL;
    rows->encoders = calloc(column_count + 1, sizeof *rows->encoders);
    rows->columns = calloc(column_count + 1, sizeof *rows->columns);
    rows->listed = calloc(column_count + 1, sizeof *rows->listed);
    rows->given = calloc(column_count + 1, sizeof *rows->given);
    if (rows->encoders != NULL && rows->columns != NULL && rows->listed != NULL &&
        rows->given != NULL) {
        rows->column_count = column_count;
        return rows;
    }
    step_row_reader_destroy(rows);
    return NULL;
}

static bool is_table(enum step_targeted targeted)
{
    return targeted == STEP_GIVEN || targeted == STEP_CONTEXT || targeted == STEP_DFCM;
}

static enum step_status damaged_directory(const struct reading *reading)
{
    return step_decoding_fail(reading->decoding, STEP_STATUS_CORRUPT, NULL,
                              "the directory of the block's rows is damaged");
}

/* The policy of an encoder; one that is not known is named. */
static enum step_status read_policy(struct reading *reading, uint32_t index,
                                    struct step_policy *policy)
{
    uint64_t length;
    const uint8_t *text;
    const char *unknown;
    size_t unknown_length;
    char name[128];
    if (!step_cursor_varint(&reading->cursor, &length) ||
        !step_cursor_bytes(&reading->cursor, length, &text))
        return damaged_directory(reading);
    if (step_policy_parse((const char *) text, (size_t) length, policy, &unknown, &unknown_length))
        return STEP_STATUS_OK;
    step_decoding_name(reading->decoding, index, name, sizeof name);
    return step_decoding_fail(reading->decoding, STEP_STATUS_UNSUPPORTED, NULL,
                              "field %s: the encoding '%.*s' is not known to this library", name,
                              (int) (unknown_length < 40 ? unknown_length : 40), unknown);
}

/* What `given` names must stand before the field. */
static bool read_given(struct reading *reading, uint32_t index, bool *hashed)
{
    const struct step_plan *plan = reading->decoding->plan;
    const struct step_plan_column *column = &plan->columns[index];
    uint64_t reference;
    uint64_t flag;
    if (!step_cursor_varint(&reading->cursor, &reference) ||
        !step_cursor_varint(&reading->cursor, &flag) || flag > 1)
        return false;
    *hashed = flag == 1;
    reading->reader->given[index] = reference;
    return (reference >> 1) < (reference & 1 ? column->leaf : column->field);
}

static bool read_followed(struct reading *reading, uint32_t index, enum step_targeted targeted)
{
    const struct step_plan *plan = reading->decoding->plan;
    uint64_t reference;
    if (!step_cursor_varint(&reading->cursor, &reference) || plan->columns[index].in_array)
        return false;
    if (targeted == STEP_AGE)
        reference = step_follow_column(plan, reference);
    reading->reader->given[index] = reference;
    return targeted == STEP_AGE ? reference != STEP_NO_INDEX && reference != index
                                : reference < plan->definition->record_count;
}

static enum step_status read_encoder(struct reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    struct step_decoding *decoding = reading->decoding;
    uint64_t record;
    uint64_t field;
    uint64_t leaf;
    uint64_t bits = 1;
    bool hashed = false;
    struct step_policy policy;
    if (!step_cursor_varint(&reading->cursor, &record) ||
        !step_cursor_varint(&reading->cursor, &field) ||
        !step_cursor_varint(&reading->cursor, &leaf))
        return damaged_directory(reading);
    uint32_t index = step_plan_find_column(decoding->plan, record, field, leaf);
    if (index == STEP_NO_INDEX || decoding->columns[index].state != STEP_COLUMN_ABSENT ||
        decoding->plan->columns[index].kind == STEP_COLUMN_BYTES)
        return damaged_directory(reading);
    enum step_status status = read_policy(reading, index, &policy);
    if (status != STEP_STATUS_OK)
        return status;
    if ((policy.targeted == STEP_STACK || policy.targeted == STEP_AGE) &&
        !read_followed(reading, index, policy.targeted))
        return damaged_directory(reading);
    if (policy.targeted == STEP_GIVEN && !read_given(reading, index, &hashed))
        return damaged_directory(reading);
    if (is_table(policy.targeted) &&
        (!step_cursor_varint(&reading->cursor, &bits) || bits < 1 || bits > STEP_TABLE_BITS_MAX))
        return damaged_directory(reading);
    decoding->columns[index].state = STEP_COLUMN_LISTED;
    reader->listed[reader->listed_count++] = index;
    status = step_encoder_start(&reader->encoders[index], &policy, (unsigned) bits, hashed);
    return status == STEP_STATUS_OK ? status : step_decoding_no_memory(decoding);
}

static enum step_status read_directory(struct reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    struct step_policy types = step_meta_type_policy();
    struct step_policy events = step_meta_event_policy();
    uint64_t count;
    for (size_t i = 0; i < reader->column_count; i++) {
        reader->columns[i].count = 0;
        reader->columns[i].bytes.length = 0;
    }
    reader->listed_count = 0;
    if (step_encoder_start(&reader->types, &types, 1, false) != STEP_STATUS_OK ||
        step_encoder_start(&reader->events, &events, 1, false) != STEP_STATUS_OK)
        return step_decoding_no_memory(reading->decoding);
    if (!step_cursor_varint(&reading->cursor, &count) || count > reader->column_count)
        return damaged_directory(reading);
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = read_encoder(reading);
    return status;
}

/* From here on, functions return NULL or what is wrong. */
static const char cut[] = "the bytes end too early";
static const char memory[] = "out of memory";
static const char too_large[] = "the block passes the limit of memory";

static const char *get_number(struct reading *reading, uint64_t *value)
{
    return step_cursor_varint(&reading->cursor, value) ? NULL : cut;
}

/* The changes inside of an event: only the encoder of its own field can change, after its tag. */
static const char *read_inner_changes(struct reading *reading, uint64_t count)
{
    uint64_t numbers[3]; /* values before it, kind, encoder */
    for (uint64_t i = 0; i < count; i++) {
        for (size_t k = i == 0; k < 3; k++)
            if (!step_cursor_varint(&reading->cursor, &numbers[k]))
                return cut;
        if ((i > 0 && numbers[0] != 0) || numbers[2] != STEP_META_ENCODER ||
            numbers[1] >= STEP_CHANGE_END)
            return "a change of a meta-event that is none";
        struct step_change change = {(enum step_change_kind) numbers[1], 0};
        const char *fault = step_encoder_change(&reading->reader->events, change);
        if (fault != NULL)
            return fault;
    }
    return NULL;
}

/* The tag of a meta-event, and what changes before its field. */
static const char *read_event_start(struct reading *reading, uint64_t *kind)
{
    uint64_t count;
    uint64_t values;
    const char *fault = get_number(reading, kind);
    if (fault != NULL || *kind != STEP_META_TAG)
        return fault;
    if (get_number(reading, &count) != NULL || get_number(reading, &values) != NULL ||
        get_number(reading, kind) != NULL)
        return cut;
    if (count < 1 || count > STEP_CHANGES_MAX || values != 1 || *kind == STEP_META_TAG)
        return "a meta-record in a meta-event that is none";
    return read_inner_changes(reading, count);
}

static const char *read_event(struct reading *reading)
{
    struct step_row_reader *reader = reading->reader;
    uint64_t kind;
    uint64_t number;
    uint64_t bytes = 0;
    const char *fault = read_event_start(reading, &kind);
    if (fault == NULL)
        fault = step_encoder_get(&reader->events, 0, &reading->cursor, &number);
    if (fault == NULL && (kind == STEP_CHANGE_GROW || kind == STEP_CHANGE_WIDEN))
        fault = get_number(reading, &bytes);
    if (fault != NULL)
        return fault;
    if (kind >= STEP_CHANGE_END || number > reader->listed_count || bytes > 8)
        return "a change of an encoder or of a kind that does not exist";
    struct step_encoder *encoder =
        number == 0 ? &reader->types : &reader->encoders[reader->listed[number - 1]];
    return step_encoder_change(
        encoder, (struct step_change){(enum step_change_kind) kind, (unsigned) bytes});
}

/* Applies the changes that stand before the next value. */
static inline const char *settle(struct reading *reading)
{
    while (reading->changes > 0 && reading->until == 0) {
        const char *fault = read_event(reading);
        if (fault == NULL && --reading->changes > 0)
            fault = get_number(reading, &reading->until);
        if (fault != NULL)
            return fault;
    }
    reading->until -= reading->changes > 0;
    return NULL;
}

static uint64_t key_of(const struct reading *reading, uint32_t index)
{
    const struct step_plan *plan = reading->decoding->plan;
    const struct step_plan_column *column = &plan->columns[index];
    uint64_t reference = reading->reader->given[index];
    enum step_targeted targeted = reading->reader->encoders[index].policy.targeted;
    if (targeted == STEP_STACK)
        return step_record_extends(plan->definition, reading->record, (uint32_t) reference);
    uint32_t other =
        targeted == STEP_AGE ? (uint32_t) reference
        : reference & 1 ? step_plan_find_column(plan, column->record, column->field, reference >> 1)
                        : step_field_column(plan, reading->record, reference >> 1);
    if (other == STEP_NO_INDEX)
        return 0;
    const struct step_column_data *data = &reading->reader->columns[other];
    return data->count > 0 ? data->values[data->count - 1] : 0;
}

static const char *push(struct reading *reading, struct step_column_data *data, uint64_t value)
{
    if (reading->budget < sizeof value)
        return too_large;
    reading->budget -= sizeof value;
    if (data->count == data->capacity) {
        size_t capacity = data->capacity * 2 + 64;
        uint64_t *values = realloc(data->values, capacity * sizeof *values);
        if (values == NULL)
            return memory;
        data->values = values;
        data->capacity = capacity;
    }
    data->values[data->count++] = value;
    return NULL;
}

static const char *get_column(struct reading *reading, uint32_t index, uint64_t *value)
{
    struct step_row_reader *reader = reading->reader;
    struct step_encoder *encoder = &reader->encoders[index];
    if (reading->decoding->columns[index].state != STEP_COLUMN_LISTED)
        return "a field that the directory does not tell of";
    const char *fault = settle(reading);
    if (fault != NULL)
        return fault;
    uint64_t key = step_policy_has_key(&encoder->policy) ? key_of(reading, index) : 0;
    fault = step_encoder_get(encoder, key, &reading->cursor, value);
    return fault == NULL ? push(reading, &reader->columns[index], *value) : fault;
}

static const char *get_bytes(struct reading *reading, uint32_t index, uint64_t length)
{
    const uint8_t *bytes;
    if (!step_cursor_bytes(&reading->cursor, length, &bytes))
        return "a length that passes the end of the block";
    if (length > reading->budget)
        return too_large;
    reading->budget -= length;
    return step_buffer_append(&reading->reader->columns[index].bytes, bytes, (size_t) length)
               ? NULL
               : memory;
}

static const char *get_node(struct reading *reading, const struct step_plan_node *node)
{
    const struct step_plan *plan = reading->decoding->plan;
    uint64_t value = 1;
    const char *fault = NULL;
    if (node->kind != STEP_NODE_RECORD)
        fault = get_column(reading, node->column, &value);
    if (fault == NULL && node->kind == STEP_NODE_BYTES)
        fault = get_bytes(reading, node->column + 1, value);
    if (fault != NULL || node->child_count == 0 || !step_node_has_values(plan, node))
        return fault;
    if (node->kind == STEP_NODE_VARIANT) {
        uint32_t place = step_node_variant(plan, node, value);
        return place != STEP_NO_INDEX
                   ? get_node(reading, &plan->nodes[plan->children[node->first_child + place]])
                   : "a value of a type that does not extend its field's";
    }
    for (uint64_t i = 0; i < value && fault == NULL; i++)
        for (uint32_t k = 0; k < node->child_count && fault == NULL; k++)
            fault = get_node(reading, &plan->nodes[plan->children[node->first_child + k]]);
    return fault;
}

/* The start of a record: whether it is a meta-record, and its type. */
static const char *get_type(struct reading *reading)
{
    uint64_t record;
    const char *fault;
    reading->changes = reading->until = 0;
    if (reading->cursor.at < reading->cursor.end && *reading->cursor.at == STEP_META_TAG) {
        reading->cursor.at++;
        fault = get_number(reading, &reading->changes);
        if (fault == NULL)
            fault = get_number(reading, &reading->until);
        if (fault == NULL && reading->changes == 0)
            fault = "a meta-record without changes";
        if (fault != NULL)
            return fault;
    }
    fault = settle(reading);
    if (fault == NULL)
        fault = step_encoder_get(&reading->reader->types, 0, &reading->cursor, &record);
    if (fault != NULL)
        return fault;
    if (record >= reading->decoding->plan->definition->record_count ||
        reading->local_types[record] == 0)
        return "a record type that the block's summary does not tell of";
    reading->record = (uint32_t) record;
    return NULL;
}

static const char *get_record(struct reading *reading, uint64_t *left)
{
    const struct step_plan *plan = reading->decoding->plan;
    struct step_block *block = reading->decoding->block;
    const char *fault = get_type(reading);
    if (fault != NULL)
        return fault;
    uint16_t local = (uint16_t) (reading->local_types[reading->record] - 1);
    if (left[local]-- == 0)
        return "the record types disagree with their counts";
    if (block->types != NULL)
        block->types[reading->number] = local;
    const struct step_plan_record *planned = &plan->records[reading->record];
    for (uint32_t i = 0; i < planned->field_count && fault == NULL; i++)
        fault = get_node(reading, &plan->nodes[planned->field_nodes[i]]);
    if (fault == NULL && reading->changes > 0)
        fault = "a meta-record with changes after its last value";
    return fault;
}

static enum step_status refuse(const struct reading *reading, const char *fault)
{
    const struct step_decoding *decoding = reading->decoding;
    const struct step_definition *definition = decoding->plan->definition;
    enum step_status status = fault == memory      ? STEP_STATUS_NO_MEMORY
                              : fault == too_large ? STEP_STATUS_LIMIT
                                                   : STEP_STATUS_CORRUPT;
    return step_decoding_fail(decoding, status, NULL,
                              "record %" PRIu64 " of the block (%.50s), byte %" PRIu64
                              " of its rows: %s",
                              reading->number, definition->records[reading->record].name,
                              (uint64_t) (reading->cursor.at - reading->start), fault);
}

static enum step_status prepare(struct reading *reading, uint64_t **left)
{
    struct step_decoding *decoding = reading->decoding;
    struct step_block *block = decoding->block;
    enum step_status status = STEP_STATUS_OK;
    size_t record_count = decoding->plan->definition->record_count;
    *left = step_decoding_borrow(decoding, block->type_count, sizeof **left, &status);
    reading->local_types =
        step_decoding_borrow(decoding, record_count, sizeof *reading->local_types, &status);
    if (status != STEP_STATUS_OK)
        return status;
    memset(reading->local_types, 0, record_count * sizeof *reading->local_types);
    for (size_t i = 0; i < block->type_count; i++) {
        (*left)[i] = block->block_types[i].count;
        reading->local_types[block->block_types[i].record] = (uint16_t) (i + 1);
    }
    block->types = NULL;
    if (block->type_count > 1)
        block->types =
            step_decoding_take(decoding, block->record_count, sizeof *block->types, &status);
    return status;
}

/* Gives what was decoded to the columns of the block. */
static enum step_status hand_over(struct reading *reading)
{
    struct step_decoding *decoding = reading->decoding;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < reading->reader->listed_count && status == STEP_STATUS_OK; i++) {
        uint32_t index = reading->reader->listed[i];
        struct step_column_data *data = &reading->reader->columns[index];
        uint64_t *values = step_decoding_take(decoding, data->count, sizeof *values, &status);
        if (values != NULL && data->count > 0)
            memcpy(values, data->values, data->count * sizeof *values);
        if (data->capacity > KEPT_VALUES) {
            free(data->values);
            data->values = NULL;
            data->capacity = 0;
        }
        decoding->series[index] = (struct step_series){values, 1};
        decoding->columns[index].state = STEP_COLUMN_DECODED;
        if (index + 1 == decoding->plan->column_count ||
            decoding->plan->columns[index + 1].kind != STEP_COLUMN_BYTES)
            continue;
        const struct step_buffer *bytes = &reading->reader->columns[index + 1].bytes;
        struct step_decoding_column *column = &decoding->columns[index + 1];
        column->state = STEP_COLUMN_LISTED;
        column->stored = bytes->data;
        column->coding = (struct step_coding){.method = STEP_COMPRESSION_NONE,
                                              .raw_length = bytes->length,
                                              .stored_length = bytes->length};
    }
    return status;
}

enum step_status step_decoding_rows(struct step_decoding *decoding)
{
    struct step_block_reader *blocks = decoding->reader;
    if (blocks->rows == NULL)
        blocks->rows = make_reader(decoding->plan->column_count);
    if (blocks->rows == NULL)
        return step_decoding_no_memory(decoding);
    struct step_buffer *rows = &blocks->rows->rows;
    struct reading reading = {
        .decoding = decoding, .reader = blocks->rows, .budget = STEP_MAX_BLOCK_MEMORY};
    uint64_t *left;
    rows->length = 0;
    enum step_status status =
        step_block_expand(blocks, decoding->payload, STEP_MAX_BLOCK_MEMORY, rows, decoding->error);
    if (status != STEP_STATUS_OK)
        return status;
    reading.cursor = step_cursor_of(rows->data, rows->length);
    reading.start = rows->data;
    status = read_directory(&reading);
    if (status == STEP_STATUS_OK)
        status = prepare(&reading, &left);
    const char *fault = NULL;
    for (; status == STEP_STATUS_OK && reading.number < decoding->block->record_count;
         reading.number++) {
        fault = get_record(&reading, left);
        if (fault != NULL)
            return refuse(&reading, fault);
    }
    if (status == STEP_STATUS_OK && step_cursor_left(&reading.cursor) > 0)
        return refuse(&reading, "there are bytes after the last record");
    return status == STEP_STATUS_OK ? hand_over(&reading) : status;
}
