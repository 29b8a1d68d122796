/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of Java traces with any records: all tables are read as whole columns and as Arrow, which
 * have to fit each other, and in parts, which together have to have the rows of the whole.  The
 * first byte of the input says how the rest is taken: even  it is records, 8 bytes each odd   it is
 * 8 changes (2 bytes place, 1 byte value), which damage the trace, then records
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyses/tables/arrow_stream.h"
#include "steptrace/java_trace.h"
#include "tests/fuzz/kept_output.h"
#include "tests/fuzz/step/seal.h"
#include "tests/unit/format/definitions/values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD_BYTES = 8, SLOTS = 7, ALLOCATING = 3 };

/* ---- a trace ---- */

static void define_names(struct step_writer *writer)
{
    static const char *const classes[] = {"java/lang/String", "[B", "\xff?", "java/lang/String"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        step_java_class_define(writer, &(struct step_java_class){step_text(classes[i]), i == 3},
                               NULL);
    for (uint64_t i = 1; i <= 3; i++)
        step_java_method_define(
            writer, &(struct step_java_method){i, step_text("m"), step_text("()V"), 1}, NULL);
    for (uint64_t i = 0; i < 3; i++)
        step_java_thread_define(writer, &(struct step_java_thread){step_text("t"), i}, NULL);
    for (uint64_t i = 0; i < 3; i++)
        step_java_frame_define(writer, &(struct step_java_frame){i, i + 1, 10, i}, NULL);
}

#define ANY_FROM 192u /* first byte of a record of any type */

/* A record of any type, and an entry of a dictionary, with any values: phases, samples, stores,
 * snapshots, source files, layouts.  Only the numbers of objects rise. */
static void put_any(struct step_writer *writer, const uint8_t *bytes, uint64_t *object)
{
    const struct step_definition *definition = &step_java_trace_definition;
    uint32_t record = (uint32_t) ((bytes[0] - ANY_FROM + bytes[1]) % definition->record_count);
    const char *name = definition->records[record].name;
    uint64_t seed;
    memcpy(&seed, bytes, sizeof seed);
    step_writer_define(writer, record, values_make(definition, record, seed), NULL);
    uint64_t *slots = values_make(definition, record, seed + 1);
    if (strstr(name, "ObjectAlloc") != NULL || strcmp(name, "java.ObjectExisting") == 0 ||
        strcmp(name, "java.ObjectSampled") == 0)
        slots[4] = *object += 1 + bytes[5] % 5u;
    step_writer_put(writer, bytes[2] % 4u, record, slots);
}

/* Objects that are allocated have numbers that rise, as a trace promises; `*object` is the last. */
static void put_record(struct step_writer *writer, const uint8_t *bytes, uint64_t *object)
{
    static const char *const names[] = {
        "java.ObjectAlloc",    "java.ObjectAllocAt", "java.ObjectExisting",    "java.ObjectFree",
        "java.ObjectFree",     "java.MethodEntry",   "java.ObjectFreeUnknown", "java.MethodExit",
        "java.FramePop",       "java.ClassLoad",     "java.ClassExisting",     "java.ThreadStart",
        "java.ThreadExisting", "java.ThreadEnd",     "java.MethodCount"};
    uint32_t record = step_definition_find(&step_java_trace_definition,
                                           names[bytes[0] % (sizeof names / sizeof names[0])]);
    uint64_t slots[SLOTS];
    for (unsigned i = 0; i < SLOTS; i++)
        slots[i] = (uint64_t) bytes[1 + i] << (bytes[7] >> i & 1 ? 8 * (bytes[6] % 8u) : 0);
    slots[1] = bytes[2] % 4;
    slots[2] %= 64; /* a class, a method, or one of few objects */
    if (bytes[0] % (sizeof names / sizeof names[0]) < ALLOCATING)
        slots[4] = *object += 1 + bytes[5] % 5u;
    step_writer_put(writer, bytes[0] / 64u, record, slots);
}

static struct kept_output make_trace(const uint8_t *data, size_t size)
{
    struct kept_output output = {NULL, 0};
    struct step_writer_options options;
    struct step_writer *writer;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = kept_output_of(&output);
    options.compression = STEP_COMPRESSION_NONE;
    options.block_records = 32;
    if (step_writer_create(&options, &writer, NULL) != STEP_STATUS_OK)
        abort();
    step_writer_property(writer, "resolution-ns", size % 2 == 0 ? "1000" : "1");
    define_names(writer);
    uint64_t object = 0;
    for (size_t at = 0; at + RECORD_BYTES <= size && at < 8000; at += RECORD_BYTES)
        if (data[at] >= ANY_FROM)
            put_any(writer, data + at, &object);
        else
            put_record(writer, data + at, &object);
    step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    values_release();
    return output;
}

/* ---- its tables ---- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #condition), abort();                \
    } while (0)

/* What is said of a column holds, and all of its memory is there. */
static uint64_t touch(const struct whole_column *column, size_t rows)
{
    uint64_t sum = 0;
    size_t valid = 0;
    const uint64_t *ends = column->values;
    for (size_t i = 0; i < rows; i++) {
        valid += column->validity == NULL || (column->validity[i / 8] >> i % 8 & 1) != 0;
        if (column->type == TABLE_NAME) {
            int32_t code = ((const int32_t *) column->values)[i];
            CHECK(code >= -1 && code < (int32_t) column->name_count);
        } else if (column->type == TABLE_BOOL) {
            CHECK(((const uint8_t *) column->values)[i] <= 1);
        } else if (column->type == TABLE_TEXT || column->type == TABLE_DATA) {
            CHECK(ends[i] <= ends[i + 1] && ends[i + 1] <= column->bytes.length);
        } else {
            sum += ends[i];
        }
    }
    CHECK(rows - valid == column->null_count);
    for (size_t i = 0; i < column->names.length; i++)
        sum += column->names.data[i];
    return sum;
}

/* Rows of a query, a few at a time where `most` says so. */
static uint64_t read_rows(struct shared_tables *shared, const struct table *table,
                          const struct table_query *query, uint64_t most)
{
    struct column_reader *reader;
    struct whole_columns columns;
    uint64_t rows = 0;
    volatile uint64_t sum = 0;
    if (column_reader_create(shared, table, query, &reader, NULL) != STEP_STATUS_OK)
        return 0;
    while (column_reader_next(reader, most, &columns, NULL) == STEP_STATUS_OK) {
        rows += columns.row_count;
        CHECK(columns.row_count <= most);
        for (size_t i = 0; i < columns.column_count; i++)
            sum += touch(&columns.columns[i], columns.row_count);
        whole_columns_reset(&columns);
    }
    (void) sum;
    column_reader_destroy(reader);
    return rows;
}

static uint64_t read_arrow(struct shared_tables *shared, const struct table *table)
{
    const struct table_query all = {0};
    struct column_reader *reader;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray array;
    uint64_t rows = 0;
    if (column_reader_create(shared, table, &all, &reader, NULL) != STEP_STATUS_OK ||
        arrow_stream_create(reader, 20, NULL, &stream, NULL) != STEP_STATUS_OK)
        return 0;
    CHECK(stream.get_schema(&stream, &schema) == 0 &&
          schema.n_children == (int64_t) table->column_count);
    while (stream.get_next(&stream, &array) == 0 && array.release != NULL) {
        rows += (uint64_t) array.length;
        for (int64_t i = 0; i < array.n_children; i++)
            CHECK(array.children[i]->length == array.length &&
                  (array.children[i]->null_count == 0) == (array.children[i]->buffers[0] == NULL));
        array.release(&array);
    }
    schema.release(&schema);
    stream.release(&stream);
    return rows;
}

static void read_parts(struct shared_tables *shared, const struct table *table, uint64_t rows)
{
    struct table_query query = {0};
    struct table_part *parts;
    size_t count;
    uint64_t found = 0;
    enum step_status status =
        table_parts(shared_tables_lock(shared), table, &query, 40, &parts, &count, NULL);
    shared_tables_unlock(shared);
    for (size_t i = 0; status == STEP_STATUS_OK && i < count; i++) {
        query.part = &parts[i];
        found += read_rows(shared, table, &query, UINT64_MAX);
    }
    if (status == STEP_STATUS_OK)
        free(parts);
    CHECK(found == rows);
}

static void read_table(struct shared_tables *shared, const struct table *table, bool is_good)
{
    struct table_query query = {0};
    uint64_t rows = read_rows(shared, table, &query, UINT64_MAX);
    CHECK(read_rows(shared, table, &query, 7) == rows);
    CHECK(read_arrow(shared, table) == rows);
    const struct table_range range = {0, 3, 1000, false};
    query.ranges = &range;
    query.range_count = 1;
    CHECK(read_rows(shared, table, &query, UINT64_MAX) <= rows);
    if (is_good)
        read_parts(shared, table, rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t head = seal_head_bytes(data, size);
    if (size < head)
        return 0;
    struct kept_output trace = make_trace(data + head, size - head);
    seal_changed_trace(data, head, trace.data, trace.length);
    char path[64];
    int file = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct shared_tables *shared;
    if (file >= 0 && write(file, trace.data, trace.length) == (ssize_t) trace.length &&
        shared_tables_open(path, &shared, NULL) == STEP_STATUS_OK) {
        const struct tables *tables = shared_tables_borrow(shared);
        for (size_t i = 0; i < tables_count(tables); i++)
            read_table(shared, tables_at(tables, i), head == 1);
        shared_tables_release(shared);
    }
    close(file);
    free(trace.data);
    return 0;
}
