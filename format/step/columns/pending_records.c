/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending records of a stream, stored row by row.
 *
 * A record is refused here if no reader would take it: the budget of a record is counted down while
 * its values are copied, so a record that is too large is noticed before it is in memory as a
 * whole.  What was copied up to then is taken back (step_pending_mark()). `nested_bytes` adds up
 * what a reader will need for the block beyond words and bytes; the writer ends a block by it.
 *
 * Words carry no types.  What a word is follows from the record type and the tree of nodes, so each
 * walk over words must follow the order of append_node(): to_words(), step_words_append(), and
 * columns_of_records.c.
 */
#include "format/step/columns/pending_records.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/step/layout.h"

static void step_pending_columns_clear(struct step_pending_columns *columns)
{
    for (size_t i = 0; i < columns->column_count; i++) {
        step_pages_clear(&columns->columns[i].pages, &columns->share);
        columns->columns[i] = (struct step_row_column){.count = 0};
    }
}

/* Storage for all columns of the definition, but no page: a stream that has no value in a column
 * pays for its counters only. */
static bool step_pending_columns_create(struct step_pending_columns *columns, size_t column_count,
                                        struct step_page_pool *pool)
{
    columns->share.pool = pool;
    if (columns->columns != NULL)
        return true;
    columns->columns = calloc(column_count + 1, sizeof *columns->columns);
    columns->column_count = columns->columns != NULL ? column_count : 0;
    return columns->columns != NULL;
}

/* Adds copies to the pages: those of a column that had one common value so far. */
static bool pending_fill(struct step_pending_columns *columns, struct step_row_column *column,
                         uint64_t value, size_t count)
{
    while (count > 0) {
        size_t room;
        uint64_t *values = step_pages_room(&column->pages, &columns->share, count, &room);
        if (values == NULL)
            return false;
        for (size_t i = 0; i < room; i++)
            values[i] = value;
        step_pages_take(&column->pages, room);
        count -= room;
    }
    return true;
}

/* A column has pages only if its values vary: until then its one value and their number are enough.
 * The first value that may differ turns it into pages, with as many copies as there were values, so
 * that the place of a value is always that of its record among those that have the column. */
uint64_t *step_pending_columns_room(struct step_pending_columns *columns, uint32_t number,
                                    size_t wanted, size_t *room)
{
    struct step_row_column *column = &columns->columns[number];
    if (!column->varies && !pending_fill(columns, column, column->last, column->count))
        return NULL;
    column->varies = true;
    return step_pages_room(&column->pages, &columns->share, wanted, room);
}

/* Whether a column ascends is learnt in passing, one comparison for a run: the caller knows it of
 * its own values, so only the seam to the values before must be looked at.  `jumps` may be set
 * although the column ascends (that costs a pass for its range) but never the other way round, as
 * the range in the block's header would be wrong and readers would skip records that match. */
void step_pending_columns_take(struct step_pending_columns *columns, uint32_t number, size_t count,
                               bool ascend)
{
    struct step_row_column *column = &columns->columns[number];
    if (count == 0)
        return;
    const struct step_page *page = column->pages.last;
    const uint64_t *first = page->values + page->count;
    if (!ascend || (column->count != 0 && column->last > first[0]))
        column->jumps = true;
    column->last = first[count - 1];
    column->count += count;
    step_pages_take(&column->pages, count);
}

/* A value that equals the common one adds to the count and needs no memory.  So a field that is the
 * same in all records of a stream, as its thread, costs nothing however many records wait. */
bool step_pending_columns_repeat(struct step_pending_columns *columns, uint32_t number,
                                 uint64_t value, size_t count)
{
    struct step_row_column *column = &columns->columns[number];
    if (count == 0)
        return true;
    bool differs = column->count != 0 && column->last != value;
    if (!column->varies && differs) {
        if (!pending_fill(columns, column, column->last, column->count))
            return false;
        column->varies = true;
    }
    if (column->varies && !pending_fill(columns, column, value, count))
        return false;
    column->jumps = column->jumps || (differs && column->last > value);
    column->last = value;
    column->count += count;
    return true;
}

/* Room for one value without a new page.  A column that does not vary has room only for its common
 * value; another one turns it into pages, which is left to step_pending_columns_repeat(). */
static bool has_room(const struct step_row_column *column, uint64_t value)
{
    if (!column->varies)
        return column->count == 0 || column->last == value;
    return column->pages.last->count < column->pages.last->capacity;
}

/* All columns are looked at before any is changed: a record is appended in all its columns or in
 * none. */
