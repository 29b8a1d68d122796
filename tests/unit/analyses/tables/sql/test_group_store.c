/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of groups are what was put, in memory and from a file, whatever their values' widths. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyses/tables/sql/group_store.h"
#include "tests/unit/run_suite.h"

enum { BATCHES = 60, ROWS_MOST = 90, GROUPS = 7, COLUMNS = 5, ROWS = BATCHES * ROWS_MOST };

static const enum table_type types[COLUMNS] = {TABLE_UINT, TABLE_NAME, TABLE_BOOL, TABLE_INT,
                                               TABLE_REAL};

/* What was put, in this order. */
static struct known {
    uint32_t group;
    uint64_t values[COLUMNS];
    bool is_null[COLUMNS];
} known[ROWS];
static size_t known_count;
static uint64_t seed;

static uint64_t chance(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (seed >> 33) % below;
}

/* Values of a batch and group differ little in one, much in another. */
static uint64_t value_for(size_t column, size_t batch, uint32_t group)
{
    static const uint64_t ranges[] = {1, 2, 200, 60000, 1 << 20, UINT64_C(1) << 31};
    uint64_t base = batch * UINT64_C(0x123456789abcdef) * (group + 1);
    uint64_t value = chance(ranges[(batch + group + column) % 6]);
    return types[column] == TABLE_BOOL   ? value & 1
           : types[column] == TABLE_NAME ? (uint32_t) value
           : (batch + column) % 9 == 0   ? value * UINT64_C(0x987654321fedcb)
                                         : base + value;
}

/* Nulls: none, some, or all of a group's rows. */
static bool is_null_for(size_t column, size_t batch, uint32_t group)
{
    size_t kind = (batch / 3 + group + column) % 4;
    return kind == 3 || (kind == 2 && chance(3) == 0);
}

struct put {
    uint64_t numbers[COLUMNS][ROWS_MOST];
    uint32_t codes[COLUMNS][ROWS_MOST];
    uint8_t flags[COLUMNS][ROWS_MOST];
    uint8_t validity[COLUMNS][ROWS_MOST / 8 + 1];
    struct table_vector vectors[COLUMNS];
    uint32_t groups[ROWS_MOST], places[ROWS_MOST];
};

static void fill_row(struct put *put, size_t batch, size_t row)
{
    struct known *of = &known[known_count++];
    of->group = put->groups[row] = (uint32_t) (chance(4) == 0 ? chance(GROUPS) : batch % GROUPS);
    for (size_t i = 0; i < COLUMNS; i++) {
        bool can_be_null = batch % 2 == 0;
        of->is_null[i] = can_be_null && is_null_for(i, batch, of->group);
        of->values[i] = of->is_null[i] ? 0 : value_for(i, batch, of->group);
        put->numbers[i][row] = of->values[i];
        put->codes[i][row] = (uint32_t) of->values[i];
        put->flags[i][row] = (uint8_t) of->values[i];
        put->validity[i][row / 8] |= (uint8_t) (!of->is_null[i] << row % 8);
        put->vectors[i].type = types[i];
        put->vectors[i].validity = can_be_null ? put->validity[i] : NULL;
        if (types[i] == TABLE_BOOL)
            put->vectors[i].flags = put->flags[i];
        else if (types[i] == TABLE_NAME)
            put->vectors[i].codes = put->codes[i];
        else
            put->vectors[i].numbers = put->numbers[i];
    }
}

static enum step_status put_batch(struct group_store *store, size_t batch, struct step_error *error)
{
    static struct put put;
    struct group_piece pieces[GROUPS];
    size_t piece_count = 0, rows = 1 + chance(ROWS_MOST);
    uint32_t place = 0;
    memset(&put, 0, sizeof put);
    for (size_t i = 0; i < rows; i++)
        fill_row(&put, batch, i);
    for (uint32_t group = GROUPS; group-- > 0;) { /* in any order */
        uint32_t first = place;
        for (size_t i = 0; i < rows; i++)
            if (put.groups[i] == group)
                put.places[i] = place++;
        if (place > first)
            pieces[piece_count++] = (struct group_piece){group, place - first};
    }
    return group_store_put(store, &(struct table_batch){rows, put.vectors}, pieces, piece_count,
                           put.places, error);
}

static struct group_store *put_all(uint64_t limit_bytes)
{
    struct group_store *store = group_store_create(COLUMNS, limit_bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(store);
    known_count = 0;
    seed = limit_bytes;
    for (size_t i = 0; i < BATCHES; i++)
        CU_ASSERT_EQUAL_FATAL(put_batch(store, i, NULL), STEP_STATUS_OK);
    return store;
}

static bool is_same(const struct table_batch *batch, size_t row, const struct known *of)
{
    bool same = true;
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct table_vector *vector = &batch->vectors[i];
        uint64_t value = vector->type == TABLE_BOOL   ? vector->flags[row]
                         : vector->type == TABLE_NAME ? vector->codes[row]
                                                      : vector->numbers[row];
        same = same && vector->type == types[i] && value == of->values[i] &&
               table_vector_is_null(vector, row) == of->is_null[i];
    }
    return same;
}

