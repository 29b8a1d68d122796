/* SPDX-License-Identifier: Apache-2.0 */
/* Selects methods with a single probe, at their return. They do so little that no recorded event
 * can happen between their entry and their exit, and hardly any time passes: no loops, calls or
 * monitors, no allocations, and nothing that may load or initialise a class. Of constants they use
 * only numbers, and of classes and fields only those of the method's own class. */
#include "agent/rewriter/method_code.h"

#define LONGEST 64u /* bytes */

enum { ACCESS_SYNCHRONIZED = 0x0020 };

enum {
    LDC = 0x12,
    LDC_W = 0x13,
    LDC2_W = 0x14,
    JSR = 0xA8,
    RET = 0xA9,
    RETURNS = 0xAC,
    GETSTATIC = 0xB2,
    PUTSTATIC = 0xB3,
    GETFIELD = 0xB4,
    PUTFIELD = 0xB5,
    ARRAYLENGTH = 0xBE,
    CHECKCAST = 0xC0,
    INSTANCEOF = 0xC1
};

/* A class file usually names a class by one constant. */
static bool is_own_field(const struct class_file *file, uint32_t index)
{
    const uint8_t *field = pool_constant(file, index, CONSTANT_FIELD);
    return field != NULL && load_u2(field) == file->this_class;
}

static bool is_number(const struct class_file *file, uint32_t index)
{
    return pool_constant(file, index, CONSTANT_INTEGER) != NULL ||
           pool_constant(file, index, CONSTANT_FLOAT) != NULL ||
           pool_constant(file, index, CONSTANT_LONG) != NULL ||
           pool_constant(file, index, CONSTANT_DOUBLE) != NULL;
}

/* A thread that runs a static method has waited for the initialisation of its class. */
static bool is_brief(const struct method_code *method, uint32_t offset)
{
    const struct class_file *file = method->file;
    const uint8_t *at = method->code + offset;
    switch (at[0]) {
    case LDC:
        return is_number(file, at[1]);
    case LDC_W:
    case LDC2_W:
        return is_number(file, load_u2(at + 1));
    case GETSTATIC:
    case PUTSTATIC:
        return (method->access & ACCESS_STATIC) != 0 && is_own_field(file, load_u2(at + 1));
    case GETFIELD:
    case PUTFIELD:
        return is_own_field(file, load_u2(at + 1));
    case CHECKCAST:
    case INSTANCEOF:
        return load_u2(at + 1) == file->this_class;
    case ARRAYLENGTH:
        return true;
    default:
        break;
    }
    if (opcode_is_jump(at[0]))
        return at[0] != JSR && jump_target(method, offset) > offset;
    return at[0] < RET || (at[0] >= RETURNS && at[0] < GETSTATIC);
}

bool is_leaf_method(const struct method_code *method)
{
    uint32_t size;
    if (!method->file->request->leaf || method->number == 0 || method->references ||
        method->alloc || !has_plain_entry(method) || method->handler_count != 0 ||
        method->length > LONGEST || (method->access & ACCESS_SYNCHRONIZED) != 0 ||
        method->name.length == 0 || method->name.bytes[0] == '<')
        return false;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if (!is_brief(method, offset))
            return false;
    }
    return true;
}