bool step_pending_columns_append(struct step_pending_columns *columns, const uint32_t *numbers,
                                 const uint64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!has_room(&columns->columns[numbers[i]], values[i]))
            return false;
    for (size_t i = 0; i < count; i++) {
        struct step_row_column *column = &columns->columns[numbers[i]];
        if (column->varies) {
            struct step_page *page = column->pages.last;
            column->jumps = column->jumps || (column->count != 0 && column->last > values[i]);
            page->values[page->count++] = values[i];
        }
        column->last = values[i];
        column->count++;
    }
    return true;
}

void step_pending_reset(struct step_pending *rows)
{
    free(rows->types);
    free(rows->words);
    free(rows->tree);
    step_buffer_reset(&rows->bytes);
    step_pending_columns_clear(&rows->columns);
    free(rows->columns.columns);
    *rows = (struct step_pending){0};
}

/* Pages are given back with each block, unlike the words: ten thousand streams share the pool,
 * and those that are idle must not hold its pages. */
void step_pending_clear(struct step_pending *rows)
{
    rows->record_count = 0;
    rows->word_count = 0;
    rows->bytes.length = 0;
    rows->nested = false;
    rows->nested_bytes = 0;
    if (rows->by_columns)
        step_pending_columns_clear(&rows->columns);
    rows->by_columns = false;
}

static bool append_word(struct step_pending *rows, uint64_t word)
{
    if (!STEP_MAKE_ROOM(rows->words, rows->word_capacity, rows->word_count + 1))
        return false;
    rows->words[rows->word_count++] = word;
    return true;
}

/* Memory that a reader needs for a string, array or variant besides its slot. */
enum { ITEM_BYTES = 32 };

/* `budget` counts down the bytes that the record may still use. */
static enum step_status append_node(struct step_pending *rows, const struct step_plan *plan,
                                    const struct step_plan_node *node, const uint64_t *slots,
                                    uint64_t *budget);

/* A NULL string is written as an empty one: the file cannot distinguish the two. */
static enum step_status append_bytes(struct step_pending *rows, const struct step_bytes *bytes,
                                     uint64_t *budget)
{
    static const struct step_bytes none = {NULL, 0};
    if (bytes == NULL)
        bytes = &none;
    if (bytes->length > *budget)
        return STEP_STATUS_LIMIT;
    *budget -= bytes->length;
    rows->nested_bytes += ITEM_BYTES;
    return append_word(rows, bytes->length) &&
                   step_buffer_append(&rows->bytes, bytes->data, bytes->length)
               ? STEP_STATUS_OK
               : STEP_STATUS_NO_MEMORY;
}

static enum step_status append_array(struct step_pending *rows, const struct step_plan *plan,
                                     const struct step_plan_node *element,
                                     const struct step_array *array, uint64_t *budget)
{
    static const struct step_array none = {NULL, 0};
    if (array == NULL)
        array = &none;
    /* Each element takes 8 bytes of the budget at least, so a count that cannot fit is refused
     * before any element is copied. */
    if (array->count > *budget / 8)
        return STEP_STATUS_LIMIT;
    if (!append_word(rows, array->count))
        return STEP_STATUS_NO_MEMORY;
    rows->nested_bytes += ITEM_BYTES;
    const uint64_t *slots = array->slots;
    for (size_t i = 0; i < array->count; i++) {
        enum step_status status = append_node(rows, plan, element, slots, budget);
        if (status != STEP_STATUS_OK)
            return status;
        slots += element->slot_count;
    }
    return STEP_STATUS_OK;
}

/* Within a tree a place may be empty, which is written as the type `none`.  Outside there is no
 * such type, so a missing value becomes one of the first type with all slots 0. */
static enum step_status append_variant(struct step_pending *rows, const struct step_plan *plan,
                                       const struct step_plan_node *node,
                                       const struct step_variant *variant, uint64_t *budget)
{
    bool in_tree = node->record != STEP_NO_INDEX;
    if (in_tree && (variant == NULL || variant->record == STEP_NO_RECORD))
        return append_word(rows, node->record) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    uint32_t place = variant != NULL ? step_node_variant(plan, node, variant->record) : 0;
    if (place == STEP_NO_INDEX)
        return STEP_STATUS_INVALID;
    const struct step_plan_node *child = step_node_child(plan, node, place);
    if (!append_word(rows, child->record))
        return STEP_STATUS_NO_MEMORY;
    rows->nested_bytes += ITEM_BYTES;
    if (variant != NULL)
        return append_node(rows, plan, child, variant->slots, budget);
    uint64_t *empty = calloc(child->slot_count + 1u, sizeof *empty);
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (empty != NULL)
        status = append_node(rows, plan, child, empty, budget);
    free(empty);
    return status;
}

