/* SPDX-License-Identifier: Apache-2.0 */
/* A table as a stream of Arrow's record batches: schema, values, nulls, dictionaries, batches, and
 * who frees what (Arrow's C data and stream interfaces). */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/arrow_stream.h"
#include "tests/unit/analyses/small_trace.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

/* Nine objects of 8, 16, ... 72 bytes: of three classes in turn, the third of a name with a lone
 * surrogate, which has no UTF-8; every third dies. */
static char *write_objects(void)
{
    small_trace_begin("arrow.step");
    uint64_t classes[] = {small_class("a/A"), small_class(HOSTILE_NAME),
                          small_class("x\xed\xa0\x80")};
    small_start();
    for (unsigned i = 0; i < 9; i++) {
        small_now += 10;
        uint64_t object = small_alloc(classes[i % 3], 8 * (i + 1), 0);
        if (i % 3 == 0) {
            small_now += 10;
            small_free(object);
        }
    }
    small_death();
    return small_trace_end();
}

static struct shared_tables *shared;

/* A stream of the table's columns, in batches of so many rows. */
static void open_stream(const char *path, const char *name, uint64_t rows, arrow_stream_end at_end,
                        struct ArrowArrayStream *stream)
{
    const struct table *table;
    struct column_reader *reader;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct table_query all = {0};
    CU_ASSERT_EQUAL_FATAL(shared_tables_open(path, &shared, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(tables_find(shared_tables_borrow(shared), name, &table, &error),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(column_reader_create(shared, table, &all, &reader, &error),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(arrow_stream_create(reader, rows, at_end, stream, &error),
                          STEP_STATUS_OK);
    shared_tables_release(shared); /* the stream has a reference of its own */
}

/* Returns the number of the column with this name, and checks its type. */
static int64_t column(const struct ArrowSchema *schema, const char *name, const char *format,
                      bool nullable)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (strcmp(schema->children[i]->name, name) == 0) {
            CU_ASSERT_STRING_EQUAL(schema->children[i]->format, format);
            CU_ASSERT_EQUAL((schema->children[i]->flags & ARROW_FLAG_NULLABLE) != 0, nullable);
            return i;
        }
    CU_FAIL_FATAL("no such column");
    return -1;
}

static bool is_valid(const struct ArrowArray *array, int64_t row)
{
    const uint8_t *bits = array->buffers[0];
    return bits == NULL || (bits[row / 8] >> row % 8 & 1) != 0;
}

/* The text of a row of a dictionary's column. */
static struct step_bytes text_of(const struct ArrowArray *array, int64_t row)
{
    const int32_t *codes = array->buffers[1], *ends = array->dictionary->buffers[1];
    const uint8_t *bytes = array->dictionary->buffers[2];
    int32_t code = codes[row];
    CU_ASSERT_FATAL(code >= 0 && code < array->dictionary->length);
    return (struct step_bytes){bytes + ends[code], (size_t) (ends[code + 1] - ends[code])};
}

static bool is_text(struct step_bytes text, const char *wanted)
{
    return text.length == strlen(wanted) && memcmp(text.data, wanted, text.length) == 0;
}

static void test_values(void)
{
    static const char *const names[] = {"a/A", HOSTILE_NAME,
                                        "x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    open_stream(write_objects(), "objects", 4, NULL, &stream);
    CU_ASSERT_EQUAL_FATAL(stream.get_schema(&stream, &schema), 0);
    CU_ASSERT_STRING_EQUAL(schema.format, "+s");
    int64_t size = column(&schema, "size", "L", false), born = column(&schema, "born", "l", false);
    int64_t class_at = column(&schema, "class", "i", true);
    int64_t died = column(&schema, "died", "l", true), alive = column(&schema, "alive", "b", false);
    int64_t site = column(&schema, "site", "L", true);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema.children[class_at]->dictionary);
    CU_ASSERT_STRING_EQUAL(schema.children[class_at]->dictionary->format, "u");
    CU_ASSERT_PTR_NULL(schema.children[size]->dictionary);
    uint64_t row = 0, batches = 0;
    for (;;) {
        CU_ASSERT_EQUAL_FATAL(stream.get_next(&stream, &batch), 0);
        if (batch.release == NULL)
            break;
        CU_ASSERT_EQUAL_FATAL(batch.n_children, schema.n_children);
        CU_ASSERT_TRUE(batch.length <= 4);
        struct ArrowArray **columns = batch.children;
        for (int64_t i = 0; i < batch.length; i++, row++) {
            const uint64_t object = ((const uint64_t *) columns[0]->buffers[1])[i];
            CU_ASSERT_FATAL(object >= 1 && object <= 9);
            CU_ASSERT_EQUAL(((const uint64_t *) columns[size]->buffers[1])[i], 8 * object);
            CU_ASSERT_TRUE(((const int64_t *) columns[born]->buffers[1])[i] > 0);
            CU_ASSERT_TRUE(is_text(text_of(columns[class_at], i), names[(object - 1) % 3]));
            bool is_dead = (object - 1) % 3 == 0;
            const uint8_t *bits = columns[alive]->buffers[1];
            CU_ASSERT_EQUAL(bits[i / 8] >> i % 8 & 1, !is_dead);
            CU_ASSERT_EQUAL(is_valid(columns[died], i), is_dead);
            CU_ASSERT_FALSE(is_valid(columns[site], i));
        }
        CU_ASSERT_EQUAL(columns[site]->null_count, batch.length);
        batch.release(&batch);
        CU_ASSERT_PTR_NULL(batch.release);
        batches++;
    }
    CU_ASSERT_EQUAL(row, 9);
    CU_ASSERT_EQUAL(batches, 3);
    CU_ASSERT_EQUAL(stream.get_next(&stream, &batch), 0); /* the end stays the end */
    CU_ASSERT_PTR_NULL(batch.release);
    CU_ASSERT_PTR_NULL(stream.get_last_error(&stream));
    schema.release(&schema);
    CU_ASSERT_PTR_NULL(schema.release);
    stream.release(&stream);
    CU_ASSERT_PTR_NULL(stream.release);
}

/* A consumer may take a child, and release the rest, or the stream, before the data. */
static void test_ownership(void)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    open_stream(write_objects(), "objects", 100, NULL, &stream);
    CU_ASSERT_EQUAL_FATAL(stream.get_next(&stream, &batch), 0);
    stream.release(&stream);
    struct ArrowArray taken = *batch.children[0];
    batch.children[0]->release = NULL; /* moved */
    batch.release(&batch);
    CU_ASSERT_EQUAL(taken.length, 9);
    CU_ASSERT_EQUAL(((const uint64_t *) taken.buffers[1])[8], 9);
    taken.release(&taken);
}

/* No rows: no batch; the schema is there all the same. */
static void test_empty(void)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    open_stream(write_objects(), "calls", 100, NULL, &stream);
    CU_ASSERT_EQUAL(stream.get_next(&stream, &batch), 0);
    CU_ASSERT_PTR_NULL(batch.release);
    CU_ASSERT_EQUAL_FATAL(stream.get_schema(&stream, &schema), 0);
    column(&schema, "duration", "l", true);
    schema.release(&schema);
    stream.release(&stream);
}

/* ---- damage ---- */

static unsigned ends;

static void note_end(const struct step_error *damage)
{
    CU_ASSERT_NOT_EQUAL(damage->status, STEP_STATUS_OK);
    ends++;
}

/* What is there comes, and then it is said, once, that a part is missing. */
static void test_damage(void)
{
    size_t length;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t rows = 0;
    char *path = write_objects(), *bytes = scratch_read(path, &length);
    ends = 0;
    open_stream(path, "objects", 100, note_end, &stream);
    for (unsigned i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(stream.get_next(&stream, &batch), 0);
        if (batch.release != NULL)
            batch.release(&batch);
    }
    stream.release(&stream);
    CU_ASSERT_EQUAL(ends, 0); /* a whole file */
    open_stream(scratch_put("cut.step", bytes, length - 40), "objects", 2, note_end, &stream);
    for (unsigned i = 0; i < 8; i++) {
        CU_ASSERT_EQUAL(stream.get_next(&stream, &batch), 0);
        rows += batch.release != NULL ? batch.length : 0;
        if (batch.release != NULL)
            batch.release(&batch);
    }
    stream.release(&stream);
    CU_ASSERT_EQUAL(rows, 9);
    CU_ASSERT_EQUAL(ends, 1);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("Arrow", scratch_begin, scratch_end);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "ownership", test_ownership);
    CU_add_test(suite, "empty", test_empty);
    CU_add_test(suite, "damage", test_damage);
}
