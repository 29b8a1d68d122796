/* SPDX-License-Identifier: Apache-2.0 */
/* The class file of the probes: a final class with nothing but static native methods. */
#include <stdlib.h>

#include "class_bytes.h"
#include "rewrite.h"

#define CLASS_VERSION 52
#define ACCESS_CLASS 0x1031  /* public final super synthetic */
#define ACCESS_METHOD 0x1109 /* public static native synthetic */

static const struct {
    const char *name, *descriptor;
} methods[PROBE_COUNT] = {
#define PROBE_ROW(name, text, descriptor) {text, descriptor},
    PROBE_METHODS(PROBE_ROW)
#undef PROBE_ROW
};

static void put_utf8(struct class_output *output, const char *text)
{
    size_t length = strlen(text);
    put_u1(output, 1);
    put_u2(output, (uint32_t) length);
    put_bytes(output, text, length);
}

static void put_class(struct class_output *output, const char *name, uint32_t name_index)
{
    put_utf8(output, name);
    put_u1(output, 7);
    put_u2(output, name_index);
}

/* Constants 1 to 4 are the class and its superclass, then come names and descriptors by turns. */
uint8_t *probe_class_file(size_t *size_bytes)
{
    struct class_output output = {0};
    put_u4(&output, 0xCAFEBABE);
    put_u4(&output, CLASS_VERSION);
    put_u2(&output, 5 + 2 * PROBE_COUNT);
    put_class(&output, PROBE_CLASS, 1);
    put_class(&output, "java/lang/Object", 3);
    for (uint32_t i = 0; i < PROBE_COUNT; i++) {
        put_utf8(&output, methods[i].name);
        put_utf8(&output, methods[i].descriptor);
    }
    put_u2(&output, ACCESS_CLASS);
    put_u2(&output, 2);
    put_u2(&output, 4);
    put_u2(&output, 0); /* interfaces */
    put_u2(&output, 0); /* fields */
    put_u2(&output, PROBE_COUNT);
    for (uint32_t i = 0; i < PROBE_COUNT; i++) {
        put_u2(&output, ACCESS_METHOD);
        put_u2(&output, 5 + 2 * i);
        put_u2(&output, 6 + 2 * i);
        put_u2(&output, 0); /* attributes */
    }
    put_u2(&output, 0);
    if (output.failed) {
        free(output.bytes);
        return NULL;
    }
    *size_bytes = output.used;
    return output.bytes;
}
