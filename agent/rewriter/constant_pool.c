/* SPDX-License-Identifier: Apache-2.0 */
/* The constant pool: offsets and texts of constants, and the constants that probes need.
 *
 * Constants are only added, behind those of the file. Code and attributes name constants by index,
 * so every old one keeps its place, and whatever is not rewritten is copied byte by byte. The bytes
 * of the new ones are collected apart (`added`), because the pool stands before all that uses it
 * and its end is known last: class_rewrite.c puts the parts together.
 *
 * Index 0 is no constant, in class files as here. A function that cannot add a constant has noted
 * why (class_fault()) and returns 0, and those that combine constants pass a 0 on. So a caller that
 * needs five constants checks once.
 *
 * A class file may come from anywhere. pool_parse() checks that each constant lies in the file, and
 * nothing else: whether an index leads to a constant of the right kind is checked where it is
 * followed (pool_constant()), since most constants are never looked at. */
#include "agent/rewriter/class_file.h"

#include <stdio.h>

#include "format/core/grow.h"

#define POOL_LIMIT 65535u

const struct probe_method probe_methods[PROBES_CALLED] = {
#define PROBE_ROW(name, text, descriptor) {text, descriptor},
    PROBE_METHODS(PROBE_ROW)
#undef PROBE_ROW
        [PROBE_KEEP] = {"keep", "(Ljava/lang/Object;)V"},
    [PROBE_COPIED] = {"copied", "(Ljava/lang/Object;ILjava/lang/Object;II)V"},
};

bool output_reserve(struct class_output *output, size_t count)
{
    if (output->failed)
        return false;
    if (!STEP_MAKE_ROOM(output->bytes, output->room, output->used + count)) {
        output->failed = true;
        output->room = output->used; /* nothing fits from now on */
    }
    return !output->failed;
}

/* Size of a constant including its tag; 0: unknown tag. */
static const uint8_t constant_sizes[21] = {
    [1] = 3,  [3] = 5,  [4] = 5,  [5] = 9,  [6] = 9,  [7] = 3,  [8] = 3,  [9] = 5,  [10] = 5,
    [11] = 5, [12] = 5, [15] = 4, [16] = 3, [17] = 5, [18] = 5, [19] = 3, [20] = 3,
};

bool class_fault(struct class_file *file, enum rewrite_result result, size_t offset,
                 const char *message)
{
    if (file->result > REWRITE_UNCHANGED)
        return false;
    file->result = result;
    file->error.offset = offset;
    snprintf(file->error.message, sizeof file->error.message, "%s", message);
    return false;
}

bool pool_parse(struct class_file *file)
{
    uint32_t count = load_u2(file->bytes + 8);
    size_t at = 10;
    file->arena.limit = CLASS_FILE_MEMORY;
    file->constant_count = count;
    file->constants = step_arena_zeroed(&file->arena, count * sizeof *file->constants);
    file->callee_kinds = step_arena_zeroed(&file->arena, count);
    if (file->constants == NULL || file->callee_kinds == NULL)
        return class_fault(file, REWRITE_NO_MEMORY, 0, "out of memory");
    for (uint32_t i = 1; i < count; i++) {
        if (file->size - at < 3)
            return class_malformed(file, file->bytes + at, "the constant pool is truncated");
        uint32_t tag = file->bytes[at];
        size_t size = tag < sizeof constant_sizes ? constant_sizes[tag] : 0;
        if (size == 0)
            return class_malformed(file, file->bytes + at, "unknown constant");
        if (tag == CONSTANT_UTF8)
            size += load_u2(file->bytes + at + 1);
        if (file->size - at < size)
            return class_malformed(file, file->bytes + at, "the constant pool is truncated");
        file->constants[i] = (uint32_t) at;
        at += size;
        /* these two take two indices, of which the second is none (JVMS 4.4.5) */
        i += tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE;
        if (i == count)
            return class_malformed(file, file->bytes + at, "a constant beyond the constant pool");
    }
    file->pool_end = at;
    file->added_count = count;
    return true;
}

const uint8_t *pool_constant(const struct class_file *file, uint32_t index, uint32_t tag)
{
    if (index >= file->constant_count || file->constants[index] == 0)
        return NULL;
    const uint8_t *bytes = file->bytes + file->constants[index];
    return bytes[0] == tag ? bytes + 1 : NULL;
}

bool pool_text(struct class_file *file, uint32_t index, struct class_text *text)
{
    const uint8_t *bytes = pool_constant(file, index, CONSTANT_UTF8);
    if (bytes == NULL)
        return class_malformed(file, file->bytes + 8, "an invalid index of a name");
    text->length = load_u2(bytes);
    text->bytes = bytes + 2;
    return true;
}