static bool add_to_tree(struct step_pending *rows, const struct step_variant *variant)
{
    if (!STEP_MAKE_ROOM(rows->tree, rows->tree_capacity, rows->tree_count + 1))
        return false;
    rows->tree[rows->tree_count++] = variant;
    return true;
}

/* Appends all values of a tree, level by level: appending one adds its children to rows->tree.  The
 * reader links them by the same rule (block_link.c): the values that a value holds come after it,
 * in order, so each is the next that has no holder yet.  The length is known at the end and put in
 * its place then.
 *
 * Level by level needs a queue, but no recursion: depth costs no stack.  rows->tree may move when
 * it grows, hence the access by index.  A value that contains itself makes the queue endless; each
 * turn takes from the budget, so such a record ends as too large.  (check_constant() takes values
 * apart before their depth is known.) */
static enum step_status append_tree(struct step_pending *rows, const struct step_plan *plan,
                                    const struct step_plan_node *element,
                                    const struct step_variant *variant, uint64_t *budget)
{
    size_t length = rows->word_count;
    rows->tree_count = 0;
    if (!append_word(rows, 0) || !add_to_tree(rows, variant))
        return STEP_STATUS_NO_MEMORY;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < rows->tree_count && status == STEP_STATUS_OK; i++)
        status = append_variant(rows, plan, element, rows->tree[i], budget);
    rows->words[length] = rows->tree_count;
    return status;
}

/* Each node takes 8 bytes of the budget, the size of its word.  INNER takes them as well although
 * its word comes later, or a tree of empty places would be free. */
static enum step_status append_node(struct step_pending *rows, const struct step_plan *plan,
                                    const struct step_plan_node *node, const uint64_t *slots,
                                    uint64_t *budget)
{
    if (*budget < 8)
        return STEP_STATUS_LIMIT;
    *budget -= 8;
    switch (node->kind) {
    case STEP_NODE_VALUE:
        return append_word(rows, slots[0]) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    case STEP_NODE_BYTES:
        return append_bytes(rows, step_slot_bytes(slots[0]), budget);
    case STEP_NODE_ARRAY:
        return append_array(rows, plan, step_node_child(plan, node, 0), step_slot_array(slots[0]),
                            budget);
    case STEP_NODE_VARIANT:
        return append_variant(rows, plan, node, step_slot_variant(slots[0]), budget);
    case STEP_NODE_TREE:
        return append_tree(rows, plan, step_node_child(plan, node, 0), step_slot_variant(slots[0]),
                           budget);
    case STEP_NODE_INNER:
        return add_to_tree(rows, step_slot_variant(slots[0])) ? STEP_STATUS_OK
                                                              : STEP_STATUS_NO_MEMORY;
    case STEP_NODE_NUMBERED:
        return append_node(rows, plan, step_node_child(plan, node, 0), slots, budget);
    case STEP_NODE_RECORD:
        break;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct step_plan_node *child = step_node_child(plan, node, i);
        enum step_status status = append_node(rows, plan, child, slots, budget);
        if (status != STEP_STATUS_OK)
            return status;
        slots += child->slot_count;
    }
    return STEP_STATUS_OK;
}

/* For a value inside a tree: INNER nodes only queue what they hold, so the queue is worked off
 * here, as append_tree() does for a whole tree.  A TREE works off its own, and has no
 * `holds_inner`. */
enum step_status step_pending_append_value(struct step_pending *rows, const struct step_plan *plan,
                                           const struct step_plan_node *node,
                                           const struct step_plan_node *element,
                                           const uint64_t *slots)
{
    uint64_t budget = STEP_MAX_RECORD_BYTES;
    rows->tree_count = 0;
    enum step_status status = append_node(rows, plan, node, slots, &budget);
    for (size_t i = 0; node->holds_inner && i < rows->tree_count && status == STEP_STATUS_OK; i++)
        status = append_variant(rows, plan, element, rows->tree[i], &budget);
    return status;
}

/* Numbers become bytes as they are in memory, since they are compared and never stored.  NUMBERED
 * is passed through: whether a value equals another must not depend on which number it would get.
 */
