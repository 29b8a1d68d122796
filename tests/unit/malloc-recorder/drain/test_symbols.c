/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a process as text: of this one, of none, and in rooms that are too small. */
#include <CUnit/Basic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "malloc-recorder/drain/symbols.h"
#include "tests/unit/run_suite.h"

/* The drain has one such object until its end. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static char text[256];

static size_t describe(struct symbols *symbols, uint64_t address)
{
    memset(text, 'x', sizeof text);
    size_t length = symbols_describe(symbols, address, text, sizeof text);
    CU_ASSERT(length < sizeof text && text[length] == '\0' && strlen(text) == length);
    return length;
}

/* A return address behind a call stands for the function that called, though the next one may begin
 * there. */
__attribute__((noinline)) static const char *described_here(struct symbols *symbols)
{
    describe(symbols, (uint64_t) (uintptr_t) __builtin_return_address(0));
    return text;
}

static void test_own(void)
{
    struct symbols *symbols = symbols_create((uint64_t) getpid());
    CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
    const char *name = described_here(symbols);
    CU_ASSERT(strncmp(name, "test_own", 8) == 0 || strstr(name, "+0x") != NULL);
    char first[256];
    snprintf(first, sizeof first, "%s", name);
    CU_ASSERT(describe(symbols, 0x12) > 0); /* an address without code */
    CU_ASSERT_STRING_EQUAL(text, "0x12");
    CU_ASSERT(describe(symbols, 0) > 0);
    CU_ASSERT_STRING_EQUAL(text, "0x0");
    CU_ASSERT(describe(symbols, UINT64_MAX) > 0);
    CU_ASSERT_STRING_EQUAL(text, "0xffffffffffffffff");
    describe(symbols, (uint64_t) (uintptr_t) qsort + 1);
    CU_ASSERT(strstr(text, "qsort") != NULL || strstr(text, "libc") != NULL);
    CU_ASSERT_PTR_NULL(strchr(text, ';'));
    const char *modules = symbols_modules(symbols);
    CU_ASSERT(modules == NULL || strchr(modules, ' ') != NULL);
}

/* The same address has the same text again, from what is remembered. */
static void test_again(void)
{
    struct symbols *symbols = symbols_create((uint64_t) getpid());
    char first[256];
    CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
    size_t length = describe(symbols, (uint64_t) (uintptr_t) qsort + 1);
    memcpy(first, text, sizeof first);
    CU_ASSERT_EQUAL(describe(symbols, (uint64_t) (uintptr_t) qsort + 1), length);
    CU_ASSERT_STRING_EQUAL(text, first);
}

/* A process that has ended has no names, and nothing fails. */
static void test_gone(void)
{
    struct symbols *symbols = symbols_create(UINT64_MAX);
    CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
    CU_ASSERT_EQUAL(describe(symbols, 0x7f1234), 8);
    CU_ASSERT_STRING_EQUAL(text, "0x7f1234");
    CU_ASSERT_PTR_NULL(symbols_modules(symbols));
}

/* The contract: the length is less than the room, also of a text that is remembered. */
static void test_small_rooms(void)
{
    struct symbols *symbols = symbols_create((uint64_t) getpid());
    char small[8];
    CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
    for (int i = 0; i < 2; i++) {
        size_t length = symbols_describe(symbols, 0x123456789abc, small, sizeof small);
        CU_ASSERT(length < sizeof small && strlen(small) == length);
    }
    describe(symbols, (uint64_t) (uintptr_t) qsort + 1);
    size_t length = symbols_describe(symbols, (uint64_t) (uintptr_t) qsort + 1, small, 4);
    CU_ASSERT(length < 4 && strlen(small) == length);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("symbols", NULL, NULL);
    CU_add_test(suite, "own addresses", test_own);
    CU_add_test(suite, "the same again", test_again);
    CU_add_test(suite, "a process that has ended", test_gone);
    CU_add_test(suite, "small rooms", test_small_rooms);
}