bool pool_class_name(struct class_file *file, uint32_t index, struct class_text *name)
{
    const uint8_t *bytes = pool_constant(file, index, CONSTANT_CLASS);
    if (bytes == NULL)
        return class_malformed(file, file->bytes + 8, "an invalid index of a class");
    return pool_text(file, load_u2(bytes), name);
}

static bool read_member(struct class_file *file, const uint8_t *bytes, const char *fault,
                        struct class_callee *callee)
{
    const uint8_t *type =
        bytes != NULL ? pool_constant(file, load_u2(bytes + 2), CONSTANT_NAME_AND_TYPE) : NULL;
    if (type == NULL)
        return class_malformed(file, file->bytes + 8, fault);
    return pool_class_name(file, load_u2(bytes), &callee->owner) &&
           pool_text(file, load_u2(type), &callee->name) &&
           pool_text(file, load_u2(type + 2), &callee->descriptor);
}

bool pool_callee(struct class_file *file, uint32_t index, struct class_callee *callee)
{
    const uint8_t *bytes = pool_constant(file, index, CONSTANT_METHOD);
    if (bytes == NULL)
        bytes = pool_constant(file, index, CONSTANT_INTERFACE_METHOD);
    return read_member(file, bytes, "an invalid index of a method", callee);
}

bool pool_field(struct class_file *file, uint32_t index, struct class_callee *field)
{
    return read_member(file, pool_constant(file, index, CONSTANT_FIELD),
                       "an invalid index of a field", field);
}

bool class_has_callee(const uint8_t *bytes, size_t size_bytes,
                      bool (*is_wanted)(void *context, const struct class_callee *callee),
                      void *context)
{
    struct class_file file = {.bytes = bytes, .size = size_bytes, .result = REWRITE_UNCHANGED};
    bool has = false;
    if (size_bytes >= 10 && load_u4(bytes) == 0xCAFEBABE && pool_parse(&file))
        for (uint32_t i = 1; i < file.constant_count && !has; i++) {
            struct class_callee callee;
            uint32_t tag = file.constants[i] != 0 ? bytes[file.constants[i]] : 0;
            has = (tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD) &&
                  pool_callee(&file, i, &callee) && is_wanted(context, &callee);
        }
    step_arena_reset(&file.arena);
    return has;
}

bool callee_texts(struct class_file *file, const struct class_callee *callee, char *texts[3])
{
    const struct class_text from[3] = {callee->owner, callee->name, callee->descriptor};
    for (size_t i = 0; i < 3; i++) {
        texts[i] = step_arena_text(&file->arena, (const char *) from[i].bytes, from[i].length);
        if (texts[i] == NULL)
            return class_fault(file, REWRITE_NO_MEMORY, 0, "out of memory");
    }
    return true;
}

uint32_t type_next(struct class_text descriptor, size_t *at)
{
    size_t start = *at, end = start;
    while (end < descriptor.length && descriptor.bytes[end] == '[')
        end++;
    if (end >= descriptor.length)
        return 0;
    if (descriptor.bytes[end] == 'L')
        while (end + 1 < descriptor.length && descriptor.bytes[end] != ';')
            end++;
    *at = end + 1;
    return descriptor.bytes[start] != 0 ? descriptor.bytes[start] : 'I'; /* 0 is the end */
}

bool text_is(struct class_text text, const char *wanted)
{
    for (size_t i = 0; i < text.length; i++)
        if (wanted[i] == '\0' || text.bytes[i] != (uint8_t) wanted[i])
            return false;
    return wanted[text.length] == '\0';
}

uint32_t pool_add(struct class_file *file, uint32_t tag)
{
    if (file->added_count >= POOL_LIMIT) {
        class_fault(file, REWRITE_UNSUPPORTED, 8, "the constant pool is full");
        return 0;
    }
    put_u1(&file->added, tag);
    return file->added_count++;
}

static uint32_t add_bytes(struct class_file *file, struct class_text text)
{
    uint32_t index = pool_add(file, CONSTANT_UTF8);
    if (index == 0)
        return 0;
    put_u2(&file->added, (uint32_t) text.length);
    put_bytes(&file->added, text.bytes, text.length);
    return index;
}

static struct class_text constant_pool_text_of(const char *text)
{
    return (struct class_text){(const uint8_t *) text, strlen(text)};
}

uint32_t pool_add_text(struct class_file *file, const char *text)
{
    return add_bytes(file, constant_pool_text_of(text));
}

