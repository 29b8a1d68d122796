/* SPDX-License-Identifier: Apache-2.0 */
/* Tables by number and by name. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "id_table.h"
#include "name_index.h"
#include "trace_names.h"
#include "unit_convert.h"

static struct step_bytes bytes_of(const char *text)
{
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

static void test_id_table(void)
{
    struct id_table table;
    id_table_init(&table, sizeof(uint64_t));
    CU_ASSERT_PTR_NULL(id_table_find(&table, 0));
    uint64_t *first = id_table_get(&table, 3);
    CU_ASSERT_PTR_NOT_NULL_FATAL(first);
    CU_ASSERT_EQUAL(*first, 0);
    *first = 42;
    uint64_t *far = id_table_get(&table, 1000000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(far);
    CU_ASSERT_EQUAL(*far, 0);
    CU_ASSERT_PTR_EQUAL(id_table_find(&table, 3), first);
    CU_ASSERT_EQUAL(*first, 42);
    CU_ASSERT_EQUAL(table.end, 1000001);
    CU_ASSERT_PTR_NULL(id_table_find(&table, 500000));
    CU_ASSERT_PTR_NULL(id_table_find(&table, UINT32_MAX));
    id_table_reset(&table);
    CU_ASSERT_PTR_NULL(id_table_find(&table, 3));
}

static void test_name_index(void)
{
    enum { NAMES = 5000 };
    static char texts[NAMES][24];
    struct name_index index;
    bool is_new;
    CU_ASSERT_TRUE_FATAL(name_index_init(&index));
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            snprintf(texts[i], sizeof texts[i], "pack/Class%u", i / 2);
            uint32_t id = name_index_put(&index, i % 2, bytes_of(texts[i]), &is_new);
            if (id != i + 1 || is_new != (round == 0))
                CU_FAIL_FATAL("numbers are not in order of appearance");
        }
    }
    CU_ASSERT_EQUAL(name_index_put(&index, 0, bytes_of(""), &is_new), NAMES + 1);
    CU_ASSERT_TRUE(is_new);
    CU_ASSERT_EQUAL(name_index_put(&index, UINT64_MAX, bytes_of(""), &is_new), NAMES + 2);
    name_index_reset(&index);
}

static void test_unknown_names(void)
{
    struct trace_names names;
    struct step_bytes copy;
    trace_names_init(&names);
    CU_ASSERT_EQUAL(trace_class_of(&names, 5)->name.length, 1);
    CU_ASSERT_EQUAL(trace_method_of(&names, 0)->name.length, 1);
    CU_ASSERT_EQUAL(trace_thread_of(&names, 9)->number, 0);
    for (unsigned i = 0; i < 20000; i++)
        CU_ASSERT_TRUE(trace_names_copy(&names, bytes_of("java/lang/Object"), &copy));
    CU_ASSERT_NSTRING_EQUAL(copy.data, "java/lang/Object", copy.length);
    trace_names_reset(&names);
}

void add_table_tests(void)
{
    CU_pSuite suite = CU_add_suite("tables", NULL, NULL);
    CU_add_test(suite, "by number", test_id_table);
    CU_add_test(suite, "by name", test_name_index);
    CU_add_test(suite, "unknown names", test_unknown_names);
}
