/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts decoded columns to the slots of records.
 *
 * A field of single values needs nothing: the slot's cursor walks over the column itself.  For
 * others the slots are made for all values at once, node by node, so that each column is passed in
 * order.  What a slot points to lives with the block.
 *
 * Values inside arrays and variants are counted on the way: only when the lengths or types are
 * known is it known how many values the columns below have.
 *
 * So each function has the same order: decode the column of the node itself; derive from it how
 * many values the children have, checked against a limit; take memory for these; set the counts of
 * the children's columns; fill the children; and at last point the node's slots to them.  A count
 * that is set too late would decode a column with the wrong number of values.
 *
 * The recursion follows the definition, whose nesting is limited (STEP_MAX_NESTING).  The depth of
 * trees does not matter here: they are filled as lists, and linked afterwards.
 */
#include "format/step/block/block_decode.h"

#include <inttypes.h>
#include <string.h>

#include "format/codec/strategies/packed_strings.h"

/* Decodes a node's lengths and adds them up.  Fails if their sum exceeds the limit.  The sum
 * decides how much memory is taken, so it must not overflow, nor be believed beyond what a block
 * may have. */
static enum step_status slots_add_up(struct step_decoding *decoding,
                                     const struct step_plan_node *node, uint64_t count,
                                     uint64_t most, const char *what, uint64_t *total)
{
    enum step_status status = step_decoding_decode(decoding, node->column);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_series *lengths = &decoding->series[node->column];
    *total = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t length = lengths->values[i * lengths->step];
        if (length > most - *total)
            return step_decoding_fail(decoding, STEP_STATUS_CORRUPT,
                                      decoding->columns[node->column].stored,
                                      "%s pass the limit of a block", what);
        *total += length;
    }
    return status;
}

/* Writes the slots of `count` values of a node: the first at out[0], the next `stride` after it. */
static enum step_status slots_fill(struct step_decoding *decoding,
                                   const struct step_plan_node *node, uint64_t count, uint64_t *out,
                                   size_t stride);

/* Values of a nested record are copied, as its slots must be next to each other. */
static enum step_status fill_values(struct step_decoding *decoding, uint32_t index, uint64_t count,
                                    uint64_t *out, size_t stride)
{
    enum step_status status = step_decoding_decode(decoding, index);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_series *series = &decoding->series[index];
    for (uint64_t i = 0; i < count; i++)
        out[i * stride] = series->values[i * series->step];
    return status;
}

/* Unpacked bytes are decompressed where they stay.  Packed ones go through the scratch buffer; the
 * lengths were decoded before, so nothing else uses it now. */
static enum step_status unpack_bytes(struct step_decoding *decoding,
                                     const struct step_coding *coding, const uint8_t *stored,
                                     const struct step_series *lengths, uint64_t count,
                                     uint8_t *bytes, uint64_t total)
{
    struct step_buffer *raw = &decoding->reader->scratch.raw;
    if (coding->strings == 0)
        return step_decompress(decoding->reader->decompressor, coding->method, stored,
                               (size_t) coding->stored_length, bytes, (size_t) total);
    raw->length = 0;
    if (!step_buffer_reserve(raw, (size_t) coding->raw_length + 1))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status =
        step_decompress(decoding->reader->decompressor, coding->method, stored,
                        (size_t) coding->stored_length, raw->data, (size_t) coding->raw_length);
    return status == STEP_STATUS_OK
               ? step_strings_unpack(coding->strings, lengths, (size_t) count, raw->data,
                                     (size_t) coding->raw_length, bytes, (size_t) total)
               : status;
}

/* Decodes the bytes of all strings of a column, one after the other.  `total` is the sum of the
 * lengths, and decides how much is written.  Without packing, the section must have as many bytes.
 * With it, step_strings_unpack() checks each string against `total`, since a few bytes can name a
 * long string many times. */
