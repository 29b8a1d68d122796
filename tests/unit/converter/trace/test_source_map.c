/* SPDX-License-Identifier: Apache-2.0 */
/* Source maps of classes: as compilers write them, with other strata and embedded maps, damaged. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "converter/trace/source_map.h"
#include "tests/unit/run_suite.h"

/* As kotlinc makes it for a class with inlined functions: the second stratum has the calls. */
#define KOTLIN                                                                                     \
    "SMAP\nMain.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Main.kt\nMainKt\n+ 2 Helpers.kt\na/b/HelpersKt\n"   \
    "*L\n1#1,20:1\n7#2,3:21\n5#2:30,2\n*S KotlinDebug\n*F\n+ 1 "                                   \
    "Main.kt\nMainKt\n*L\n9#1:21,3\n*E\n"

/* The path of a mapped file says in which directory it is. */
static void test_directories(void)
{
    struct frame_place place = {.line = 21};
    struct source_map *map = source_map_create(step_text(KOTLIN));
    CU_ASSERT_FATAL(map != NULL);
    source_map_find(map, &place);
    CU_ASSERT(place.directory.length == 4 && memcmp(place.directory.data, "a/b/", 4) == 0);
    place = (struct frame_place){.line = 1};
    source_map_find(map, &place);
    CU_ASSERT_EQUAL(place.directory.length, 0); /* "MainKt" */
    source_map_destroy(map);
}

static void check(const char *text, uint64_t line, const char *file, uint64_t wanted)
{
    struct frame_place place = {.line = line, .file = step_text("of the class")};
    struct source_map *map = source_map_create(step_text(text));
    if (map != NULL)
        source_map_find(map, &place);
    source_map_destroy(map);
    CU_ASSERT_EQUAL(place.line, wanted);
    CU_ASSERT(place.file.length == strlen(file) &&
              memcmp(place.file.data, file, place.file.length) == 0);
}

static void test_kotlin(void)
{
    check(KOTLIN, 1, "Main.kt", 1);
    check(KOTLIN, 20, "Main.kt", 20);
    check(KOTLIN, 21, "Helpers.kt", 7);
    check(KOTLIN, 23, "Helpers.kt", 9);
    check(KOTLIN, 24, "of the class", 24); /* in no range */
    check(KOTLIN, 30, "Helpers.kt", 5);
    check(KOTLIN, 31, "Helpers.kt", 5);
    check(KOTLIN, 32, "of the class", 32);
}

/* A range without a file has that of the one before; each input line is three lines of output. */
static void test_ranges(void)
{
    const char *jsp = "SMAP\r\nHello_jsp.java\r\nJSP\r\n*O Other\r\nSMAP\r\nx\r\nJSP\r\n*S JSP\r\n"
                      "*F\r\n0 wrong.jsp\r\n*L\r\n1:1,99\r\n*E\r\n*C Other\r\n"
                      "*S JSP\r\n*F\r\n0 Hello.jsp\r\n*V\r\nof a vendor\r\n*L\r\n"
                      "2#0,2:40,3\r\n9:50\r\n*E\r\n1:1,99\r\n";
    check(jsp, 40, "Hello.jsp", 2);
    check(jsp, 42, "Hello.jsp", 2);
    check(jsp, 45, "Hello.jsp", 3);
    check(jsp, 46, "of the class", 46);
    check(jsp, 50, "Hello.jsp", 9);
    check(jsp, 39, "of the class", 39);
    check(jsp, 1, "of the class", 1);
}

/* Ranges in any order, and a line that two have: the first wins. */
static void test_unordered(void)
{
    const char *map = "SMAP\na\nb\n*S b\n*F\n1 a\n2 c\n*L\n9#1:50\n2#2,20:40\n7#1:45\n*E\n";
    check(map, 50, "a", 9);
    check(map, 40, "c", 2);
    check(map, 45, "c", 7);
    check(map, 59, "c", 21);
    check(map, 60, "of the class", 60);
}

static void test_damaged(void)
{
    static const char *const texts[] = {"",
                                        "SMAP",
                                        "SMAP\na\nb",
                                        "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n",
                                        "PAMS\na\nb\n*S b\n*L\n1:1\n",
                                        "SMAP\na\nb\n*S b\n*F\n+ 1 a", /* the path is missing */
                                        "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n1#1\n", /* no output line */
                                        "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n99999999999#1:1\n",
                                        "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n1#1:1,0\n", /* no line */
                                        "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n1#2:1\n", /* another file */
                                        "SMAP\na\nb\n*S c\n*F\n1 a\n*L\n1#1:1\n*C\n*C\n*E\n*\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check(texts[i], 1, "of the class", 1);
    const char *widest = "SMAP\na\nb\n*S b\n*F\n1 a\n*L\n1#1,4294967295:1,4294967295\n";
    check(widest, UINT32_MAX, "a", 1);
}

/* Each cut of a map, in memory of its own so that a sanitizer sees what reads beyond it. */
static void test_cut(void)
{
    for (size_t length = 0; length <= strlen(KOTLIN); length++) {
        struct frame_place place = {.line = 21};
        uint8_t *bytes = malloc(length + 1);
        CU_ASSERT_FATAL(bytes != NULL);
        memcpy(bytes, KOTLIN, length);
        uint8_t *copy = realloc(bytes, length > 0 ? length : 1);
        CU_ASSERT_FATAL(copy != NULL);
        struct source_map *map = source_map_create((struct step_bytes){copy, length});
        if (map != NULL)
            source_map_find(map, &place);
        CU_ASSERT(place.line == 21 || place.line == 7);
        source_map_destroy(map);
        free(copy);
    }
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("source maps", NULL, NULL);
    CU_add_test(suite, "of Kotlin", test_kotlin);
    CU_add_test(suite, "ranges, other strata, embedded maps", test_ranges);
    CU_add_test(suite, "unordered", test_unordered);
    CU_add_test(suite, "directories", test_directories);
    CU_add_test(suite, "damaged", test_damaged);
    CU_add_test(suite, "cut anywhere", test_cut);
}
