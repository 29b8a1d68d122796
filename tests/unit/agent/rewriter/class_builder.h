/* SPDX-License-Identifier: Apache-2.0 */
/* Class files for tests: one class with one method, whose code is given in bytes. */
#ifndef TESTS_UNIT_AGENT_REWRITER_CLASS_BUILDER_H
#define TESTS_UNIT_AGENT_REWRITER_CLASS_BUILDER_H

#include "agent/rewriter/class_bytes.h"

#define BUILT_CONSTANTS 43u /* of every built class, with the one that does not exist */

/* Those that code may name. */
enum {
    POOL_THIS = 2,
    POOL_OBJECT = 4,
    POOL_CODE = 7,
    POOL_FRAMES = 8,
    POOL_LINES = 9,
    POOL_VARIABLES = 10,
    POOL_OBJECT_INIT = 15, /* method Object.<init>()V */
    POOL_CLONE = 19,       /* method [I.clone()Object */
    POOL_ANNOTATIONS = 22,
    POOL_COPY_OF = 29,    /* method Arrays.copyOf(Object[], int, Class) */
    POOL_MULTI_NEW = 35,  /* method Array.multiNewArray(Class, int[]) */
    POOL_THIS_CLONE = 36, /* method T.clone()Object */
    POOL_SELF = 38,       /* the method itself */
    POOL_FILL = 42        /* method T.fillInStackTrace()Throwable */
};

struct built_method {
    const char *class_name, *name, *descriptor; /* NULL: "T", "m", "()V" */
    uint16_t version, access;                   /* 0: 65, public static */
    uint16_t max_stack, max_locals;
    const uint8_t *code;
    uint32_t length;
    const uint16_t (*handlers)[4];
    uint32_t handler_count;
    const uint8_t *attributes; /* of the code, whole */
    uint32_t attribute_bytes, attribute_count;
    uint32_t more_constants; /* Integers behind the others */
};

/* malloc; exact in size. */
uint8_t *build_class(const struct built_method *method, size_t *size_bytes);

/* The Code attribute of the first method of a class file; NULL: there is none. */
const uint8_t *find_code(const uint8_t *bytes, size_t size);

/* Of that attribute: the code, the exception table's count, an attribute's content by the constant
 * of its name. */
uint32_t code_length(const uint8_t *attribute);
const uint8_t *code_bytes(const uint8_t *attribute);
const uint8_t *code_handlers(const uint8_t *attribute);
const uint8_t *code_attribute(const uint8_t *attribute, uint32_t name);

#endif
