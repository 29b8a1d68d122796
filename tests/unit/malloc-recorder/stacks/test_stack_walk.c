/* SPDX-License-Identifier: Apache-2.0 */
/* Walking the calling thread's stack, by the rules of the C library's code: what stands in this
 * program is left out as the recorder's own is. */
#include <CUnit/Basic.h>
#include <dlfcn.h>
#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "malloc-recorder/stacks/stack_walk.h"
#include "malloc-recorder/stacks/unwind_rule.h"
#include "tests/unit/run_suite.h"

enum { MOST = 32 };

static uintptr_t found[MOST];
static unsigned found_count;
static unsigned most;

static int walk_once(const void *left, const void *right)
{
    (void) left;
    (void) right;
    found_count = stack_walk(found, most, stack_end(), 7);
    return 0;
}

/* A function of the C library that calls walk_once(). */
static void call_back(void)
{
    int number = 1;
    size_t count = 1;
    CU_ASSERT_PTR_NOT_NULL(lfind(&number, &number, &count, sizeof number, walk_once));
}

static bool is_of_library(uintptr_t address, const char *name)
{
    Dl_info info;
    return dladdr((void *) address, &info) != 0 && strstr(info.dli_fname, name) != NULL;
}

static void walk_in_library(unsigned limit)
{
    found_count = 0;
    most = limit;
    stack_walk_forget();
    call_back();
}

/* lfind() of the C library has called; this program's frames below and above it are left out, those
 * of the library that runs its suites are not. */
static void test_library(void)
{
    unwind_rule_prepare();
    walk_in_library(MOST);
#if defined(__x86_64__)
    CU_ASSERT(found_count > 0);
    CU_ASSERT_TRUE(is_of_library(found[0], "/libc.so.6"));
    unsigned own = 0;
    for (unsigned i = 0; i < found_count; i++)
        own += is_of_library(found[i], "unit_malloc_recorder");
    CU_ASSERT_EQUAL(own, 0);
    uintptr_t first = found[0];
    unsigned count = found_count;
    call_back(); /* the same by rules that are remembered */
    CU_ASSERT(found_count == count && found[0] == first);
    walk_in_library(1);
    CU_ASSERT(found_count == 1 && found[0] == first);
#endif
}

/* A stack that is not the thread's own has the caller alone. */
static void test_other_stack(void)
{
    uintptr_t addresses[MOST];
    CU_ASSERT_EQUAL(stack_walk(addresses, MOST, 0, 1234), 1);
    CU_ASSERT_EQUAL(addresses[0], 1234);
    CU_ASSERT_EQUAL(stack_walk(addresses, MOST, 4096, 1234), 1);
    CU_ASSERT_EQUAL(stack_walk(addresses, MOST, UINTPTR_MAX, 1234), 1);
}

static void *find_end(void *end)
{
    int here;
    *(uintptr_t *) end = stack_end();
    return (void *) (*(uintptr_t *) end > (uintptr_t) &here &&
                             *(uintptr_t *) end - (uintptr_t) &here < UINTPTR_MAX / 2
                         ? end
                         : NULL);
}

static void test_ends(void)
{
    uintptr_t own = 0, other = 0;
    void *is_right;
    pthread_t thread;
    CU_ASSERT_PTR_NOT_NULL(find_end(&own));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, find_end, &other), 0);
    pthread_join(thread, &is_right);
    CU_ASSERT_PTR_NOT_NULL(is_right);
    CU_ASSERT_NOT_EQUAL(own, other);
}

/* ---- rules ---- */

#if defined(__x86_64__)
/* A function whose frame changes as it says: 8 bytes at its entry, 16 after a push, then by the
 * frame pointer. */
extern const char unit_code[], unit_pushed[], unit_framed[], unit_end[];
__asm__(".text\n.globl unit_code, unit_pushed, unit_framed, unit_end\n.type unit_code, @function\n"
        "unit_code:\n.cfi_startproc\nnop\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
        "unit_pushed:\nnop\n"
        "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
        "unit_framed:\nnop\npop %rbp\n.cfi_def_cfa %rsp, 8\nret\n"
        "unit_end:\n.cfi_endproc\n.size unit_code, .-unit_code\n");

static struct unwind_rule rule_after(const char *place)
{
    return unwind_rule_at((uintptr_t) place + 1);
}

static void test_rules(void)
{
    unwind_rule_prepare();
    struct unwind_rule rule = rule_after(unit_code);
    if (rule.kind == UNWIND_UNKNOWN)
        return; /* a C library without the interface */
    CU_ASSERT(rule.kind == UNWIND_OF_STACK && rule.base == 8 && rule.saved == 0);
    rule = rule_after(unit_pushed);
    CU_ASSERT(rule.kind == UNWIND_OF_STACK && rule.base == 16 && rule.saved == -16);
    rule = rule_after(unit_framed);
    CU_ASSERT(rule.kind == UNWIND_OF_FRAME && rule.base == 16 && rule.saved == -16);
}
#endif

/* No code, and code that nothing describes. */
static void test_no_rules(void)
{
    static const uintptr_t places[] = {1, 4096, UINTPTR_MAX};
    unwind_rule_prepare();
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        CU_ASSERT_EQUAL(unwind_rule_at(places[i]).kind, UNWIND_UNKNOWN);
    CU_ASSERT_EQUAL(unwind_rule_at((uintptr_t) found).kind, UNWIND_UNKNOWN); /* data */
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("walking stacks", NULL, NULL);
    CU_add_test(suite, "a library's frames", test_library);
    CU_add_test(suite, "other stacks", test_other_stack);
    CU_add_test(suite, "ends of stacks", test_ends);
#if defined(__x86_64__)
    CU_add_test(suite, "rules", test_rules);
#endif
    CU_add_test(suite, "no rules", test_no_rules);
}
