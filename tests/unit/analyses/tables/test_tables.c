/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of a made-up Java trace against what it was made of: every value of `objects`, whatever
 * the columns, ranges, threads, classes and parts that are asked for.
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/tables/table.h"
#include "steptrace/java_trace.h"
#include "tests/unit/run_suite.h"

enum { COUNTED = 2, OBJECTS = 5000, BLOCK = 300, THREADS = 3, CLASSES = 4 };

static const char *const class_names[CLASSES] = {"java/lang/String", "[B", "java/util/HashMap",
                                                 "java/lang/String"};

struct known {
    uint64_t class_id, thread, site, size, born_us, died_us; /* died 0: it lives */
    uint64_t survived;
    bool existing;
};

static struct known objects[OBJECTS + 1];
static uint64_t collections[OBJECTS];
static size_t collection_count;
static char path[] = "/tmp/test_tables_XXXXXX";

/* ---- the trace ---- */

static void define_names(struct step_writer *writer)
{
    for (size_t i = 0; i < CLASSES; i++)
        step_java_class_define(writer, &(struct step_java_class){step_text(class_names[i]), i == 3},
                               NULL);
    step_java_method_define(
        writer, &(struct step_java_method){3, step_text("put"), step_text("()V"), 1}, NULL);
    step_java_method_define(
        writer, &(struct step_java_method){3, {(const uint8_t *) "g\0t", 3}, step_text("()V"), 1},
        NULL); /* a name may have a NUL */
    for (size_t i = 0; i < THREADS; i++)
        step_java_thread_define(writer, &(struct step_java_thread){step_text("worker"), i & 1},
                                NULL);
    step_java_frame_define(writer, &(struct step_java_frame){0, 1, 10, 0}, NULL);
    step_java_frame_define(writer, &(struct step_java_frame){1, 2, 20, 0}, NULL);
}

static void write_alloc(struct step_writer *writer, uint64_t object, const struct known *known)
{
    uint64_t stream = known->thread + 1;
    if (known->existing)
        step_java_object_existing_put(writer, stream,
                                      &(struct step_java_object_existing){.time = known->born_us,
                                                                          .thread = known->thread,
                                                                          .class_ = known->class_id,
                                                                          .size = known->size,
                                                                          .object = object});
    else if (known->site != 0)
        step_java_object_alloc_at_put(writer, stream,
                                      &(struct step_java_object_alloc_at){.time = known->born_us,
                                                                          .thread = known->thread,
                                                                          .class_ = known->class_id,
                                                                          .size = known->size,
                                                                          .object = object,
                                                                          .stack = known->site});
    else
        step_java_object_alloc_put(writer, stream,
                                   &(struct step_java_object_alloc){.time = known->born_us,
                                                                    .thread = known->thread,
                                                                    .class_ = known->class_id,
                                                                    .size = known->size,
                                                                    .object = object});
}

static void collect(struct step_writer *writer, uint64_t now, uint64_t made, unsigned *seed)
{
    bool freed = false;
    for (uint64_t i = 1; i <= made; i++) {
        if (objects[i].died_us != 0 || rand_r(seed) % 3 == 0)
            continue;
        objects[i].died_us = now;
        freed = true;
        step_java_object_free_put(writer, 1,
                                  &(struct step_java_object_free){.time = now, .object = i});
    }
    if (freed)
        collections[collection_count++] = now;
}

static void count_survived(void)
{
    for (size_t i = 1; i <= OBJECTS; i++)
        for (size_t k = 0; k < collection_count; k++)
            objects[i].survived += collections[k] >= objects[i].born_us &&
                                   (objects[i].died_us == 0 || collections[k] < objects[i].died_us);
}

static int write_trace(void)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    unsigned seed = 5;
    uint64_t now = 10;
    int file = mkstemp(path);
    close(file);
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.block_records = BLOCK;
    if (step_writer_open(path, &options, &writer, NULL) != STEP_STATUS_OK)
        return 1;
    step_writer_property(writer, "resolution-ns", "1000");
    define_names(writer);
    for (uint64_t i = 1; i <= OBJECTS; i++) {
        now += (unsigned) rand_r(&seed) % 3;
        objects[i] = (struct known){.class_id = (unsigned) rand_r(&seed) % (CLASSES + 1),
                                    .thread = 1 + i / 500 % THREADS,
                                    .site = (unsigned) rand_r(&seed) % 3,
                                    .size = (unsigned) rand_r(&seed) % 1000,
                                    .born_us = i <= 100 ? 10 : now,
                                    .existing = i <= 100};
        objects[i].site = objects[i].existing ? 0 : objects[i].site;
        write_alloc(writer, i, &objects[i]);
        if (rand_r(&seed) % 700 == 0)
            collect(writer, ++now, i, &seed);
    }
    for (uint64_t i = 1; i <= COUNTED; i++)
        step_java_method_count_put(writer, 1,
                                   &(struct step_java_method_count){.time = now + 1,
                                                                    .method = i,
                                                                    .calls = i * 10,
                                                                    .exceptions = i,
                                                                    .inclusive = i * 7000,
                                                                    .exclusive = i * 5000});
    count_survived();
    enum step_status status = step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    return status != STEP_STATUS_OK;
}