static enum step_status decode_bytes(struct step_decoding *decoding, uint32_t index,
                                     const struct step_series *lengths, uint64_t count,
                                     uint64_t total, uint8_t **bytes)
{
    struct step_decoding_column *column = &decoding->columns[index];
    const struct step_coding *coding = &column->coding;
    char name[128];
    step_decoding_name(decoding, index, name, sizeof name);
    if (column->state == STEP_COLUMN_LISTED && coding->unknown != NULL)
        return step_decoding_unknown(decoding, name, coding, column->stored);
    if (column->state != STEP_COLUMN_LISTED || coding->chain.form != NULL ||
        (coding->strings == 0 && coding->raw_length != total))
        return step_decoding_fail(decoding, STEP_STATUS_CORRUPT, column->stored,
                                  "the bytes of column %s disagree with their lengths", name);
    enum step_status status = STEP_STATUS_OK;
    *bytes = step_decoding_take(decoding, total, 1, &status);
    if (*bytes == NULL)
        return status;
    status = unpack_bytes(decoding, coding, column->stored, lengths, count, *bytes, total);
    if (status != STEP_STATUS_OK)
        return step_decoding_fail(decoding, status, column->stored,
                                  "the bytes of column %s are damaged", name);
    column->state = STEP_COLUMN_DECODED;
    return status;
}

