/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the instructions of a method and marks where its probes go. */
#include "agent/rewriter/alloc_call.h"
#include "agent/rewriter/stores.h"

#define INVOKESPECIAL 0xB7
#define INVOKESTATIC 0xB8
#define INVOKEINTERFACE 0xB9

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
    static const uint32_t marks[] = {
        [ALLOC_CALL_NONE] = 0,
        [ALLOC_CALL_FRESH] = MARK_ALLOC,
        [ALLOC_CALL_STRING] = MARK_ALLOC,
        [ALLOC_CALL_TRACE] = MARK_ALLOC,
        [ALLOC_CALL_UNLESS] = MARK_VARIABLE,
        [ALLOC_CALL_MESSAGE] = MARK_VARIABLE,
        [ALLOC_CALL_ARRAYS] = MARK_ARRAYS_CALL,
        [ALLOC_CALL_KEEP] = MARK_KEEP,
    };
    uint32_t opcode = method->code[offset], mark;
    enum alloc_call kind = alloc_call_of(method->file, load_u2(method->code + offset + 1));
    if (kind == ALLOC_CALL_UNKNOWN)
        return method_malformed(method, offset, "a call of what is no method");
    if (kind == ALLOC_CALL_CLONE || kind == ALLOC_CALL_CLONE_OWN ||
        kind == ALLOC_CALL_CLONE_OBJECT || kind == ALLOC_CALL_CLONE_ARRAY)
        mark = opcode == INVOKESTATIC ? 0 : clone_mark(kind, opcode, method->references);
    else
        mark = marks[kind];
    if (alloc_call_fits(kind, method->file, method->descriptor, method->max_locals))
        method->marks[offset] |= mark;
    return true;
}

static bool mark_alloc(struct method_code *method, uint32_t offset, bool silent)
{
    switch (method->code[offset]) {
    case 0xBC: /* newarray */
    case 0xBD: /* anewarray */
        method->marks[offset] |= silent ? 0 : MARK_ALLOC;
        break;
    case 0xC5: /* multianewarray */
        method->marks[offset] |= silent ? 0 : MARK_ARRAYS;
        break;
    case 0xB6: /* invokevirtual */
    case 0xB7: /* invokespecial */
    case 0xB8: /* invokestatic */
    case 0xB9: /* invokeinterface */
        return silent || mark_call(method, offset);
    case 0xB1: /* return */
        method->marks[offset] |= method->object_init ? MARK_RETURN : 0;
        break;
    default:
        break;
    }
    return true;
}

#define MARKS_PROBES                                                                               \
    (MARK_RETURN | MARK_CAUGHT | MARK_ALLOC | MARK_CLONED | MARK_VARIABLE | MARK_ARRAYS |          \
     MARK_ARRAYS_CALL | MARK_KEEP | MARK_STORE | MARK_STORE_CALL)

static bool scan_code(struct method_code *method)
{
    bool silent =
        method->alloc && alloc_body_is_silent(method->file, method->name, method->descriptor);
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
        if (method->number != 0 && opcode >= 0xAC && opcode <= 0xB1)
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
            return class_malformed(method->file, row, "a range of the exception table is none");
        if (method->number != 0)
            method->marks[handler] |= MARK_CAUGHT;
    }
    method->catches = method->number != 0 && method->handler_count != 0;
    return !method->catches || method->max_locals < 0xFFFF ||
           method_leave(method, "it would have more than 65535 local variables");
}

/* The largest need beyond what the method uses: the object again and a number or another object. */
static uint32_t stack_need(const struct method_code *method)
{
    return method->number != 0 || method->references ? STORE_STACK : 1;
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
    method->more_stack = stack_need(method);
    for (uint32_t i = 0; method->more_stack < 2 && i < method->length; i++) {
        if ((method->marks[i] & (MARK_ARRAYS | MARK_ARRAYS_CALL | MARK_CLONED | MARK_VARIABLE)) !=
            0)
            method->more_stack = 2;
    }
    return true;
}
