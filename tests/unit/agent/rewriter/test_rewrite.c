/* SPDX-License-Identifier: Apache-2.0 */
/* The class file rewriter: what it puts where, what it does with each table, what it refuses. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/rewriter/class_file.h"
#include "agent/rewriter/method_code.h"
#include "agent/rewriter/rewrite.h"
#include "tests/unit/agent/rewriter/class_builder.h"
#include "tests/unit/run_suite.h"

/* A class rewritten, with room for what the test asks. */
static uint8_t *result;
static size_t result_bytes;
static struct rewrite_error error;
static uint32_t number, left_count;
static bool left_allocations; /* the last time */
static enum rewrite_loss left_loss;
static uint32_t compiled_bytes;
static char left_reason[96];

static uint32_t give_number(void *context, const char *class_name, const char *method_name,
                            const char *descriptor, uint16_t access_flags)
{
    (void) context, (void) access_flags;
    CU_ASSERT_TRUE(strlen(class_name) + strlen(method_name) + strlen(descriptor) < 65536 * 3);
    return number;
}

static void note_left(void *context, const char *class_name, const char *method_name,
                      const char *descriptor, const char *reason, enum rewrite_loss loss)
{
    (void) context, (void) class_name, (void) method_name, (void) descriptor;
    left_count++;
    left_allocations = loss == LOSS_ALLOCATIONS;
    left_loss = loss;
    snprintf(left_reason, sizeof left_reason, "%s", reason);
}

static bool apart, leaf_calls;

static enum rewrite_result rewrite_bytes(const uint8_t *bytes, size_t size, bool alloc)
{
    struct rewrite_request request = {.class_file = bytes,
                                      .size_bytes = size,
                                      .alloc = alloc,
                                      .method = number != 0,
                                      .nameless = apart,
                                      .apart = apart,
                                      .leaf = leaf_calls,
                                      .compiled_bytes = compiled_bytes,
                                      .method_number = give_number,
                                      .left_alone = note_left};
    free(result);
    left_count = 0;
    return class_rewrite(&request, &result, &result_bytes, &error);
}

static enum rewrite_result rewrite_method(const struct built_method *method, bool alloc)
{
    size_t size;
    uint8_t *bytes = build_class(method, &size);
    enum rewrite_result outcome = rewrite_bytes(bytes, size, alloc);
    free(bytes);
    return outcome;
}

/* The rewritten code is these bytes; -1 stands for anything (an index of a constant). */
static void expect_code(const int16_t *wanted, uint32_t length)
{
    const uint8_t *code = result != NULL ? find_code(result, result_bytes) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(code);
    CU_ASSERT_EQUAL(code_length(code), length);
    for (uint32_t i = 0; i < length && i < code_length(code); i++) {
        if (wanted[i] >= 0 && code_bytes(code)[i] != wanted[i])
            fprintf(stderr, "byte %u is %u, not %d\n", i, code_bytes(code)[i], wanted[i]);
        CU_ASSERT_TRUE(wanted[i] < 0 || code_bytes(code)[i] == wanted[i]);
    }
}

#define EXPECT_CODE(...)                                                                           \
    do {                                                                                           \
        const int16_t wanted[] = {__VA_ARGS__};                                                    \
        expect_code(wanted, sizeof wanted / sizeof wanted[0]);                                     \
    } while (0)

#define CODE(...) .code = (const uint8_t[]){__VA_ARGS__}, .length = sizeof((uint8_t[]){__VA_ARGS__})
#define CALL 0xB8, -1, -1