static enum step_status fill_bytes(struct step_decoding *decoding,
                                   const struct step_plan_node *node, uint64_t count, uint64_t *out,
                                   size_t stride)
{
    uint64_t total;
    uint8_t *bytes = NULL;
    enum step_status status =
        slots_add_up(decoding, node, count, STEP_MAX_BLOCK_MEMORY, "lengths", &total);
    const struct step_series *lengths = &decoding->series[node->column];
    if (status == STEP_STATUS_OK)
        status = decode_bytes(decoding, node->column + 1, lengths, count, total, &bytes);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_bytes *items = step_decoding_take(decoding, count, sizeof *items, &status);
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

/* The elements of all arrays are one list of slots, filled at once; an array is a part of it.
 * `most` is in elements such that their slots have the limit of a block, which keeps the product
 * below from overflowing.  Elements without slots, arrays of empty records, take no memory and no
 * loop.  A tree is an array up to here, and its parts are linked instead. */
static enum step_status fill_arrays(struct step_decoding *decoding,
                                    const struct step_plan_node *node, uint64_t count,
                                    uint64_t *out, size_t stride)
{
    const struct step_plan_node *element = step_node_child(decoding->plan, node, 0);
    uint64_t total;
    uint64_t most = STEP_MAX_BLOCK_MEMORY / sizeof(uint64_t);
    most = element->slot_count > 1 ? most / element->slot_count : most;
    enum step_status status = slots_add_up(decoding, node, count, most, "array lengths", &total);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_series *lengths = &decoding->series[node->column];
    uint64_t *slots =
        step_decoding_take(decoding, total * element->slot_count, sizeof *slots, &status);
    struct step_array *arrays = step_decoding_take(decoding, count, sizeof *arrays, &status);
    if (slots == NULL || arrays == NULL)
        return status;
    step_decoding_count(decoding, element, total);
    status = slots_fill(decoding, element, total, slots, element->slot_count);
    if (status == STEP_STATUS_OK && node->kind == STEP_NODE_TREE)
        return step_decoding_link(decoding, node, slots, total, count, out, stride);
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

/* Fills the number of values of each type of a variant, and its children's slots, type by type: the
 * columns of a type have the values of that type only, one after the other.  fill_variants() then
 * deals them out in the order of the variants. */
static enum step_status fill_types(struct step_decoding *decoding,
                                   const struct step_plan_node *node, uint64_t count,
                                   uint64_t **slots, uint64_t *counts)
{
    const struct step_plan *plan = decoding->plan;
    const struct step_series *types = &decoding->series[node->column];
    memset(counts, 0, node->child_count * sizeof *counts);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t place = step_node_variant(plan, node, types->values[i * types->step]);
        if (place == STEP_NO_INDEX)
            return step_decoding_fail(decoding, STEP_STATUS_CORRUPT,
                                      decoding->columns[node->column].stored,
                                      "a value of a type that does not extend its field's type");
        counts[place]++;
    }
    for (uint32_t k = 0; k < node->child_count; k++) {
        const struct step_plan_node *child = step_node_child(plan, node, k);
        enum step_status status = STEP_STATUS_OK;
        slots[k] =
            step_decoding_take(decoding, counts[k] * child->slot_count, sizeof **slots, &status);
        if (slots[k] == NULL)
            return status;
        step_decoding_count(decoding, child, counts[k]);
        status = slots_fill(decoding, child, counts[k], slots[k], child->slot_count);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_OK;
}

/* slots[place] is the next unused value of each type.  fill_types() has counted as many values of a
 * type as are taken here, so it never passes the end.  The list is borrowed, and the slots are not:
 * records point to them. */
static enum step_status fill_variants(struct step_decoding *decoding,
                                      const struct step_plan_node *node, uint64_t count,
                                      uint64_t *out, size_t stride)
{
    const struct step_plan *plan = decoding->plan;
    enum step_status status = step_decoding_decode(decoding, node->column);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_variant *variants = step_decoding_take(decoding, count, sizeof *variants, &status);
    uint64_t **slots = step_decoding_borrow(decoding, node->child_count, sizeof *slots, &status);
    uint64_t *counts = step_decoding_borrow(decoding, node->child_count, sizeof *counts, &status);
    if (variants == NULL || slots == NULL || counts == NULL)
        return status;
    status = fill_types(decoding, node, count, slots, counts);
    const struct step_series *types = &decoding->series[node->column];
    for (uint64_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        uint64_t record = types->values[i * types->step];
        uint32_t place = step_node_variant(plan, node, record);
        bool none = record == node->record; /* none, in a tree */
        variants[i] = none ? (struct step_variant){STEP_NO_RECORD, NULL}
                           : (struct step_variant){(uint32_t) record, slots[place]};
        out[i * stride] = step_slot_of_variant(&variants[i]);
        slots[place] += step_node_child(plan, node, place)->slot_count;
    }
    return status;
}

/* Counts the values that are stored; the others are numbers of earlier ones.  A number may only
 * name a value that was stored before it.  Any bound by the stored values would keep the look-up
 * within its array, as they are all filled before the first is used.  Only the strict one agrees
 * with rows, where a reader has no later values yet. */
static enum step_status count_given(struct step_decoding *decoding, uint32_t index, uint64_t count,
                                    uint64_t *given)
{
    const struct step_series *numbers = &decoding->series[index];
    *given = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t number = numbers->values[i * numbers->step];
        if (number > *given || number > STEP_STRINGS_MOST)
            return step_decoding_fail(decoding, STEP_STATUS_CORRUPT,
                                      decoding->columns[index].stored,
                                      "the number of an undefined value");
        *given += number == 0;
    }
    return STEP_STATUS_OK;
}

/* A repeated value shares the slots of the stored one, and all that these point to.  That is what
 * makes repeated arrays cheap to read, too.  It also bounds what a hostile file gains by
 * repetition: a number costs the slots of one value, however long the arrays are that these point
 * to.  If the block lacks the column of numbers, each value is given (drop_unneeded() in
 * columns_of_records.c). */
static enum step_status fill_numbered(struct step_decoding *decoding,
                                      const struct step_plan_node *node, uint64_t count,
                                      uint64_t *out, size_t stride)
{
    const struct step_plan_node *value = step_node_child(decoding->plan, node, 0);
    size_t width = value->slot_count;
    if (decoding->columns[node->column].state == STEP_COLUMN_ABSENT) {
        step_decoding_count(decoding, value, count);
        return slots_fill(decoding, value, count, out, stride);
    }
    uint64_t given, next = 0;
    enum step_status status = step_decoding_decode(decoding, node->column);
    if (status == STEP_STATUS_OK)
        status = count_given(decoding, node->column, count, &given);
    if (status != STEP_STATUS_OK)
        return status;
    uint64_t *slots = step_decoding_borrow(decoding, given * width, sizeof *slots, &status);
    if (slots == NULL)
        return status;
    step_decoding_count(decoding, value, given);
    status = slots_fill(decoding, value, given, slots, width);
    const struct step_series *numbers = &decoding->series[node->column];
    for (uint64_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        uint64_t number = numbers->values[i * numbers->step];
        uint64_t place = number == 0 ? next++ : number - 1;
        memcpy(&out[i * stride], &slots[place * width], width * sizeof *slots);
    }
    return status;
}

static enum step_status slots_fill(struct step_decoding *decoding,
                                   const struct step_plan_node *node, uint64_t count, uint64_t *out,
                                   size_t stride)
{
    switch (node->kind) {
    case STEP_NODE_VALUE:
        return fill_values(decoding, node->column, count, out, stride);
    case STEP_NODE_BYTES:
        return fill_bytes(decoding, node, count, out, stride);
    case STEP_NODE_ARRAY:
    case STEP_NODE_TREE:
        return fill_arrays(decoding, node, count, out, stride);
    case STEP_NODE_VARIANT:
        return fill_variants(decoding, node, count, out, stride);
    case STEP_NODE_NUMBERED:
        return fill_numbered(decoding, node, count, out, stride);
    case STEP_NODE_INNER: /* see step_decoding_link() */
        return STEP_STATUS_OK;
    case STEP_NODE_RECORD:
        break;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct step_plan_node *child = step_node_child(decoding->plan, node, i);
        enum step_status status = slots_fill(decoding, child, count, out, stride);
        if (status != STEP_STATUS_OK)
            return status;
        out += child->slot_count;
    }
    return STEP_STATUS_OK;
}

/* Adds a node's values to the counts of its columns; those inside an array follow when the array's
 * lengths are known.  Columns outside arrays are shared by record types, and each adds its records.
 * One inside an array gets its count at once, as its node is filled once for all types. */
void step_decoding_count(struct step_decoding *decoding, const struct step_plan_node *node,
                         uint64_t count)
{
    if (step_node_has_column(node)) {
        struct step_decoding_column *column = &decoding->columns[node->column];
        bool shared = !decoding->plan->columns[node->column].in_array;
        column->count = shared ? column->count + count : count;
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        step_decoding_count(decoding, step_node_child(decoding->plan, node, i), count);
}

/* Makes a cursor for each slot of the node's values: just one, except for numbered values.
 *
 * A field of single values gets a cursor on the decoded column, without a copy.  Everything else
 * gets an array of slots for the values of all record types that share the column.  It is made when
 * the first type asks for it, and holds the values of all, including types that are not wanted:
 * without them the positions would not agree. */
static enum step_status make_cursors(struct step_decoding *decoding,
                                     const struct step_plan_node *node,
                                     struct step_decoding_column *column)
{
    enum step_status status = STEP_STATUS_OK;
    struct step_slot_cursor cursor = {.step = node->slot_count};
    if (node->kind == STEP_NODE_VALUE) {
        status = step_decoding_decode(decoding, node->column);
        const struct step_series *series = &decoding->series[node->column];
        cursor = (struct step_slot_cursor){.next = series->values, .step = series->step};
    } else {
        uint64_t *slots =
            step_decoding_take(decoding, column->count * node->slot_count, sizeof *slots, &status);
        if (slots == NULL)
            return status;
        status = slots_fill(decoding, node, column->count, slots, node->slot_count);
        cursor.next = slots;
    }
    if (status != STEP_STATUS_OK)
        return status;
    column->cursors =
        step_decoding_take(decoding, node->slot_count, sizeof *column->cursors, &status);
    for (uint32_t i = 0; column->cursors != NULL && i < node->slot_count; i++)
        column->cursors[i] = (struct step_slot_cursor){
            .next = cursor.next + i, .step = cursor.step, .first = cursor.next + i};
    return status;
}

/* Makes the cursors of a node's slots, and appends them at `*slots`, which advances.  They are kept
 * with the column, and the next type that shares it gets the same ones.  `unsupported` is kept as
 * well: a column inside the node may be the one that cannot be decoded, and would be tried anew for
 * each type. */
enum step_status step_decoding_slots(struct step_decoding *decoding,
                                     const struct step_plan_node *node,
                                     struct step_slot_cursor ***slots)
{
    enum step_status status = STEP_STATUS_OK;
    if (node->kind == STEP_NODE_RECORD) {
        for (uint32_t i = 0; i < node->child_count && status == STEP_STATUS_OK; i++)
            status = step_decoding_slots(decoding, step_node_child(decoding->plan, node, i), slots);
        return status;
    }
    struct step_decoding_column *column = &decoding->columns[node->column];
    if (column->unsupported)
        return step_decoding_fail(decoding, STEP_STATUS_UNSUPPORTED, NULL,
                                  "an encoding is not known");
    if (column->cursors == NULL)
        status = make_cursors(decoding, node, column);
    column->unsupported = status == STEP_STATUS_UNSUPPORTED;
    for (uint32_t i = 0; status == STEP_STATUS_OK && i < node->slot_count; i++)
        *(*slots)++ = &column->cursors[i];
    return status;
}

/* Appends the cursors of a skipped type, which it shares with other types.  A column without
 * cursors was wanted by nobody, and a cursor with step 0 need not move. */
void step_decoding_moved(struct step_decoding *decoding, const struct step_plan_node *node,
                         struct step_slot_cursor ***slots)
{
    if (node->kind == STEP_NODE_RECORD) {
        for (uint32_t i = 0; i < node->child_count; i++)
            step_decoding_moved(decoding, step_node_child(decoding->plan, node, i), slots);
        return;
    }
    struct step_decoding_column *column = &decoding->columns[node->column];
    for (uint32_t i = 0; column->cursors != NULL && i < node->slot_count; i++)
        if (column->cursors[i].step != 0)
            *(*slots)++ = &column->cursors[i];
}
