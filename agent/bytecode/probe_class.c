/* SPDX-License-Identifier: Apache-2.0 */
/* The class file of the probes: a final class of static native methods, and two in Java: link(),
 * through which they are linked (probe_natives.c), and keep(). */
#include <stdlib.h>

#include "class_bytes.h"
#include "rewrite.h"

#define CLASS_VERSION 52
#define ACCESS_CLASS 0x1031  /* public final super synthetic */
#define ACCESS_METHOD 0x1109 /* public static native synthetic */
#define ACCESS_JAVA 0x1009   /* public static synthetic */

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

#define LINK_CONSTANTS (5 + 2 * PROBE_COUNT)

/* What link() names: itself, "Code", System.mapLibraryName(). */
static void put_link_constants(struct class_output *output)
{
    put_utf8(output, "link");
    put_utf8(output, "(Ljava/lang/String;)V");
    put_utf8(output, "Code");
    put_class(output, "java/lang/System", LINK_CONSTANTS + 3);
    put_utf8(output, "mapLibraryName");
    put_utf8(output, "(Ljava/lang/String;)Ljava/lang/String;");
    put_u1(output, 12); /* name and type */
    put_u2(output, LINK_CONSTANTS + 5);
    put_u2(output, LINK_CONSTANTS + 6);
    put_u1(output, 10); /* method */
    put_u2(output, LINK_CONSTANTS + 4);
    put_u2(output, LINK_CONSTANTS + 7);
}

/* static void link(String name) { System.mapLibraryName(name); } */
static void put_link_method(struct class_output *output)
{
    static const uint8_t code[] = {0x2a, 0xb8, 0, LINK_CONSTANTS + 8, 0x57, 0xb1};
    put_u2(output, ACCESS_JAVA);
    put_u2(output, LINK_CONSTANTS);
    put_u2(output, LINK_CONSTANTS + 1);
    put_u2(output, 1);
    put_u2(output, LINK_CONSTANTS + 2);
    put_u4(output, 12 + sizeof code);
    put_u2(output, 1); /* stack */
    put_u2(output, 1); /* locals */
    put_u4(output, sizeof code);
    put_bytes(output, code, sizeof code);
    put_u2(output, 0); /* handlers */
    put_u2(output, 0); /* attributes */
}

#define KEEP_CONSTANTS (LINK_CONSTANTS + 9)
#define KEEP_NOPS 400 /* C2 inlines hot methods up to 325 bytes, FreqInlineSize */

static void put_keep_constants(struct class_output *output)
{
    put_utf8(output, "keep");
    put_utf8(output, "(Ljava/lang/Object;)V");
    put_utf8(output, "StackMapTable");
}

/* static void keep(Object object) {}, too large to be inlined: a jump over nops. */
static void put_keep_method(struct class_output *output)
{
    static const uint8_t frames[] = {0, KEEP_CONSTANTS + 2, 0, 0, 0, 6, 0, 2, 3, 251};
    const uint32_t length = 3 + KEEP_NOPS + 1;
    put_u2(output, ACCESS_JAVA);
    put_u2(output, KEEP_CONSTANTS);
    put_u2(output, KEEP_CONSTANTS + 1);
    put_u2(output, 1);
    put_u2(output, LINK_CONSTANTS + 2);
    put_u4(output, 12 + length + sizeof frames + 2);
    put_u2(output, 0); /* stack */
    put_u2(output, 1); /* locals */
    put_u4(output, length);
    put_u1(output, 0xa7);
    put_u2(output, length - 1);
    for (uint32_t i = 0; i < KEEP_NOPS; i++)
        put_u1(output, 0);
    put_u1(output, 0xb1);
    put_u2(output, 0); /* handlers */
    put_u2(output, 1); /* attributes */
    put_bytes(output, frames, sizeof frames);
    put_u2(output, KEEP_NOPS - 1); /* from the first nop to the return */
}

/* Constants 1 to 4 are the class and its superclass, then come names and descriptors by turns, then
 * link()'s and keep()'s. */
uint8_t *probe_class_file(size_t *size_bytes)
{
    struct class_output output = {0};
    put_u4(&output, 0xCAFEBABE);
    put_u4(&output, CLASS_VERSION);
    put_u2(&output, KEEP_CONSTANTS + 3);
    put_class(&output, PROBE_CLASS, 1);
    put_class(&output, "java/lang/Object", 3);
    for (uint32_t i = 0; i < PROBE_COUNT; i++) {
        put_utf8(&output, methods[i].name);
        put_utf8(&output, methods[i].descriptor);
    }
    put_link_constants(&output);
    put_keep_constants(&output);
    put_u2(&output, ACCESS_CLASS);
    put_u2(&output, 2);
    put_u2(&output, 4);
    put_u2(&output, 0); /* interfaces */
    put_u2(&output, 0); /* fields */
    put_u2(&output, PROBE_COUNT + 2);
    for (uint32_t i = 0; i < PROBE_COUNT; i++) {
        put_u2(&output, ACCESS_METHOD);
        put_u2(&output, 5 + 2 * i);
        put_u2(&output, 6 + 2 * i);
        put_u2(&output, 0); /* attributes */
    }
    put_link_method(&output);
    put_keep_method(&output);
    put_u2(&output, 0);
    if (output.failed) {
        free(output.bytes);
        return NULL;
    }
    *size_bytes = output.used;
    return output.bytes;
}