static void test_nothing_to_do(void)
{
    struct built_method method = {CODE(0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_UNCHANGED);
    CU_ASSERT_PTR_NULL(result);
    CU_ASSERT_EQUAL(result_bytes, 0);
}

static void test_new_arrays(void)
{
    struct built_method method = {.max_stack = 3,
                                  CODE(0x08, 0xBC, 10, 0xBD, 0, POOL_OBJECT, 0xC5, 0, POOL_OBJECT,
                                       2, 0xC5, 0, POOL_OBJECT, 200, 0x57, 0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0x08, 0xBC, 10, 0x59, CALL, 0xBD, 0, POOL_OBJECT, 0x59, CALL, 0xC5, 0, POOL_OBJECT,
                2, 0x59, 0x05, CALL, 0xC5, 0, POOL_OBJECT, 200, 0x59, 0x11, 0, 200, CALL, 0x57,
                0xB1);
    CU_ASSERT_EQUAL(load_u2(find_code(result, result_bytes) + 6), 5); /* max_stack */
}

/* The method constant that a call names. */
static void expect_callee(uint32_t place, const char *owner, const char *name)
{
    struct class_file file = {.bytes = result, .size = result_bytes};
    struct class_callee callee;
    CU_ASSERT_TRUE_FATAL(pool_parse(&file));
    const uint8_t *code = code_bytes(find_code(result, result_bytes));
    CU_ASSERT_TRUE_FATAL(pool_callee(&file, load_u2(code + place + 1), &callee));
    CU_ASSERT_TRUE(text_is(callee.owner, owner));
    CU_ASSERT_TRUE(text_is(callee.name, name));
    step_arena_reset(&file.arena);
}

static void test_calls(void)
{
    struct built_method method = {.max_stack = 3,
                                  CODE(0xB6, 0, POOL_CLONE, 0xB6, 0, POOL_THIS_CLONE, 0xB8, 0,
                                       POOL_COPY_OF, 0xB8, 0, POOL_MULTI_NEW, 0xB7, 0,
                                       POOL_THIS_CLONE, 0xB9, 0, POOL_THIS_CLONE, 1, 0, 0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0xB6, 0, POOL_CLONE, 0x59, CALL, 0x59, 0xB6, 0, POOL_THIS_CLONE, 0x5A, CALL, 0xB8,
                0, POOL_COPY_OF, 0x59, CALL, 0x5A, 0xB8, 0, POOL_MULTI_NEW, 0x5A, 0x5F, 0xBE, CALL,
                0xB7, 0, POOL_THIS_CLONE, 0xB9, 0, POOL_THIS_CLONE, 1, 0, 0xB1);
    expect_callee(4, PROBE_CLASS, "alloc");
    expect_callee(12, PROBE_CLASS, "allocCloned");
    expect_callee(19, PROBE_CLASS, "alloc");
    expect_callee(29, PROBE_CLASS, "allocArrays");
}

static void test_throwables(void)
{
    struct built_method trace = {.class_name = "java/lang/Throwable",
                                 .name = "fillInStackTrace",
                                 .descriptor = "(I)Ljava/lang/Throwable;",
                                 .access = 1,
                                 .max_stack = 2,
                                 .max_locals = 2,
                                 CODE(0x2A, 0x03, 0xB7, 0, POOL_SELF, 0xB0)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&trace, true), REWRITE_CHANGED);
    EXPECT_CODE(0x2A, 0x03, 0xB7, 0, POOL_SELF, 0x59, CALL, 0xB0);
    expect_callee(6, PROBE_CLASS, "allocTrace");
    struct built_method named = {
        .class_name = "java/lang/Throwable",
        .name = "<init>",
        .descriptor = "(Ljava/lang/String;)V",
        .access = 1,
        .max_stack = 1,
        .max_locals = 2,
        CODE(0x2A, 0xB7, 0, POOL_OBJECT_INIT, 0x2A, 0xB6, 0, POOL_FILL, 0x57, 0xB1)};
    CU_ASSERT_EQUAL(rewrite_method(&named, true), REWRITE_CHANGED);
    EXPECT_CODE(0x2A, 0xB7, 0, POOL_OBJECT_INIT, 0x2A, 0xB6, 0, POOL_FILL, 0x59, 0x19, 1, CALL,
                0x57, 0xB1);
    expect_callee(11, PROBE_CLASS, "allocMessage");
    named.descriptor = "(Ljava/lang/Throwable;)V";
    CU_ASSERT_EQUAL(rewrite_method(&named, true), REWRITE_UNCHANGED);
}

/* Arrays.copyOf(Object[], int, Class) leaves its array to its callers. */
static void test_silent_body(void)
{
    struct built_method method = {.class_name = "java/util/Arrays",
                                  .name = "copyOf",
                                  .descriptor =
                                      "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
                                  .max_stack = 1,
                                  .max_locals = 3,
                                  CODE(0x1B, 0xBD, 0, POOL_OBJECT, 0xB0)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_UNCHANGED);
    method.name = "other";
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
}

static void test_object_constructor(void)
{
    struct built_method method = {.class_name = "java/lang/Object",
                                  .name = "<init>",
                                  .access = 1,
                                  .max_locals = 1,
                                  CODE(0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0x2A, CALL, 0xB1);
    number = 3;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0x06, CALL, 0x2A, CALL, 0x06, 0x2A, CALL, 0x06, CALL, 0xB1);
    expect_callee(1, PROBE_CLASS, "entryNew");
    expect_callee(5, PROBE_CLASS, "alloc");
    expect_callee(10, PROBE_CLASS, "constructed");
    expect_callee(14, PROBE_CLASS, "exit");
    CU_ASSERT_EQUAL(load_u2(code_handlers(find_code(result, result_bytes))), 0);
}

static void test_method_probes(void)
{
    static const uint16_t handlers[][4] = {{0, 1, 2, 0}};
    struct built_method method = {.max_stack = 1,
                                  .handlers = handlers,
                                  .handler_count = 1,
                                  .version = 49,
                                  CODE(0x00, 0xB1, 0xBF)};
    number = 1000;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    EXPECT_CODE(0x11, 3, 232, CALL, 0x00, 0x11, 3, 232, CALL, 0xB1, /* handler */ 0x4B, 0x11, 3,
                232, CALL, 0x01, 0x57, 0x2A, 0xBF, /* unwinding */ 0x4B, 0x11, 3, 232, CALL, 0x01,
                0x57, 0x2A, 0xBF);
    expect_callee(3, PROBE_CLASS, "entry");
    expect_callee(10, PROBE_CLASS, "exit");
    expect_callee(18, PROBE_CLASS, "caught");
    expect_callee(29, PROBE_CLASS, "unwind");
    const uint8_t *table = code_handlers(find_code(result, result_bytes));
    CU_ASSERT_EQUAL(load_u2(code_bytes(find_code(result, result_bytes)) - 6), 1); /* variables */
    const uint16_t wanted[] = {4, 15, 21, 22, 0, 26, 32, 33, 0, 6, 7, 14, 0, 6, 25, 25, 0};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        CU_ASSERT_EQUAL(load_u2(table + 2 * i), wanted[i]);
    method.access = 1;
    method.max_locals = 1;
    number = 70000;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    expect_callee(4, PROBE_CLASS, "entryThis");
    CU_ASSERT_EQUAL(code_bytes(find_code(result, result_bytes))[0], 0x13); /* ldc_w */
}

/* A handler that covers itself: the guard's row comes first, its frame has the exception in a
 * variable behind the long. */
static void test_guard(void)
{
    static const uint16_t handlers[][4] = {{0, 3, 2, 0}};
    static const uint8_t attributes[] = {0, POOL_FRAMES, 0, 0, 0, 13, 0, 1, 255,        0,
                                         2, 0,           1, 4, 0, 1,  7, 0, POOL_OBJECT};
    struct built_method method = {.max_stack = 1,
                                  .max_locals = 4,
                                  .handlers = handlers,
                                  .handler_count = 1,
                                  .attributes = attributes,
                                  .attribute_bytes = sizeof attributes,
                                  .attribute_count = 1,
                                  .descriptor = "(J)V",
                                  CODE(0x00, 0xB1, 0xBF)};
    number = 5;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    EXPECT_CODE(0x08, CALL, 0x00, 0x08, CALL, 0xB1, 0x3A, 4, 0x08, CALL, 0x01, 0x57, 0x19, 4, 0xBF,
                0x4B, 0x08, CALL, 0x01, 0x57, 0x2A, 0xBF);
    const uint8_t *code = find_code(result, result_bytes), *table = code_handlers(code);
    const uint16_t rows[] = {4, 12, 16, 17, 0, 22, 26, 27, 0, 4, 21, 10, 0, 4, 21, 21, 0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CU_ASSERT_EQUAL(load_u2(table + 2 * i), rows[i]);
    const uint8_t *frames = code_attribute(code, POOL_FRAMES);
    const uint8_t guard[] = {255, 0, 6, 0, 4, 4, 0, 0, 7, 0, POOL_OBJECT, 0, 1, 7};
    CU_ASSERT_EQUAL(load_u2(frames), 4);
    CU_ASSERT_EQUAL(memcmp(frames + 13, guard, sizeof guard), 0);
}

/* In a class of its own, so to say: no object for entry(), and too large to be inlined. */
static void test_apart(void)
{
    struct built_method method = {.access = 1, .max_locals = 1, .version = 49, CODE(0x00, 0xB1)};
    number = 1000;
    apart = true;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    apart = false;
    expect_callee(3, PROBE_CLASS, "entry");
    const uint8_t *code = code_bytes(find_code(result, result_bytes));
    CU_ASSERT_EQUAL(load_u4(code - 4), 326);
    CU_ASSERT_EQUAL(code[24], 0x00);
    CU_ASSERT_EQUAL(code[324], 0x00);
    CU_ASSERT_EQUAL(code[325], 0xBF);
}

/* Of a leaf method the probe at the return, and another where an exception leaves it. */
static void test_leaf_probes(void)
{
    struct built_method method = {.max_stack = 1, .max_locals = 1, .version = 49, CODE(0x04, 0xAC)};
    number = 1000;
    leaf_calls = true;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    EXPECT_CODE(0x04, 0x11, 3, 232, CALL, 0xAC, 0x4B, 0x11, 3, 232, CALL, 0x01, 0x57, 0x2A, 0xBF);
    expect_callee(4, PROBE_CLASS, "call");
    expect_callee(12, PROBE_CLASS, "callUnwind");
    leaf_calls = false;
}

/* In a static method. */
static bool has_leaf_probe(const uint8_t *code, uint32_t length, uint16_t access, const char *name)
{
    struct built_method method = {.name = name,
                                  .access = access | 8,
                                  .max_stack = 9,
                                  .max_locals = 9,
                                  .version = 49,
                                  .code = code,
                                  .length = length,
                                  .more_constants = 1};
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    struct class_file file = {.bytes = result, .size = result_bytes};
    struct class_callee callee;
    CU_ASSERT_TRUE_FATAL(pool_parse(&file));
    const uint8_t *first = code_bytes(find_code(result, result_bytes));
    bool entered = first[0] == 0x07 && first[1] == 0xB8 && /* the number 4 */
                   pool_callee(&file, load_u2(first + 2), &callee) && text_is(callee.name, "entry");
    step_arena_reset(&file.arena);
    return !entered;
}

static void test_leaf_methods(void)
{
    static const struct {
        bool leaf;
        uint8_t length, code[12];
    } rows[] = {
        {true, 1, {0xB1}},
        {true, 7, {0x03, 0x99, 0, 4, 0x00, 0x00, 0xB1}},  /* a jump forward */
        {false, 6, {0x00, 0x03, 0x9A, 0xFF, 0xFE, 0xB1}}, /* and back */
        {false, 3, {0xA7, 0, 0}},                         /* to itself */
        {true, 4, {0x2A, 0x03, 0x2E, 0xAC}},              /* an element */
        {true, 5, {0x2A, 0x03, 0x04, 0x4F, 0xB1}},        /* of an array */
        {true, 5, {0x2A, 0xC0, 0, POOL_THIS, 0xB0}},      /* own class */
        {false, 5, {0x2A, 0xC0, 0, POOL_OBJECT, 0xB0}},   /* one to be loaded */
        {false, 5, {0x2A, 0xB4, 0, POOL_THIS, 0xAC}},     /* no field */
        {false, 4, {0xB2, 0xFF, 0xFF, 0xAC}},             /* nor this */
        {true, 3, {0x12, BUILT_CONSTANTS, 0xAC}},         /* a number */
        {false, 3, {0x12, POOL_OBJECT, 0xB0}},            /* a class */
        {false, 3, {0x12, 0, 0xB0}},                      /* nothing */
        {false, 5, {0xB8, 0, POOL_SELF, 0x00, 0xB1}},     /* a call */
        {false, 4, {0xBB, 0, POOL_THIS, 0xB0}},           /* something new */
        {false, 4, {0x03, 0xBC, 10, 0xB0}},               /* an array */
        {false, 4, {0x2A, 0xC2, 0x00, 0xB1}},             /* a monitor */
        {false, 2, {0x2A, 0xBF}},                         /* what it throws */
        {false, 5, {0xC4, 0x15, 0, 1, 0xAC}},             /* wide */
        {false, 12, {0xAB}},                              /* a switch */
    };
    uint8_t longest[65] = {0};
    number = 4;
    leaf_calls = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CU_ASSERT_EQUAL(has_leaf_probe(rows[i].code, rows[i].length, 1, "m"), rows[i].leaf);
    longest[63] = longest[64] = 0xB1;
    CU_ASSERT_TRUE(has_leaf_probe(longest, 64, 1, "m"));
    CU_ASSERT_FALSE(has_leaf_probe(longest, 65, 1, "m"));
    CU_ASSERT_FALSE(has_leaf_probe(rows[0].code, 1, 0x21, "m")); /* synchronized */
    CU_ASSERT_FALSE(has_leaf_probe(rows[0].code, 1, 1, "<clinit>"));
    leaf_calls = false;
    CU_ASSERT_FALSE(has_leaf_probe(rows[0].code, 1, 1, "m"));
    number = 0;
}

/* Only what follows super() is covered; the object goes to constructed(). */
static void test_constructor(void)
{
    struct built_method method = {.name = "<init>",
                                  .access = 1,
                                  .max_stack = 2,
                                  .max_locals = 1,
                                  CODE(0x2A, 0x59, 0x57, 0xB7, 0, POOL_OBJECT_INIT, 0xB1)};
    number = 4;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    EXPECT_CODE(0x07, CALL, 0x2A, 0x59, 0x57, 0xB7, 0, POOL_OBJECT_INIT, 0x07, 0x2A, CALL, 0x07,
                CALL, 0xB1, 0x4B, 0x07, CALL, 0x01, 0x57, 0x2A, 0xBF);
    expect_callee(1, PROBE_CLASS, "entrySuper");
    expect_callee(12, PROBE_CLASS, "constructed");
    const uint8_t *table = code_handlers(find_code(result, result_bytes));
    const uint16_t wanted[] = {2, 21, 25, 26, 0, 15, 20, 20, 0};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        CU_ASSERT_EQUAL(load_u2(table + 2 * i), wanted[i]);
    CU_ASSERT_PTR_NULL(code_attribute(find_code(result, result_bytes), POOL_FRAMES));
    apart = true; /* nobody asks for the object */
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    apart = false;
    expect_callee(1, PROBE_CLASS, "entry");
    expect_callee(11, PROBE_CLASS, "exit");
}

static void test_tables(void)
{
    /* goto 0 after an array: frame at 0, lines and variables at 0 and 4 */
    static const uint8_t attributes[] = {
        0,    POOL_FRAMES,
        0,    0,
        0,    3,
        0,    1,
        0, /* same at 0 */
        0,    POOL_LINES,
        0,    0,
        0,    10,
        0,    2,
        0,    0,
        0,    1,
        0,    4,
        0,    2, /* lines */
        0,    POOL_VARIABLES,
        0,    0,
        0,    22,
        0,    2,
        0,    0,
        0,    7,
        0,    1,
        0,    1,
        0,    0, /* whole */
        0,    4,
        0,    3,
        0,    1,
        0,    1,
        0,    1, /* its end */
        0,    POOL_ANNOTATIONS,
        0,    0,
        0,    10,
        0,    1,
        0x44, 0,
        1,    0,
        0,    1,
        0,    0, /* new */
    };
    struct built_method method = {.max_stack = 1,
                                  .attributes = attributes,
                                  .attribute_bytes = sizeof attributes,
                                  .attribute_count = 4,
                                  CODE(0x04, 0xBC, 10, 0x57, 0xA7, 0xFF, 0xFC)};
    number = 5;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0x08, CALL, 0x04, 0xBC, 10, 0x59, CALL, 0x57, 0xA7, 0xFF, 0xF8, 0x4B, 0x08, CALL,
                0x01, 0x57, 0x2A, 0xBF);
    const uint8_t *code = find_code(result, result_bytes);
    const uint8_t *frames = code_attribute(code, POOL_FRAMES);
    CU_ASSERT_EQUAL(load_u2(frames), 3);
    CU_ASSERT_EQUAL(frames[2], 4);
    CU_ASSERT_EQUAL(frames[3], 255);
    CU_ASSERT_EQUAL(load_u2(frames + 4), 15 - 5);
    CU_ASSERT_EQUAL(frames[13], 255);
    CU_ASSERT_EQUAL(load_u2(frames + 14), 5);
    const uint8_t *lines = code_attribute(code, POOL_LINES);
    CU_ASSERT_EQUAL(load_u2(lines + 2), 0);
    CU_ASSERT_EQUAL(load_u2(lines + 6), 12);
    const uint8_t *variables = code_attribute(code, POOL_VARIABLES);
    CU_ASSERT_EQUAL(load_u2(variables + 2), 0);
    CU_ASSERT_EQUAL(load_u2(variables + 4), 15);
    CU_ASSERT_EQUAL(load_u2(variables + 12), 12);
    CU_ASSERT_EQUAL(load_u2(variables + 14), 3);
    CU_ASSERT_EQUAL(load_u2(code_attribute(code, POOL_ANNOTATIONS) + 3), 5);
}

/* Lists of strict fields that are not set yet stay with their frames, also where all frames are
 * written in full; a list without a frame, or before another list, is none. */
static void test_early_larval_frames(void)
{
    /* aload_0 iconst_1 newarray pop invokespecial return; `this` is not initialised at 1 and 4 */
    static const uint8_t lists[] = {0, POOL_FRAMES, 0, 0,   0, 15, 0, 2, 246, 0, 2, 0,
                                    1, 0,           2, 255, 0, 1,  0, 1, 6,   0, 0, 2};
    uint8_t bytes[sizeof lists + 4];
    struct built_method method = {
        .max_stack = 2,
        .name = "<init>",
        .version = 72,
        .access = 1,
        .max_locals = 1,
        .attributes = bytes,
        .attribute_count = 1,
        CODE(0x04, 0xBC, 10, 0x57, 0x2A, 0xB7, 0, POOL_OBJECT_INIT, 0xB1)};
    memcpy(bytes, lists, sizeof lists);
    bytes[5] = sizeof lists - 6;
    method.attribute_bytes = sizeof lists;
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    const uint8_t *frames = code_attribute(find_code(result, result_bytes), POOL_FRAMES);
    CU_ASSERT_EQUAL(load_u2(frames), 2);
    CU_ASSERT_EQUAL(memcmp(frames + 2, lists + 8, 8), 0);
    static const uint16_t handlers[][4] = {{0, 3, 4, 0}};
    static const uint8_t caught[] = {0, POOL_FRAMES, 0, 0, 0, 20, 0, 1, 246, 0, 2, 0,          1, 0,
                                     2, 255,         0, 4, 0, 1,  6, 0, 1,   7, 0, POOL_OBJECT};
    struct built_method handler = {
        .max_stack = 2,
        .name = "<init>",
        .version = 72,
        .access = 1,
        .max_locals = 1,
        .attributes = caught,
        .attribute_bytes = sizeof caught,
        .attribute_count = 1,
        .handlers = handlers,
        .handler_count = 1,
        CODE(0x04, 0xBC, 10, 0x57, 0x57, 0x2A, 0xB7, 0, POOL_OBJECT_INIT, 0xB1)};
    number = 7;
    CU_ASSERT_EQUAL(rewrite_method(&handler, true), REWRITE_CHANGED);
    frames = code_attribute(find_code(result, result_bytes), POOL_FRAMES);
    CU_ASSERT_EQUAL(load_u2(frames), 4); /* a guard's, and two of the handler */
    CU_ASSERT_EQUAL(memcmp(frames + 2, caught + 8, 7), 0);
    number = 0;
    static const uint8_t nothing_after[] = {0, POOL_FRAMES, 0, 0, 0, 5, 0, 1, 246, 0, 0};
    method.attributes = nothing_after;
    method.attribute_bytes = sizeof nothing_after;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
    static const uint8_t nested[] = {0, POOL_FRAMES, 0, 0, 0, 9, 0, 1, 246, 0, 0, 246, 0, 0, 1};
    method.attributes = nested;
    method.attribute_bytes = sizeof nested;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
}

/* Read as the newest known one, but not what that one does not have. */
static void test_later_version(void)
{
    static const uint8_t lines[] = {0, POOL_LINES, 0, 0, 0, 6, 0, 1, 0, 0, 0, 1};
    static const uint8_t unknown[] = {0, POOL_CODE, 0, 0, 0, 2, 0, 0};
    struct built_method method = {.max_stack = 1,
                                  .version = REWRITE_NEWEST_VERSION + 8,
                                  .attributes = lines,
                                  .attribute_bytes = sizeof lines,
                                  .attribute_count = 1,
                                  CODE(0x04, 0xBC, 10, 0x57, 0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    method.attributes = unknown;
    method.attribute_bytes = sizeof unknown;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_UNSUPPORTED);
    method.version = REWRITE_NEWEST_VERSION;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
}

static void test_switch_padding(void)
{
    struct built_method method = {.max_stack = 2,
                                  .version = 49,
                                  CODE(0x04, 0xBC, 10, 0x57, 0x03, 0xAA, 0, 0, 0, 0, 0, 19, 0, 0, 0,
                                       0, 0, 0, 0, 0, 0, 0, 0, 19, 0xB1)};
    number = 0;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    EXPECT_CODE(0x04, 0xBC, 10, 0x59, CALL, 0x57, 0x03, 0xAA, 0, 0, 0, 0, 0, 19, 0, 0, 0, 0, 0, 0,
                0, 0, 0, 0, 0, 19, 0xB1);
    number = 6;
    CU_ASSERT_EQUAL(rewrite_method(&method, false), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(code_bytes(find_code(result, result_bytes))[12], 0); /* low of the switch */
}

/* A method of `arrays` allocations between a jump and its target. */
static enum rewrite_result rewrite_far(uint8_t opcode, uint32_t arrays, uint16_t version,
                                       bool frames)
{
    uint32_t length = 4 + 4 * arrays + 1;
    uint8_t *code = malloc(length);
    uint8_t attribute[] = {0, POOL_FRAMES, 0, 0, 0, 5, 0, 1, 251, 0, 0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(code);
    memcpy(code, (uint8_t[]){0x01, opcode, 0, 0}, 4);
    store_u2(code + 2, length - 2);
    for (uint32_t i = 0; i < arrays; i++)
        memcpy(code + 4 + 4 * i, (uint8_t[]){0x04, 0xBC, 10, 0x57}, 4);
    code[length - 1] = 0xB1;
    store_u2(attribute + 9, length - 1);
    struct built_method method = {.max_stack = 1,
                                  .version = version,
                                  .code = code,
                                  .length = length,
                                  .attributes = attribute,
                                  .attribute_bytes = frames ? sizeof attribute : 0,
                                  .attribute_count = frames};
    enum rewrite_result outcome = rewrite_method(&method, true);
    free(code);
    return outcome;
}

static void test_far_jumps(void)
{
    number = 0;
    CU_ASSERT_EQUAL(rewrite_far(0xA7, 8000, 49, false), REWRITE_CHANGED);
    const uint8_t *code = code_bytes(find_code(result, result_bytes));
    CU_ASSERT_EQUAL(code[1], 0xC8);
    CU_ASSERT_EQUAL(load_u4(code + 2), 5 + 8 * 8000);
    CU_ASSERT_EQUAL(rewrite_far(0xC6, 8000, 49, false), REWRITE_CHANGED);
    code = code_bytes(find_code(result, result_bytes));
    CU_ASSERT_EQUAL(code[1], 0xC7); /* the opposite, over a goto_w */
    CU_ASSERT_EQUAL(load_u2(code + 2), 8);
    CU_ASSERT_EQUAL(code[4], 0xC8);
    CU_ASSERT_EQUAL(load_u4(code + 5), 5 + 8 * 8000);
    /* with frames and nothing but straight code there is no place for a trampoline */
    CU_ASSERT_EQUAL(rewrite_far(0xC6, 8000, 65, true), REWRITE_UNCHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    /* and this would get too large */
    CU_ASSERT_EQUAL(rewrite_far(0xC6, 8191, 49, false), REWRITE_UNCHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(left_reason, "65535"));
}

/* Where all probes are too many, those of allocations may still do. */
static void test_fewer_probes(void)
{
    number = 70000;
    CU_ASSERT_EQUAL(rewrite_far(0xA7, 8190, 49, false), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    CU_ASSERT_EQUAL(code_length(find_code(result, result_bytes)), 7 + 8 * 8190);
    number = 0;
}

/* A method of so many returns, none of which is reached but the first, after so many arrays. */
static enum rewrite_result rewrite_returns(uint32_t returns, uint32_t arrays, bool alloc)
{
    uint32_t length = 4 * arrays + returns;
    uint8_t *code = malloc(length);
    CU_ASSERT_PTR_NOT_NULL_FATAL(code);
    memset(code, 0xB1, length);
    for (uint32_t i = 0; i < arrays; i++)
        memcpy(code + 4 * i, (uint8_t[]){0x04, 0xBC, 10, 0x57}, 4);
    struct built_method method = {.version = 49, .max_stack = 1, .code = code, .length = length};
    enum rewrite_result outcome = rewrite_method(&method, alloc);
    free(code);
    return outcome;
}

/* What the JVM would not compile any more goes without its events, if that is enough; allocations
 * stay in any case. */
static void test_compiled_size(void)
{
    number = 6;
    compiled_bytes = 8000;
    CU_ASSERT_EQUAL(rewrite_returns(1000, 0, false), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 0);
    CU_ASSERT_EQUAL(rewrite_returns(3000, 0, false), REWRITE_UNCHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    CU_ASSERT_EQUAL(left_loss, LOSS_METHOD_EVENTS);
    CU_ASSERT_PTR_NOT_NULL(strstr(left_reason, "8000"));
    CU_ASSERT_EQUAL(rewrite_returns(3000, 100, true), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    CU_ASSERT_EQUAL(left_loss, LOSS_METHOD_EVENTS);
    CU_ASSERT_EQUAL(code_length(find_code(result, result_bytes)), 3000 + 8 * 100);
    /* less would not help */
    CU_ASSERT_EQUAL(rewrite_returns(1, 1500, true), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 1);
    CU_ASSERT_EQUAL(left_loss, LOSS_COMPILATION);
    CU_ASSERT_TRUE(code_length(find_code(result, result_bytes)) > 1 + 8 * 1500);
    /* it was never compiled */
    CU_ASSERT_EQUAL(rewrite_returns(8001, 0, false), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 0);
    compiled_bytes = 0;
    CU_ASSERT_EQUAL(rewrite_returns(3000, 0, false), REWRITE_CHANGED);
    CU_ASSERT_EQUAL(left_count, 0);
    number = 0;
}

static void test_versions(void)
{
    struct built_method method = {.max_stack = 1, CODE(0x04, 0xBC, 10, 0x57, 0xB1)};
    number = 0;
    method.version = REWRITE_NEWEST_VERSION;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    method.version = 44;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
}

static void test_full_pool(void)
{
    struct built_method method = {.max_stack = 1, CODE(0x04, 0xBC, 10, 0x57, 0xB1)};
    number = 0;
    method.more_constants = 65535 - BUILT_CONSTANTS - 6;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED);
    method.more_constants++;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(result);
}

static void test_malformed_code(void)
{
    static const struct {
        uint8_t bytes[8];
        uint32_t length;
    } bad[] = {
        {{0xCA, 0xB1}, 2},                                   /* breakpoint */
        {{0x04, 0xBC, 10, 0x57, 0xA7, 0, 0x20, 0xB1}, 8},    /* a jump out of the code */
        {{0x04, 0xBC, 10, 0x57, 0xA7, 0xFF, 0xFE, 0xB1}, 8}, /* into an instruction */
        {{0x04, 0xBC}, 2},                                   /* half an instruction */
        {{0xAA, 0, 0, 0, 0, 0, 0, 0}, 8},                    /* half a switch */
        {{0xC4, 0x60, 0, 0}, 4},                             /* wide iadd */
        {{0xB6, 0, POOL_THIS, 0xB1}, 4},                     /* a call of a class */
        {{0xB6, 0xFF, 0xFF, 0xB1}, 4},                       /* of no constant */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct built_method method = {
            .max_stack = 2, .code = bad[i].bytes, .length = bad[i].length};
        number = 0;
        CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
        CU_ASSERT_TRUE(error.message[0] != 0 && error.offset > 0);
        CU_ASSERT_PTR_NULL(result);
    }
}

static void test_malformed_tables(void)
{
    static const uint16_t handlers[][4] = {{0, 9, 0, 0}};
    static const uint8_t frames[] = {0, POOL_FRAMES, 0, 0, 0, 3, 0, 1, 1};
    static const uint8_t lines[] = {0, POOL_LINES, 0, 0, 0, 6, 0, 1, 0, 5, 0, 1};
    struct built_method method = {.max_stack = 1, CODE(0x04, 0xBC, 10, 0x57, 0xB1)};
    number = 0;
    method.handlers = handlers;
    method.handler_count = 1;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
    method.handler_count = 0;
    method.attribute_count = 1;
    method.attributes = frames;
    method.attribute_bytes = sizeof frames;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_CHANGED); /* at 1, newarray */
    method.attributes = (const uint8_t[]){0, POOL_FRAMES, 0, 0, 0, 3, 0, 1, 2};
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
    method.attributes = lines;
    method.attribute_bytes = sizeof lines;
    CU_ASSERT_EQUAL(rewrite_method(&method, true), REWRITE_MALFORMED);
}

/* Cut anywhere and with any byte changed, the answer is a class or an error, under the sanitizers.
 */
static void test_every_byte(void)
{
    static const uint16_t handlers[][4] = {{0, 4, 7, 0}};
    static const uint8_t attributes[] = {0, POOL_FRAMES, 0, 0, 0, 10,  0, 2,
                                         5, 66,          7, 0, 4, 252, 0, 0};
    struct built_method method = {
        .max_stack = 2,
        .name = "<init>",
        .access = 1,
        .max_locals = 1,
        .handlers = handlers,
        .handler_count = 1,
        .attributes = attributes,
        .attribute_bytes = sizeof attributes,
        .attribute_count = 1,
        CODE(0x04, 0xBC, 10, 0x57, 0x2A, 0xB7, 0, POOL_OBJECT_INIT, 0xB1)};
    size_t size;
    uint8_t *whole = build_class(&method, &size);
    number = 200;
    for (size_t length = 0; length < size; length++) {
        uint8_t *cut = malloc(length + 1);
        memcpy(cut, whole, length);
        CU_ASSERT_TRUE(rewrite_bytes(cut, length, true) >= REWRITE_MALFORMED);
        free(cut);
    }
    for (size_t at = 0; at < size; at++) {
        uint8_t old = whole[at];
        for (uint32_t change = 1; change < 256; change++) {
            whole[at] = (uint8_t) (old ^ change);
            enum rewrite_result outcome = rewrite_bytes(whole, size, true);
            CU_ASSERT_EQUAL(outcome == REWRITE_CHANGED, result != NULL);
        }
        whole[at] = old;
    }
    number = 0;
    free(whole);
}

static void check_own_class(uint8_t *bytes, size_t size, const char *wanted, uint32_t fields,
                            uint32_t methods)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    struct class_file file = {.bytes = bytes, .size = size};
    CU_ASSERT_TRUE_FATAL(pool_parse(&file));
    struct class_text name;
    const uint8_t *head = bytes + file.pool_end;
    CU_ASSERT_TRUE(pool_class_name(&file, load_u2(head + 2), &name));
    CU_ASSERT_TRUE(text_is(name, wanted));
    CU_ASSERT_EQUAL(load_u2(head + 8), fields);
    CU_ASSERT_EQUAL(load_u2(head + 10 + 8 * fields), methods);
    step_arena_reset(&file.arena);
}

static void check_probe_class(unsigned ways, uint32_t fields, uint32_t methods)
{
    size_t size;
    uint8_t *bytes = probe_class_file(ways, &size);
    check_own_class(bytes, size, PROBE_CLASS, fields, methods);
    CU_ASSERT_EQUAL(rewrite_bytes(bytes, size, true), REWRITE_UNCHANGED);
    free(bytes);
}

static void test_probe_class(void)
{
    /* with leaf calls: five in Java, and five of the proof; with show(): that, and two in Java */
    check_probe_class(0, 0, PROBE_COUNT + 3);
    check_probe_class(PROBES_LEAF, 0, PROBE_COUNT + 3 + 5 + 5);
    check_probe_class(PROBES_LEAF | PROBES_SHOW, 1, PROBE_COUNT + 3 + 5 + 5 + 1 + 2);
    check_probe_class(PROBES_LEAF | PROBES_SHOW_NEW, 1, PROBE_COUNT + 3 + 5 + 5 + 1 + 1);
    CU_ASSERT_STRING_EQUAL(probe_native_name(PROBE_ALLOC, PROBES_LEAF | PROBES_SHOW), "alloc");
    CU_ASSERT_STRING_EQUAL(probe_native_name(PROBE_ALLOC, PROBES_LEAF | PROBES_SHOW_NEW),
                           "allocAside");
    CU_ASSERT_STRING_EQUAL(probe_native_name(PROBE_ENTRY_THIS, PROBES_LEAF), "entryThis");
    CU_ASSERT_STRING_EQUAL(probe_native_name(PROBE_ENTRY_THIS, PROBES_LEAF | PROBES_SHOW),
                           "entryThisAside");
    CU_ASSERT_STRING_EQUAL(probe_native_name(PROBE_EXIT, PROBES_LEAF), "exitAside");
    size_t size;
    uint8_t *bytes = sight_class_file(&size);
    check_own_class(bytes, size, SIGHT_CLASS, 0, 1);
    free(bytes);
}

static void test_instruction_sizes(void)
{
    static const struct {
        uint8_t opcode, size;
    } known[] = {{0x0F, 1}, {0x10, 2}, {0x13, 3}, {0x19, 2}, {0x1A, 1}, {0x36, 2}, {0x3A, 2},
                 {0x3B, 1}, {0x83, 1}, {0x84, 3}, {0x98, 1}, {0x99, 3}, {0xA8, 3}, {0xA9, 2},
                 {0xB1, 1}, {0xB2, 3}, {0xB9, 5}, {0xBA, 5}, {0xBB, 3}, {0xBC, 2}, {0xBE, 1},
                 {0xC1, 3}, {0xC3, 1}, {0xC5, 4}, {0xC7, 3}, {0xC9, 5}, {0xCA, 0}, {0xFF, 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const uint8_t code[8] = {known[i].opcode};
        CU_ASSERT_EQUAL(instruction_size(code, sizeof code, 0), known[i].size);
    }
    const uint8_t wide[] = {0xC4, 0x84, 0, 1, 0, 1};
    CU_ASSERT_EQUAL(instruction_size(wide, sizeof wide, 0), 6);
    CU_ASSERT_EQUAL(instruction_size(wide, 5, 0), 0);
    const uint8_t lookup[] = {0xAB, 0, 0, 0, 0, 0, 0, 12, 0, 0, 0, 0};
    CU_ASSERT_EQUAL(instruction_size(lookup, sizeof lookup, 0), 12);
}

static bool is_clone(void *context, const struct class_callee *callee)
{
    uint32_t *seen = context;
    (*seen)++;
    return text_is(callee->owner, "[I") && text_is(callee->name, "clone") &&
           text_is(callee->descriptor, "()Ljava/lang/Object;");
}

static bool is_nothing(void *context, const struct class_callee *callee)
{
    (void) callee;
    ++*(uint32_t *) context;
    return false;
}

static void test_callees(void)
{
    struct built_method method = {CODE(0xB1)};
    size_t size;
    uint32_t seen = 0, all = 0, none = 0;
    uint8_t *bytes = build_class(&method, &size);
    CU_ASSERT_TRUE(class_has_callee(bytes, size, is_clone, &seen));
    CU_ASSERT_FALSE(class_has_callee(bytes, size, is_nothing, &all));
    CU_ASSERT_EQUAL(seen, 2); /* Object.<init> comes before */
    CU_ASSERT_TRUE(all > seen);
    CU_ASSERT_FALSE(class_has_callee(bytes, 100, is_nothing, &none));
    CU_ASSERT_FALSE(class_has_callee(bytes, 0, is_nothing, &none));
    bytes[0] ^= 1;
    CU_ASSERT_FALSE(class_has_callee(bytes, size, is_nothing, &none));
    CU_ASSERT_EQUAL(none, 0);
    free(bytes);
}

/* Makes the built class's Integer of this value a NaN. */
static uint8_t *make_nan(uint8_t *bytes, size_t size, uint8_t value)
{
    const uint8_t integer[] = {3, 0, 0, 0, value}, nan[] = {4, 0x7F, 0xC0, 0, 0};
    uint8_t *at = memmem(bytes, size, integer, sizeof integer);
    memcpy(at, nan, sizeof nan);
    return at;
}

static void test_spare_nans(void)
{
    static const uint8_t zero[] = {3, 0, 0, 0, 0};
    struct built_method method = {
        .max_stack = 1, .more_constants = 212, CODE(0x12, BUILT_CONSTANTS + 209, 0x57, 0xB1)};
    size_t size;
    uint8_t *bytes = build_class(&method, &size);
    CU_ASSERT_PTR_NULL(class_without_spare_nans(bytes, size));
    const uint8_t *used = make_nan(bytes, size, 209);
    CU_ASSERT_PTR_NULL(class_without_spare_nans(bytes, size));
    const uint8_t *spare = make_nan(bytes, size, 210);
    uint8_t *without = class_without_spare_nans(bytes, size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(without);
    CU_ASSERT_EQUAL(memcmp(without + (used - bytes), used, 5), 0);
    CU_ASSERT_EQUAL(memcmp(without + (spare - bytes), zero, 5), 0);
    memcpy(without + (spare - bytes), spare, 5);
    CU_ASSERT_EQUAL(memcmp(without, bytes, size), 0);
    free(without);
    for (size_t length = 0; length < size; length++) {
        uint8_t *cut = malloc(length + 1);
        memcpy(cut, bytes, length);
        CU_ASSERT_PTR_NULL(class_without_spare_nans(cut, length));
        free(cut);
    }
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0xFF;
        free(class_without_spare_nans(bytes, size));
        bytes[at] ^= 0xFF;
    }
    free(bytes);
}

static const CU_TestInfo tests[] = {
    {"nothing to do", test_nothing_to_do},
    {"new arrays", test_new_arrays},
    {"calls", test_calls},
    {"throwables", test_throwables},
    {"silent body", test_silent_body},
    {"Object.<init>", test_object_constructor},
    {"method probes", test_method_probes},
    {"guards of handlers", test_guard},
    {"methods apart", test_apart},
    {"leaf probes", test_leaf_probes},
    {"leaf methods", test_leaf_methods},
    {"constructor", test_constructor},
    {"tables", test_tables},
    {"a later version", test_later_version},
    {"switch padding", test_switch_padding},
    {"far jumps", test_far_jumps},
    {"fewer probes", test_fewer_probes},
    {"compiled size", test_compiled_size},
    {"versions", test_versions},
    {"full pool", test_full_pool},
    {"malformed code", test_malformed_code},
    {"malformed tables", test_malformed_tables},
    {"early larval frames", test_early_larval_frames},
    {"every byte", test_every_byte},
    {"probe class", test_probe_class},
    {"instruction sizes", test_instruction_sizes},
    {"callees", test_callees},
    {"spare NaNs", test_spare_nans},
};

static int free_result(void)
{
    free(result);
    return 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("rewriter", NULL, free_result);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        CU_add_test(suite, tests[i].pName, tests[i].pTestFunc);
}