/* ---- scans ---- */

static const struct table_vector *vector_of(const struct table *table,
                                            const struct table_query *query,
                                            const struct table_batch *batch, const char *name)
{
    for (size_t i = 0; i < query->column_count; i++)
        if (strcmp(table->columns[query->columns[i]].name, name) == 0)
            return &batch->vectors[i];
    return NULL;
}

static void check_number(const struct table_vector *vector, size_t row, uint64_t value,
                         bool is_null)
{
    if (vector == NULL)
        return;
    CU_ASSERT_EQUAL(table_vector_is_null(vector, row), is_null);
    CU_ASSERT_EQUAL(vector->numbers[row], is_null ? 0 : value);
}

static void check_row(const struct table *table, const struct table_query *query,
                      const struct table_batch *batch, size_t row, const struct known *known)
{
#define NUMBER(name, value, is_null)                                                               \
    check_number(vector_of(table, query, batch, name), row, value, is_null)
    NUMBER("class_id", known->class_id, false);
    NUMBER("thread", known->thread, false);
    NUMBER("site", known->site, known->site == 0);
    NUMBER("size", known->size, false);
    NUMBER("born", known->born_us * 1000, false);
    NUMBER("died", known->died_us * 1000, known->died_us == 0);
    NUMBER("survived", known->survived, false);
    const struct table_vector *class = vector_of(table, query, batch, "class");
    if (class != NULL && known->class_id != 0) {
        struct step_bytes text = class->dictionary->texts[class->codes[row]];
        CU_ASSERT_EQUAL(text.length, strlen(class_names[known->class_id - 1]));
        CU_ASSERT_EQUAL(memcmp(text.data, class_names[known->class_id - 1], text.length), 0);
    } else if (class != NULL) {
        CU_ASSERT(table_vector_is_null(class, row));
    }
    const struct table_vector *alive = vector_of(table, query, batch, "alive");
    CU_ASSERT(alive == NULL || alive->flags[row] == (known->died_us == 0));
    const struct table_vector *existing = vector_of(table, query, batch, "existing");
    CU_ASSERT(existing == NULL || existing->flags[row] == known->existing);
}

