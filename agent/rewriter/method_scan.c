/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the instructions of a method and marks where its probes go. */
#include "agent/rewriter/method_code.h"

/* super.clone() of a direct subclass of Object is always Object's. A call through an interface
 * never is, nor is one of the class's own private clone(). Otherwise the probe finds out. */
static uint32_t clone_mark(enum alloc_call kind, uint32_t opcode, bool references)
{
    if (opcode == INVOKEINTERFACE || (opcode == INVOKESPECIAL && kind == ALLOC_CALL_CLONE_OWN))
        return 0;
    if (kind == ALLOC_CALL_CLONE_ARRAY ||
        (opcode == INVOKESPECIAL && kind == ALLOC_CALL_CLONE_OBJECT))
        return references ? MARK_CLONED | MARK_CLONE_SURE : MARK_ALLOC;
    return MARK_CLONED;
}

static bool mark_call(struct method_code *method, uint32_t offset)
{
    uint32_t opcode = method->code[offset];
    enum alloc_call kind = alloc_call_of(method->file, load_u2(method->code + offset + 1));
    if (kind == ALLOC_CALL_UNKNOWN)
        return method_no_callee(method, offset);
    uint32_t mark = alloc_results[kind].mark;
    if (kind == ALLOC_CALL_CLONE || kind == ALLOC_CALL_CLONE_OWN ||
        kind == ALLOC_CALL_CLONE_OBJECT || kind == ALLOC_CALL_CLONE_ARRAY)
        mark = opcode == INVOKESTATIC ? 0 : clone_mark(kind, opcode, method->references);
    if (alloc_call_fits(kind, method))
        method->marks[offset] |= mark;
    return true;
}

static bool mark_alloc(struct method_code *method, uint32_t offset, bool silent)
{
    switch (method->code[offset]) {
    case NEWARRAY:
    case ANEWARRAY:
        method->marks[offset] |= silent ? 0 : MARK_ALLOC;
        break;
    case MULTIANEWARRAY:
        method->marks[offset] |= silent ? 0 : MARK_ARRAYS;
        break;
    case INVOKEVIRTUAL:
    case INVOKESPECIAL:
    case INVOKESTATIC:
    case INVOKEINTERFACE:
        return silent || mark_call(method, offset);
    case RETURN:
        method->marks[offset] |= method->object_init ? MARK_RETURN : 0;
        break;
    default:
        break;
    }
    return true;
}

static bool scan_code(struct method_code *method)
{
    bool silent = method->alloc && alloc_body_is_silent(method);
    uint32_t size;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if (size == 0)
            return method_malformed(method, offset, "no instruction");
        method->marks[offset] |= MARK_START;
        uint32_t opcode = method->code[offset];
        if (method->alloc && !mark_alloc(method, offset, silent))
            return false;
        if (method->references && !silent && !store_mark(method, offset))
            return false;
        if (method->number != 0 && opcode >= IRETURN && opcode <= RETURN)
            method->marks[offset] |= MARK_RETURN;
        method->touched = method->touched || (method->marks[offset] & MARKS_PROBES) != 0;
    }
    return true;
}

static bool scan_handlers(struct method_code *method)
{
    for (uint32_t i = 0; i < method->handler_count; i++) {
        const uint8_t *row = method->handlers + 8 * i;
        uint32_t start = load_u2(row), end = load_u2(row + 2), handler = load_u2(row + 4);
        if (start >= end || end > method->length || handler >= method->length ||
            (method->marks[start] & MARK_START) == 0 ||
            (end < method->length && (method->marks[end] & MARK_START) == 0) ||
            (method->marks[handler] & MARK_START) == 0)
            return class_malformed(method->file, row, "an invalid range in the exception table");
        if (method->number != 0)
            method->marks[handler] |= MARK_CAUGHT;
    }
    method->catches = method->number != 0 && method->handler_count != 0;
    return !method->catches || method->max_locals < 0xFFFF ||
           method_leave(method, "it would have more than 65535 local variables");
}

bool method_scan(struct method_code *method)
{
    size_t bytes = (method->length + 1) * sizeof *method->marks;
    memset(method->marks, 0, bytes);
    method->more_locals = 0;
    method->stores_fields = false;
    method->early = NULL;
    if (!scan_code(method) || !scan_handlers(method))
        return false;
    method->touched = method->touched || method->number != 0;
    /* the largest need beyond what the method uses: the object again and a number or another object
     */
    method->more_stack = method->number != 0 || method->references ? STORE_STACK : 1;
    for (uint32_t i = 0; method->more_stack < 2 && i < method->length; i++) {
        if ((method->marks[i] & (MARK_ARRAYS | MARK_ARRAYS_CALL | MARK_CLONED | MARK_VARIABLE)) !=
            0)
            method->more_stack = 2;
    }
    return true;
}

/* ---- leaf methods ---- */

/* Selects methods with a single probe, at their return. They do so little that no recorded event
 * can happen between their entry and their exit, and hardly any time passes: no loops, calls or
 * monitors, no allocations, and nothing that may load or initialise a class. Of constants they use
 * only numbers, and of classes and fields only those of the method's own class. */
#define LONGEST 64u /* bytes */

enum { ACCESS_SYNCHRONIZED = 0x0020 };

/* A class file usually names a class by one constant. */
static bool is_own_field(const struct class_file *file, uint32_t index)
{
    const uint8_t *field = pool_constant(file, index, CONSTANT_FIELD);
    return field != NULL && load_u2(field) == file->this_class;
}

static bool method_scan_is_number(const struct class_file *file, uint32_t index)
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
        return method_scan_is_number(file, at[1]);
    case LDC_W:
    case LDC2_W:
        return method_scan_is_number(file, load_u2(at + 1));
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
    return at[0] < RET || (at[0] >= IRETURN && at[0] < GETSTATIC);
}

bool is_leaf_method(const struct method_code *method)
{
    uint32_t size;
    if (!method->file->request->leaf || method->number == 0 || method->references ||
        method->alloc || !has_plain_entry(method) || method->handler_count != 0 ||
        method->length > LONGEST || (method->access & ACCESS_SYNCHRONIZED) != 0 ||
        method->self.name.length == 0 || method->self.name.bytes[0] == '<')
        return false;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if (!is_brief(method, offset))
            return false;
    }
    return true;
}