static size_t count_nulls(const struct table_vector *vector, size_t rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows; i++)
        count += table_vector_is_null(vector, i);
    return count;
}

/* Compares a group's rows, at most so many batches of them.  Returns the number of rows. */
static size_t check_group(struct group_store *store, uint32_t group, size_t most)
{
    const struct table_batch *batch;
    size_t at = 0, rows = 0;
    for (size_t i = 0; i < most; i++) {
        enum step_status status = group_store_next(store, group, &batch, NULL);
        if (status == STEP_STATUS_END)
            break;
        CU_ASSERT_EQUAL_FATAL(status, STEP_STATUS_OK);
        for (size_t column = 0; column < COLUMNS; column++)
            CU_ASSERT_EQUAL(batch->vectors[column].null_count,
                            count_nulls(&batch->vectors[column], batch->row_count));
        for (size_t row = 0; row < batch->row_count; row++, at++, rows++) {
            while (at < known_count && known[at].group != group)
                at++;
            CU_ASSERT_FATAL(at < known_count);
            CU_ASSERT(is_same(batch, row, &known[at]));
        }
    }
    return rows;
}

static void check_all(struct group_store *store)
{
    size_t rows = 0;
    for (uint32_t group = 0; group < GROUPS; group++)
        rows += check_group(store, group, SIZE_MAX);
    CU_ASSERT_EQUAL(rows, known_count);
    check_group(store, 3, 2); /* another group in the middle of one */
    check_group(store, 1, 1);
    check_group(store, 3, SIZE_MAX);
    CU_ASSERT_EQUAL(check_group(store, GROUPS, SIZE_MAX), 0); /* it has no rows */
}

static void test_in_memory(void)
{
    struct group_store *store = put_all(UINT64_MAX);
    check_all(store);
    CU_ASSERT_EQUAL(group_store_spilled_bytes(store), 0);
    group_store_destroy(store);
}

/* A limit that one batch exceeds, and one of some batches. */
static void test_in_file(void)
{
    for (uint64_t limit = 1; limit <= 20001; limit += 20000) {
        struct group_store *store = put_all(limit);
        CU_ASSERT(group_store_spilled_bytes(store) > 20000);
        check_all(store);
        group_store_destroy(store);
    }
}

/* Equal values take no room in rows, nor do nulls. */
static void test_bytes(void)
{
    uint64_t same[ROWS_MOST], other[ROWS_MOST];
    uint8_t validity[ROWS_MOST / 8 + 1] = {0};
    uint32_t places[ROWS_MOST];
    uint64_t bytes[2];
    for (uint32_t i = 0; i < ROWS_MOST; i++) {
        same[i] = 1000;
        other[i] = 1000 + i;
        places[i] = i;
    }
    for (size_t kind = 0; kind < 2; kind++) {
        const struct table_vector vectors[] = {
            {.type = TABLE_UINT, .numbers = kind == 0 ? same : other},
            {.type = TABLE_TIME, .numbers = other, .validity = validity, .null_count = ROWS_MOST}};
        const struct group_piece piece = {0, ROWS_MOST};
        struct group_store *store = group_store_create(2, 1);
        for (int i = 0; i < 2; i++)
            CU_ASSERT_EQUAL(group_store_put(store, &(struct table_batch){ROWS_MOST, vectors},
                                            &piece, 1, places, NULL),
                            STEP_STATUS_OK);
        bytes[kind] = group_store_spilled_bytes(store); /* of the first batch */
        group_store_destroy(store);
    }
    CU_ASSERT(bytes[0] > 0 && bytes[0] < 64);
    CU_ASSERT_EQUAL(bytes[1] - bytes[0], (ROWS_MOST + 7) / 8 * 8); /* a byte each */
}

/* Ends with 7 if the file cannot be as long as it needs to be, and the error says so. */
static void put_beyond_limit(void)
{
    const struct rlimit limit = {4096, 4096};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct group_store *store = group_store_create(COLUMNS, 1000);
    enum step_status status = STEP_STATUS_OK;
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(1);
    for (size_t i = 0; i < BATCHES && status == STEP_STATUS_OK; i++)
        status = put_batch(store, i, &error);
    group_store_destroy(store);
    bool is_told = strcmp(error.file, "temporary file in /tmp") == 0 &&
                   strstr(error.message, "File too large") != NULL;
    _exit(status == STEP_STATUS_IO && is_told ? 7 : 2);
}

static void test_no_room(void)
{
    int end = 0;
    pid_t child = fork();
    if (child == 0) {
        unsetenv("TMPDIR");
        known_count = 0;
        put_beyond_limit();
    }
    CU_ASSERT_EQUAL(waitpid(child, &end, 0), child);
    CU_ASSERT(WIFEXITED(end) && WEXITSTATUS(end) == 7);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("group_store", NULL, NULL);
    CU_add_test(suite, "in memory", test_in_memory);
    CU_add_test(suite, "in a file", test_in_file);
    CU_add_test(suite, "bytes", test_bytes);
    CU_add_test(suite, "no room", test_no_room);
}
