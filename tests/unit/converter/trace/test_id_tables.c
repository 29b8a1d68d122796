/* SPDX-License-Identifier: Apache-2.0 */
/* Tables by number and by name. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <string.h>

#include "converter/containers/id_table.h"
#include "converter/containers/name_index.h"
#include "converter/trace/call_stack.h"
#include "converter/trace/names.h"
#include "steptrace/show.h"
#include "tests/unit/run_suite.h"

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

/* Numbers near the end cost no more than numbers near 0, and come in order with all others. */
static void test_far_ids(void)
{
    enum { COUNT = 3000 };
    struct id_table table;
    uint32_t numbers[COUNT], seen = 0, last = 0;
    id_table_init(&table, sizeof(uint64_t));
    for (uint32_t i = 0; i < COUNT; i++) {
        numbers[i] = i % 3 == 0 ? i : (uint32_t) (i * UINT64_C(2654435761)) - 1;
        uint64_t *entry = id_table_get(&table, numbers[i]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
        *entry = i + 1;
    }
    CU_ASSERT_PTR_NOT_NULL(id_table_get(&table, UINT32_MAX - 1));
    CU_ASSERT_TRUE(table.page_count < 16 * COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint64_t *entry = id_table_find(&table, numbers[i]);
        CU_ASSERT(entry != NULL && *entry == i + 1);
    }
    for (uint32_t id = 0; id_table_next(&table, &id); id++) {
        const uint64_t *entry = id_table_find(&table, id);
        seen += entry != NULL && *entry != 0;
        CU_ASSERT(id >= last);
        last = id;
    }
    CU_ASSERT_EQUAL(seen, COUNT);
    CU_ASSERT_EQUAL(last, UINT32_MAX - 1);
    id_table_reset(&table);
    uint32_t none = 0;
    CU_ASSERT_FALSE(id_table_next(&table, &none));
}

/* The innermost call of each method is known through recursion, and after cuts. */
static void test_call_stack(void)
{
    static const uint32_t methods[] = {7, 8, 7, 0, 7, 9, 9};
    struct call_stack stack = {0};
    CU_ASSERT_EQUAL(call_stack_find(&stack, 7), 0);
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        CU_ASSERT_TRUE(call_stack_push(&stack, &(struct call_frame){.method_id = methods[i]}));
    CU_ASSERT_EQUAL(call_stack_find(&stack, 7), 5);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 9), 7);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 0), 4);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 1), 0);
    CU_ASSERT_EQUAL(call_stack_pop(&stack)->outer, 6);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 9), 6);
    call_stack_cut(&stack, 3);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 9), 0);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 7), 3);
    for (uint32_t i = 0; i < 5000; i++)
        CU_ASSERT_TRUE(call_stack_push(&stack, &(struct call_frame){.method_id = i}));
    CU_ASSERT_EQUAL(call_stack_find(&stack, 4999), 5003);
    CU_ASSERT_EQUAL(stack.frames[3 + 7].outer, 3);
    call_stack_cut(&stack, 0);
    CU_ASSERT_EQUAL(call_stack_find(&stack, 7), 0);
    call_stack_reset(&stack);
}

/* What is no UTF-8, and what a terminal would obey, is shown byte for byte. */
static void test_show(void)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\"},
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
        {"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},          /* the same */
        {"\xf0\x82\x82\xac", "\\xf0\\x82\\x82\\xac"}, /* the same */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* a surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* 110000 */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},     /* 10FFFF */
        {"\x1b[2J\x7f\n", "\\x1b[2J\\x7f\\x0a"},      /* C0, DEL */
        {"\xc2\x9b"
         "2J",
         "\\xc2\\x9b"
         "2J"},                                                         /* C1 */
        {"\xe2\x80\xae\xe2\x81\xa6", "\\xe2\\x80\\xae\\xe2\\x81\\xa6"}, /* directions */
        {"\xe2\x82", "\\xe2\\x82"},                                     /* cut */
    };
    char shown[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = step_show(bytes_of(rows[i].text), shown, sizeof shown);
        CU_ASSERT_STRING_EQUAL(shown, rows[i].shown);
        CU_ASSERT_EQUAL(length, strlen(rows[i].shown));
    }
    CU_ASSERT_EQUAL(step_show(bytes_of("ab\x01"), shown, 6), 2);
    CU_ASSERT_STRING_EQUAL(shown, "ab");
}

static void test_name_index(void)
{
    enum { NAMES = 5000 };
    char text[24]; /* one for all: the index has copies */
    struct name_index index = {0};
    bool is_new;
    for (unsigned round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < NAMES; i++) {
            snprintf(text, sizeof text, "pack/Class%u", i / 2);
            uint32_t id = name_index_put(&index, i % 2, bytes_of(text), &is_new);
            if (id != i + 1 || is_new != (round == 0))
                CU_FAIL_FATAL("numbers are not in order of appearance");
        }
    }
    snprintf(text, sizeof text, "pack/Class%u", 7u);
    CU_ASSERT_EQUAL(index.entries[15].text.length, strlen(text));
    CU_ASSERT_STRING_EQUAL((const char *) index.entries[15].text.data, text);
    snprintf(text, sizeof text, "another text");
    CU_ASSERT_STRING_EQUAL((const char *) index.entries[15].text.data, "pack/Class7");
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

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("tables", NULL, NULL);
    CU_add_test(suite, "by number", test_id_table);
    CU_add_test(suite, "far ids", test_far_ids);
    CU_add_test(suite, "call stack", test_call_stack);
    CU_add_test(suite, "shown text", test_show);
    CU_add_test(suite, "by name", test_name_index);
    CU_add_test(suite, "unknown names", test_unknown_names);
}