bool step_words_append(const struct step_plan *plan, const struct step_plan_node *node,
                       struct step_word_source *source, struct step_buffer *out)
{
    bool good = true;
    if (!step_node_has_column(node) || node->kind == STEP_NODE_NUMBERED) {
        for (uint32_t i = 0; i < node->child_count && good; i++)
            good = step_words_append(plan, step_node_child(plan, node, i), source, out);
        return good;
    }
    uint64_t word = *source->words++;
    if (node->kind == STEP_NODE_VALUE)
        word = step_field_coding_round(&plan->columns[node->column].field_coding, word);
    if (!step_buffer_append(out, &word, sizeof word))
        return false;
    if (node->kind == STEP_NODE_BYTES) {
        const uint8_t *bytes = source->bytes;
        source->bytes += word;
        return step_buffer_append(out, bytes, (size_t) word);
    }
    if (node->kind == STEP_NODE_VARIANT)
        return step_words_append(
            plan, step_node_child(plan, node, step_node_variant(plan, node, word)), source, out);
    if (node->kind == STEP_NODE_ARRAY || node->kind == STEP_NODE_TREE)
        for (uint64_t i = 0; i < word && good; i++)
            good = step_words_append(plan, step_node_child(plan, node, 0), source, out);
    return good;
}

/* A nested record may be in a reader's memory twice while its block is decoded: each word is a
 * value of a column, and again a slot of what the record points to (slots_of_columns.c).  Hence the
 * words count once with rows->word_count, and once more in nested_bytes.  A flat record has no
 * second copy, as its cursors walk over the columns themselves. */
static enum step_status append_nested(struct step_pending *rows, const struct step_plan *plan,
                                      const struct step_plan_record *record, const uint64_t *slots)
{
    struct step_pending_mark mark = step_pending_mark(rows);
    uint64_t budget = STEP_MAX_RECORD_BYTES;
    for (uint32_t i = 0; i < record->field_count; i++) {
        const struct step_plan_node *node = &plan->nodes[record->field_nodes[i]];
        enum step_status status = append_node(rows, plan, node, slots, &budget);
        if (status != STEP_STATUS_OK) {
            step_pending_rewind(rows, &mark);
            return status;
        }
        slots += node->slot_count;
    }
    uint64_t words = (rows->word_count - mark.word_count) * sizeof *rows->words;
    rows->nested_bytes += words;
    if (rows->nested_bytes - mark.nested_bytes + words + (rows->bytes.length - mark.byte_count) >
        STEP_MAX_RECORD_DECODED) {
        step_pending_rewind(rows, &mark);
        return STEP_STATUS_LIMIT;
    }
    return STEP_STATUS_OK;
}

/* Appends a flat record. */
static enum step_status append_words(struct step_pending *rows, const uint64_t *slots, size_t count)
{
    if (!STEP_MAKE_ROOM(rows->words, rows->word_capacity, rows->word_count + count + 1))
        return STEP_STATUS_NO_MEMORY;
    uint64_t *words = rows->words + rows->word_count;
    for (size_t i = 0; i < count; i++)
        words[i] = slots[i];
    rows->word_count += count;
    return STEP_STATUS_OK;
}

/* The usual case is that each column has room.  If one has none, each value is appended on its own.
 * That may run out of memory with the record in some columns and not in others, so values and types
 * no longer agree.  It does no harm: NO_MEMORY ends the writer (writer_take.c), and nothing pending
 * is written after it. */
static enum step_status append_columns(struct step_pending_columns *columns,
                                       const struct step_plan_record *planned,
                                       const uint64_t *slots)
{
    if (step_pending_columns_append(columns, planned->slot_columns, slots, planned->slot_count))
        return STEP_STATUS_OK;
    for (uint32_t i = 0; i < planned->slot_count; i++)
        if (!step_pending_columns_repeat(columns, planned->slot_columns[i], slots[i], 1))
            return STEP_STATUS_NO_MEMORY;
    return STEP_STATUS_OK;
}

/* A place in a column. */
struct cursor {
    const struct step_page *page;
    size_t place;
};

static uint64_t next_value(const struct step_row_column *column, struct cursor *cursor)
{
    if (!column->varies)
        return column->last;
    if (cursor->page == NULL)
        cursor->page = column->pages.first;
    if (cursor->place == cursor->page->count)
        *cursor = (struct cursor){cursor->page->next, 0};
    return cursor->page->values[cursor->place++];
}

/* Converts columns back to rows, when a record arrives that columns cannot hold.  Columns are read
 * in parallel, in the order of the records.  A position moves only for records that have the
 * column; it needs no check, as each such record has a value there.  The stream takes no runs until
 * its block is written (step_pending_to_columns()), so it cannot change back and forth. */