/* Marks the objects that a scan gives; each must be right, and come once. */
static struct table_scan_work scan(struct tables *tables, const struct table_query *query,
                                   uint8_t *seen)
{
    const struct table *table;
    const struct table_batch *batch;
    struct table_scan *scan = NULL;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL_FATAL(tables_find(tables, "objects", &table, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(table_scan_create(tables, table, query, &scan, &error), STEP_STATUS_OK);
    while (table_scan_next(scan, &batch, &error) == STEP_STATUS_OK) {
        CU_ASSERT(batch->row_count > 0 && batch->row_count <= query->batch_rows);
        const struct table_vector *numbers = vector_of(table, query, batch, "object");
        for (size_t i = 0; i < batch->row_count; i++) {
            uint64_t object = numbers->numbers[i];
            CU_ASSERT_FATAL(object > 0 && object <= OBJECTS);
            CU_ASSERT_EQUAL(seen[object], 0);
            seen[object] = 1;
            check_row(table, query, batch, i, &objects[object]);
        }
    }
    CU_ASSERT_STRING_EQUAL(error.message, "");
    struct table_scan_work work = table_scan_work(scan);
    table_scan_destroy(scan);
    return work;
}

static struct tables *open_trace(void)
{
    struct tables *tables = NULL;
    CU_ASSERT_EQUAL_FATAL(tables_open(path, &tables, NULL), STEP_STATUS_OK);
    return tables;
}

enum { OBJECT, CLASS, CLASS_ID, THREAD, SITE, SIZE, BORN, DIED, ALIVE, SURVIVED, EXISTING };

/* The objects that are `wanted` and no others. */
static void check_seen(const uint8_t *seen, bool (*wanted)(const struct known *, uint64_t))
{
    for (uint64_t i = 1; i <= OBJECTS; i++)
        CU_ASSERT_EQUAL(seen[i], wanted(&objects[i], i));
}

static bool all(const struct known *known, uint64_t object)
{
    (void) known;
    (void) object;
    return true;
}

static bool in_middle(const struct known *known, uint64_t object)
{
    (void) object;
    return known->born_us >= 1000 && known->born_us <= 1500;
}

static bool died_early(const struct known *known, uint64_t object)
{
    return known->died_us != 0 && known->died_us <= 2000 && object >= 200 && object <= 4000;
}

static bool of_thread_two(const struct known *known, uint64_t object)
{
    (void) object;
    return known->thread == 2 && (known->class_id == 1 || known->class_id == 4);
}

static const size_t joined[] = {OBJECT, CLASS, CLASS_ID, THREAD,   SITE,    SIZE,
                                BORN,   DIED,  ALIVE,    SURVIVED, EXISTING};
static const size_t plain[] = {SIZE, OBJECT, CLASS, EXISTING, SITE, BORN};
static const size_t survived_alone[] = {SURVIVED, OBJECT};

static const struct {
    const size_t *columns;
    size_t count;
} choices[] = {{joined, 11}, {plain, 6}, {survived_alone, 2}};

static void test_objects(void)
{
    struct tables *tables = open_trace();
    for (size_t i = 0; i < 3; i++)
        for (size_t rows = 7; rows <= 7000; rows *= 10) {
            uint8_t seen[OBJECTS + 1] = {0};
            scan(tables,
                 &(struct table_query){.columns = choices[i].columns,
                                       .column_count = choices[i].count,
                                       .batch_rows = rows},
                 seen);
            check_seen(seen, all);
        }
    CU_ASSERT_EQUAL(tables_damage(tables, NULL), STEP_STATUS_OK);
    tables_close(tables);
}

static void test_what_is_asked_for(void)
{
    static const struct table_range middle[] = {{BORN, 1000000, 1500000, false}};
    static const struct table_range early[] = {{DIED, 0, 2000000, false},
                                               {OBJECT, 200, 4000, false}};
    static const uint64_t two[] = {2};
    struct tables *tables = open_trace();
    for (size_t i = 0; i < 3; i++) {
        uint8_t seen[3][OBJECTS + 1] = {{0}};
        struct table_query query = {
            .columns = choices[i].columns, .column_count = choices[i].count, .batch_rows = 100};
        query.ranges = middle;
        query.range_count = 1;
        struct table_scan_work work = scan(tables, &query, seen[0]);
        CU_ASSERT(work.blocks_passed > 5 || choices[i].columns != plain);
        query.ranges = early;
        query.range_count = 2;
        work = scan(tables, &query, seen[1]);
        CU_ASSERT(work.blocks_passed > 0 || choices[i].columns != plain);
        query.range_count = 0;
        query.threads = two;
        query.thread_count = 1;
        query.class_glob = "java.lang.*";
        scan(tables, &query, seen[2]);
        check_seen(seen[0], in_middle);
        check_seen(seen[1], died_early);
        check_seen(seen[2], of_thread_two);
    }
    tables_close(tables);
}

/* Parts have each row once. */
static void test_parts(void)
{
    struct tables *tables = open_trace();
    const struct table *table;
    CU_ASSERT_EQUAL(tables_find(tables, "objects", &table, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(table_row_count(tables, table), OBJECTS);
    for (uint64_t rows = 1; rows < 100000; rows *= 20) {
        struct table_part *parts = NULL;
        size_t count = 0;
        uint64_t sum = 0;
        uint8_t seen[OBJECTS + 1] = {0};
        struct table_query query = {.columns = joined, .column_count = 11, .batch_rows = 1000};
        CU_ASSERT_EQUAL(table_parts(tables, table, &query, rows, &parts, &count, NULL),
                        STEP_STATUS_OK);
        for (size_t i = 0; i < count; i++) {
            query.part = &parts[i];
            sum += parts[i].rows;
            scan(tables, &query, seen);
        }
        CU_ASSERT_EQUAL(sum, OBJECTS);
        CU_ASSERT(rows > OBJECTS ? count == 1 : count > 1);
        check_seen(seen, all);
        free(parts);
    }
    tables_close(tables);
}

/* A dictionary's entry by its number, over and over. */
static void test_entries(void)
{
    struct tables *tables = open_trace();
    const struct table *table;
    const struct table_batch *batch;
    struct table_scan *scan = NULL;
    static const size_t columns[] = {0, 8};
    struct table_range range = {0, 2, 2, false};
    struct table_query query = {
        .columns = columns, .column_count = 2, .ranges = &range, .range_count = 1};
    CU_ASSERT_EQUAL_FATAL(tables_find(tables, "sites", &table, NULL), STEP_STATUS_OK);
    CU_ASSERT(table_has_fast_range(tables, table, 0));
    CU_ASSERT_EQUAL_FATAL(table_scan_create(tables, table, &query, &scan, NULL), STEP_STATUS_OK);
    for (uint64_t i = 0; i < 5; i++) {
        range.least = range.most = i;
        CU_ASSERT_EQUAL(table_scan_restart(scan, &range, 1, NULL), STEP_STATUS_OK);
        enum step_status status = table_scan_next(scan, &batch, NULL);
        CU_ASSERT_EQUAL(status, i == 1 || i == 2 ? STEP_STATUS_OK : STEP_STATUS_END);
        if (i != 2)
            continue;
        CU_ASSERT_EQUAL(batch->vectors[0].numbers[0], 2);
        struct step_bytes stack = batch->vectors[1].texts[0];
        static const char expected[] = "java/util/HashMap.g\0t:20 <- java/util/HashMap.put:10";
        CU_ASSERT_EQUAL(stack.length, sizeof expected - 1);
        CU_ASSERT_EQUAL(memcmp(stack.data, expected, stack.length), 0);
    }
    table_scan_destroy(scan);
    tables_close(tables);
}

/* What was counted of methods; one is of a class of a name that another class has as well. */
static void test_method_counts(void)
{
    static const char methods[][22] = {"java/util/HashMap.put", "java/util/HashMap.g\0t"};
    struct tables *tables = open_trace();
    const struct table *table;
    struct table_scan *scan;
    const struct table_batch *batch;
    struct table_query query = {0};
    CU_ASSERT_EQUAL_FATAL(tables_find(tables, "method_counts", &table, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(table_row_count(tables, table), COUNTED);
    CU_ASSERT_EQUAL_FATAL(table_scan_create(tables, table, &query, &scan, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(table_scan_next(scan, &batch, NULL), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(batch->row_count, COUNTED);
    for (size_t i = 0; i < COUNTED; i++) {
        const uint64_t wanted[] = {i + 1, (i + 1) * 10, i + 1, (i + 1) * 7000, (i + 1) * 5000};
        const struct table_vector *names = &batch->vectors[0];
        struct step_bytes name = names->dictionary->texts[names->codes[i]];
        CU_ASSERT_EQUAL(name.length, sizeof methods[i] - 1);
        CU_ASSERT_EQUAL(memcmp(name.data, methods[i], name.length), 0);
        for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
            CU_ASSERT_EQUAL(batch->vectors[2 + k].numbers[i], wanted[k]);
    }
    CU_ASSERT_EQUAL(table_scan_next(scan, &batch, NULL), STEP_STATUS_END);
    table_scan_destroy(scan);
    tables_close(tables);
}

static void test_wrong_names(void)
{
    struct tables *tables = open_trace();
    const struct table *table;
    struct table_scan *scan = NULL;
    struct step_error error;
    size_t column;
    CU_ASSERT_EQUAL(tables_find(tables, "objcts", &table, &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "did you mean objects?"));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "allocations, frees"));
    CU_ASSERT_EQUAL(tables_find(tables, "objects", &table, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(table_find_column(table, "sizee", &column, &error), STEP_STATUS_NOT_FOUND);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "did you mean size?"));
    static const size_t wrong[] = {99};
    static const struct table_range of_names[] = {{CLASS, 0, 1, false}};
    CU_ASSERT_EQUAL(table_scan_create(tables, table,
                                      &(struct table_query){.columns = wrong, .column_count = 1},
                                      &scan, NULL),
                    STEP_STATUS_INVALID);
    CU_ASSERT_EQUAL(table_scan_create(tables, table,
                                      &(struct table_query){.ranges = of_names, .range_count = 1},
                                      &scan, NULL),
                    STEP_STATUS_INVALID);
    tables_close(tables);
}

static int remove_trace(void)
{
    return unlink(path);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("tables", write_trace, remove_trace);
    CU_add_test(suite, "objects", test_objects);
    CU_add_test(suite, "what is asked for", test_what_is_asked_for);
    CU_add_test(suite, "parts", test_parts);
    CU_add_test(suite, "entries", test_entries);
    CU_add_test(suite, "method counts", test_method_counts);
    CU_add_test(suite, "wrong names", test_wrong_names);
}