static uint32_t add_pair(struct class_file *file, uint32_t tag, uint32_t first, uint32_t second)
{
    uint32_t index = first != 0 && second != 0 ? pool_add(file, tag) : 0;
    if (index == 0)
        return 0;
    put_u2(&file->added, first);
    put_u2(&file->added, second);
    return index;
}

static uint32_t add_class_of(struct class_file *file, struct class_text name)
{
    uint32_t text = add_bytes(file, name);
    uint32_t index = text != 0 ? pool_add(file, CONSTANT_CLASS) : 0;
    if (index != 0)
        put_u2(&file->added, text);
    return index;
}

uint32_t pool_add_class(struct class_file *file, const char *name)
{
    return add_class_of(file, constant_pool_text_of(name));
}

uint32_t pool_add_member(struct class_file *file, uint32_t tag, uint32_t owner, const char *name,
                         const char *descriptor)
{
    uint32_t name_index = pool_add_text(file, name);
    uint32_t descriptor_index = pool_add_text(file, descriptor);
    uint32_t type = add_pair(file, CONSTANT_NAME_AND_TYPE, name_index, descriptor_index);
    return add_pair(file, tag, owner, type);
}

static bool same_text(struct class_text left, struct class_text right)
{
    return left.length == right.length && memcmp(left.bytes, right.bytes, left.length) == 0;
}

/* Returns the file's class constant with that name; 0: there is none. */
static uint32_t find_class(struct class_file *file, struct class_text name)
{
    for (uint32_t i = 1; i < file->constant_count; i++) {
        const uint8_t *constant = file->bytes + file->constants[i];
        uint32_t text =
            file->constants[i] != 0 && constant[0] == CONSTANT_CLASS ? load_u2(constant + 1) : 0;
        if (text == 0 || text >= file->constant_count || file->constants[text] == 0)
            continue;
        constant = file->bytes + file->constants[text];
        if (constant[0] == CONSTANT_UTF8 &&
            same_text((struct class_text){constant + 3, load_u2(constant + 1)}, name))
            return i;
    }
    return 0;
}

/* Stack maps name classes again and again. The search of the pool is linear, so its result is kept
 * by name, whether the constant is the file's or a new one; without memory for that, the next call
 * searches again. */
uint32_t pool_class(struct class_file *file, struct class_text name)
{
    const struct added_class *known = file->added_classes;
    while (known != NULL && !same_text(known->name, name))
        known = known->next;
    if (known != NULL)
        return known->index;
    uint32_t index = find_class(file, name);
    if (index == 0)
        index = add_class_of(file, name);
    struct added_class *fresh = index != 0 ? step_arena_take(&file->arena, 1, sizeof *fresh) : NULL;
    if (fresh != NULL) {
        *fresh = (struct added_class){file->added_classes, name, index};
        file->added_classes = fresh;
    }
    return index;
}

uint32_t pool_probe(struct class_file *file, enum probe probe)
{
    if (file->probes[probe] == 0) {
        if (file->probe_class == 0)
            file->probe_class = (uint16_t) pool_add_class(file, PROBE_CLASS);
        file->probes[probe] =
            (uint16_t) pool_add_member(file, CONSTANT_METHOD, file->probe_class,
                                       probe_methods[probe].name, probe_methods[probe].descriptor);
    }
    return file->probes[probe];
}

uint32_t pool_throwable(struct class_file *file)
{
    if (file->throwable == 0)
        file->throwable = (uint16_t) pool_add_class(file, "java/lang/Throwable");
    return file->throwable;
}

uint32_t pool_frames_name(struct class_file *file)
{
    if (file->frames_name == 0)
        file->frames_name = (uint16_t) pool_add_text(file, "StackMapTable");
    return file->frames_name;
}

static uint32_t add_integer(struct class_file *file, uint32_t value)
{
    uint32_t index = pool_add(file, CONSTANT_INTEGER);
    if (index != 0)
        put_u4(&file->added, value);
    return index;
}

/* The shortest instruction that pushes the number: iconst_N, bipush, sipush, or ldc_w of a
 * constant. The number of a method is pushed at each of its probes, and methods have room for 8,000
 * bytes before the JVM no longer compiles them. */
bool pool_push(struct class_file *file, uint32_t number, struct code_push *push)
{
    if (number <= 5) {
        *push = (struct code_push){{(uint8_t) (3 + number)}, 1};
    } else if (number <= 127) {
        *push = (struct code_push){{0x10, (uint8_t) number}, 2};
    } else {
        push->bytes[0] = number <= 32767 ? 0x11 : 0x13;
        push->size = 3;
        uint32_t operand = number <= 32767 ? number : add_integer(file, number);
        if (operand == 0)
            return false;
        store_u2(push->bytes + 1, operand);
    }
    return true;
}