static enum step_status to_words(struct step_pending *rows, const struct step_plan *plan)
{
    struct cursor *cursors = calloc(plan->column_count + 1u, sizeof *cursors);
    enum step_status status = cursors != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < rows->record_count && status == STEP_STATUS_OK; i++) {
        const struct step_plan_record *planned = &plan->records[rows->types[i]];
        for (uint32_t k = 0; k < planned->slot_count; k++) {
            uint32_t column = planned->slot_columns[k];
            if (!append_word(rows, next_value(&rows->columns.columns[column], &cursors[column])))
                status = STEP_STATUS_NO_MEMORY;
        }
    }
    free(cursors);
    if (status == STEP_STATUS_OK) {
        step_pending_columns_clear(&rows->columns);
        rows->by_columns = false;
    } else {
        rows->word_count = 0;
    }
    return status;
}

/* Converts when the first run of a stream arrives.  If memory runs out the rows are still there:
 * `by_columns` changes last, once all values are in place. */
enum step_status step_pending_to_columns(struct step_pending *rows, const struct step_plan *plan,
                                         struct step_page_pool *pool)
{
    if (rows->by_columns)
        return STEP_STATUS_OK;
    if (rows->nested)
        return STEP_STATUS_INVALID;
    if (!step_pending_columns_create(&rows->columns, plan->column_count, pool))
        return STEP_STATUS_NO_MEMORY;
    const uint64_t *words = rows->words;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < rows->record_count && status == STEP_STATUS_OK; i++) {
        const struct step_plan_record *planned = &plan->records[rows->types[i]];
        status = append_columns(&rows->columns, planned, words);
        words += planned->slot_count;
    }
    if (status == STEP_STATUS_OK) {
        rows->by_columns = true;
        rows->word_count = 0;
    } else {
        step_pending_columns_clear(&rows->columns);
    }
    return status;
}

/* Room for the type comes first, so that the record exists as soon as its values do: record_count
 * is raised last, and a record that was refused halfway is not counted. */
enum step_status step_pending_append(struct step_pending *rows, const struct step_plan *plan,
                                     uint32_t record, const uint64_t *slots)
{
    if (!STEP_MAKE_ROOM(rows->types, rows->record_capacity, rows->record_count + 1))
        return STEP_STATUS_NO_MEMORY;
    const struct step_plan_record *planned = &plan->records[record];
    enum step_status status = STEP_STATUS_OK;
    if (planned->flat && rows->by_columns) {
        status = append_columns(&rows->columns, planned, slots);
    } else if (planned->flat) {
        status = append_words(rows, slots, planned->slot_count);
    } else {
        if (rows->by_columns)
            status = to_words(rows, plan);
        if (status == STEP_STATUS_OK)
            status = append_nested(rows, plan, planned, slots);
        rows->nested = rows->nested || status == STEP_STATUS_OK;
    }
    if (status == STEP_STATUS_OK)
        rows->types[rows->record_count++] = (uint16_t) record;
    return status;
}

bool step_pending_reserve_types(struct step_pending *rows, size_t records)
{
    return STEP_MAKE_ROOM(rows->types, rows->record_capacity, rows->record_count + records);
}

/* Marks are of rows alone.  Columns need none: they take flat records only, which cannot be refused
 * halfway (step_pending_columns_append()). */
struct step_pending_mark step_pending_mark(const struct step_pending *rows)
{
    return (struct step_pending_mark){rows->record_count, rows->word_count, rows->bytes.length,
                                      rows->nested_bytes};
}

void step_pending_rewind(struct step_pending *rows, const struct step_pending_mark *mark)
{
    rows->record_count = mark->record_count;
    rows->word_count = mark->word_count;
    rows->bytes.length = mark->byte_count;
    rows->nested_bytes = mark->nested_bytes;
}

/* Values by columns are flat, so a reader needs no more than the storage here, which has room for
 * each value, unless they are all equal; then the reader has one value as well. */
uint64_t step_pending_decoded_bytes(const struct step_pending *rows)
{
    return rows->by_columns
               ? step_pending_memory(rows)
               : rows->record_count * sizeof *rows->types + rows->word_count * sizeof *rows->words +
                     rows->bytes.length + rows->nested_bytes;
}

size_t step_pending_memory(const struct step_pending *rows)
{
    const struct step_pending_columns *columns = &rows->columns;
    return columns->column_count * sizeof *columns->columns + columns->share.bytes +
           rows->record_capacity * sizeof *rows->types + rows->word_capacity * sizeof *rows->words +
           rows->bytes.capacity;
}
