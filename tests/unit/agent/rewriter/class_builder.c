/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/agent/rewriter/class_builder.h"

#include <stdlib.h>

static uint32_t count;

static void put_text(struct class_output *output, const char *text)
{
    put_u1(output, 1);
    put_u2(output, (uint32_t) strlen(text));
    put_bytes(output, text, strlen(text));
    count++;
}

static void put_one(struct class_output *output, uint32_t tag, uint32_t index)
{
    put_u1(output, tag);
    put_u2(output, index);
    count++;
}

static void put_two(struct class_output *output, uint32_t tag, uint32_t first, uint32_t second)
{
    put_u1(output, tag);
    put_u2(output, first);
    put_u2(output, second);
    count++;
}

static void put_pool(struct class_output *output, const struct built_method *method)
{
    count = 1;
    put_text(output, method->class_name != NULL ? method->class_name : "T");
    put_one(output, 7, 1);
    put_text(output, "java/lang/Object");
    put_one(output, 7, 3);
    put_text(output, method->name != NULL ? method->name : "m");
    put_text(output, method->descriptor != NULL ? method->descriptor : "()V");
    put_text(output, "Code");
    put_text(output, "StackMapTable");
    put_text(output, "LineNumberTable");
    put_text(output, "LocalVariableTable");
    put_text(output, "<init>");
    put_text(output, "()V");
    put_two(output, 12, 11, 12);
    put_text(output, "[I");
    put_two(output, 10, 4, 13); /* 15 */
    put_one(output, 7, 14);
    put_text(output, "clone");
    put_two(output, 12, 17, 20);
    put_two(output, 10, 16, 18);
    put_text(output, "()Ljava/lang/Object;"); /* 20 */
    put_text(output, "Foo");
    put_text(output, "RuntimeVisibleTypeAnnotations");
    put_text(output, "java/util/Arrays");
    put_one(output, 7, 23);
    put_text(output, "copyOf"); /* 25 */
    put_text(output, "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;");
    put_two(output, 12, 25, 26);
    put_text(output, "java/lang/reflect/Array");
    put_two(output, 10, 24, 27);
    put_one(output, 7, 28); /* 30 */
    put_text(output, "multiNewArray");
    put_text(output, "(Ljava/lang/Class;[I)Ljava/lang/Object;");
    put_two(output, 12, 31, 32);
    put_text(output, "unused");
    put_two(output, 10, 30, 33);
    put_two(output, 10, 2, 18); /* 36 */
    put_two(output, 12, 5, 6);
    put_two(output, 10, 2, 37); /* 38 */
    put_text(output, "fillInStackTrace");
    put_text(output, "()Ljava/lang/Throwable;"); /* 40 */
    put_two(output, 12, 39, 40);
    put_two(output, 10, 2, 41); /* 42 */
    for (uint32_t i = 0; i < method->more_constants; i++) {
        put_u1(output, 3);
        put_u4(output, i);
        count++;
    }
}

static void put_method(struct class_output *output, const struct built_method *method)
{
    put_u2(output, method->access != 0 ? method->access : 9);
    put_u2(output, 5);
    put_u2(output, 6);
    put_u2(output, 1);
    put_u2(output, POOL_CODE);
    put_u4(output, 12 + method->length + 8 * method->handler_count + method->attribute_bytes);
    put_u2(output, method->max_stack);
    put_u2(output, method->max_locals);
    put_u4(output, method->length);
    put_bytes(output, method->code, method->length);
    put_u2(output, method->handler_count);
    for (uint32_t i = 0; i < 4 * method->handler_count; i++)
        put_u2(output, method->handlers[i / 4][i % 4]);
    put_u2(output, method->attribute_count);
    put_bytes(output, method->attributes, method->attribute_bytes);
}

uint8_t *build_class(const struct built_method *method, size_t *size_bytes)
{
    struct class_output output = {0};
    put_u4(&output, 0xCAFEBABE);
    put_u4(&output, method->version != 0 ? method->version : 65);
    put_u2(&output, 0);
    put_pool(&output, method);
    patch_u2(&output, 8, count);
    put_u2(&output, 0x21);
    put_u2(&output, POOL_THIS);
    put_u2(&output, POOL_OBJECT);
    put_u2(&output, 0);
    put_u2(&output, 0);
    put_u2(&output, 1);
    put_method(&output, method);
    put_u2(&output, 0);
    *size_bytes = output.used;
    return realloc(output.bytes, output.used);
}

/* Past a constant. */
static const uint8_t *next_constant(const uint8_t *at)
{
    static const uint8_t sizes[] = {0, 3, 0, 5, 5, 9, 9, 3, 3, 5, 5, 5, 5};
    return at + sizes[at[0]] + (at[0] == 1 ? load_u2(at + 1) : 0);
}

const uint8_t *find_code(const uint8_t *bytes, size_t size)
{
    const uint8_t *at = bytes + 10;
    for (uint32_t i = 1; i < load_u2(bytes + 8); i++)
        at = next_constant(at);
    at += 8 + 2; /* head, no interfaces, no fields */
    return load_u2(at) == 1 && (size_t) (at - bytes) < size ? at + 2 + 8 : NULL;
}

uint32_t code_length(const uint8_t *attribute)
{
    return load_u4(attribute + 10);
}

const uint8_t *code_bytes(const uint8_t *attribute)
{
    return attribute + 14;
}

const uint8_t *code_handlers(const uint8_t *attribute)
{
    return code_bytes(attribute) + code_length(attribute);
}

const uint8_t *code_attribute(const uint8_t *attribute, uint32_t name)
{
    const uint8_t *at = code_handlers(attribute);
    at += 2 + 8 * load_u2(at);
    uint32_t left = load_u2(at);
    for (at += 2; left > 0; left--) {
        if (load_u2(at) == name)
            return at + 6;
        at += 6 + load_u4(at + 2);
    }
    return NULL;
}
