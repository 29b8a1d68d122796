/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the new place of each instruction. Probes before an instruction come after its label, so
 * that jumps run them. Probes after it come before the next label, so that jumps to the next one do
 * not. */
#include "agent/rewriter/stores.h"

#define CALL_BYTES 3u /* invokestatic */
#define ROUNDS 20     /* each widens at least one jump; more than a few have never been seen */

/* One more than C2's FreqInlineSize: it inlines no larger method. Inlining does not help methods
 * full of probe calls, and takes C2 several times as long. */
#define NOT_INLINED 326u

static uint32_t dimension_push_bytes(uint32_t dimensions)
{
    return dimensions <= 5 ? 1 : dimensions <= 127 ? 2 : 3;
}

static uint32_t guard_bytes(const struct method_code *method, uint32_t variable)
{
    return 2 * variable_bytes(variable) + method->push.size + CALL_BYTES + 2; /* aconst_null pop */
}

uint32_t guard_start(struct guard guard)
{
    return guard.place + variable_bytes(guard.variable);
}

uint32_t guard_end(const struct method_code *method, struct guard guard)
{
    return guard_start(guard) + method->push.size + CALL_BYTES;
}

uint32_t guard_handler(const struct method_code *method, struct guard guard)
{
    return guard_end(method, guard) + 1;
}

uint32_t guarded_locals(const struct method_code *method)
{
    uint32_t more = method->more_locals;
    if (more == 0)
        more = method->catches || (has_unwinding(method) && method->max_locals == 0);
    return method->max_locals + more;
}

/* Bytes before a return: alloc() and constructed() in Object.<init>, exit() or call() in all
 * methods. */
static uint32_t return_bytes(const struct method_code *method)
{
    uint32_t bytes = 0;
    if (method->object_init && method->alloc)
        bytes += 1 + CALL_BYTES;
    if (method->object_init && has_constructed(method))
        bytes += method->push.size + 1 + CALL_BYTES;
    if (method->number != 0)
        bytes += method->push.size + CALL_BYTES;
    return bytes;
}

uint32_t bytes_before(const struct method_code *method, uint32_t offset)
{
    uint32_t marks = method->marks[offset], bytes = 0;
    if ((marks & (MARK_CAUGHT | MARK_RETURN | MARK_ARRAYS_CALL | MARK_CLONED | MARK_KEEP |
                  MARK_CONSTRUCTED | MARK_STORE | MARK_STORE_CALL)) == 0)
        return 0;
    if (has_super_call(method, offset))
        bytes += method->push.size + CALL_BYTES;
    if ((marks & MARK_CAUGHT) != 0)
        bytes += guard_bytes(method, method->max_locals);
    if ((marks & MARK_RETURN) != 0)
        bytes += return_bytes(method);
    if ((marks & (MARK_ARRAYS_CALL | MARK_CLONED)) != 0)
        bytes += 1; /* dup_x1, dup */
    if ((marks & MARK_KEEP) != 0)
        bytes += 1 + CALL_BYTES; /* dup */
    return bytes + store_bytes_before(method, offset);
}

static uint32_t constructed_bytes(const struct method_code *method, uint32_t marks)
{
    if (begins_late(method))
        return method->push.size + CALL_BYTES;
    return (has_constructed(method) ? method->push.size + 1 + CALL_BYTES : 0) +
           ((marks & MARK_NO_THIS) != 0 ? 0 : store_early_bytes(method));
}

/* Bytes of the probes of a new object. */
static uint32_t result_bytes(const struct method_code *method, uint32_t offset)
{
    uint32_t marks = method->marks[offset];
    if ((marks & (MARK_ALLOC | MARK_CLONED)) != 0)
        return 1 + CALL_BYTES; /* dup, dup_x1 */
    if ((marks & MARK_VARIABLE) != 0)
        return 3 + CALL_BYTES; /* dup, aload */
    if ((marks & MARK_ARRAYS) != 0)
        return 1 + dimension_push_bytes(method->code[offset + 3]) + CALL_BYTES;
    if ((marks & MARK_ARRAYS_CALL) != 0)
        return 3 + CALL_BYTES; /* dup_x1 swap arraylength */
    if ((marks & MARK_CONSTRUCTED) != 0)
        return constructed_bytes(method, marks);
    return 0;
}

static uint32_t bytes_after(const struct method_code *method, uint32_t offset)
{
    return result_bytes(method, offset) + store_bytes_after(method, offset);
}

static uint32_t prologue_bytes(const struct method_code *method)
{
    if (method->number == 0 || method->leaf || begins_late(method))
        return 0;
    bool pass_object = (!has_plain_entry(method) && !method->constructor && !method->object_init) ||
                       passes_variable(method);
    return method->push.size + pass_object + CALL_BYTES;
}

/* Returns the size of the instruction at `offset` if its new place is `place`. */
static uint32_t new_size(const struct method_code *method, uint32_t offset, uint32_t size,
                         uint32_t place)
{
    uint32_t opcode = method->code[offset];
    if (opcode_is_switch(opcode))
        return size - (switch_operands(offset) - offset) + (switch_operands(place) - place);
    if ((method->marks[offset] & MARK_WIDE) == 0)
        return size;
    return opcode == 0xA7 || opcode == 0xA8 ? 5 : 8;
}

uint32_t slot_trampolines(const struct method_code *method, uint32_t offset,
                          const struct trampoline **first)
{
    uint32_t i = 0, count = 0;
    if ((method->marks[offset] & MARK_SLOT) == 0)
        return 0;
    while (i < method->trampoline_count && method->trampolines[i].slot < offset)
        i++;
    *first = method->trampolines + i;
    while (i + count < method->trampoline_count && method->trampolines[i + count].slot == offset)
        count++;
    return count;
}

static uint32_t slot_bytes(const struct method_code *method, uint32_t offset)
{
    const struct trampoline *first;
    uint32_t count = slot_trampolines(method, offset, &first);
    if (count == 0)
        return 0;
    return count * 5 + ((method->marks[offset] & MARK_FALLS_IN) != 0 ? 3 : 0);
}

uint32_t range_end(const struct method_code *method, uint32_t offset)
{
    return method->map[offset] - (offset < method->length ? slot_bytes(method, offset) : 0);
}

static void place_slot(struct method_code *method, uint32_t offset, uint32_t place)
{
    place += (method->marks[offset] & MARK_FALLS_IN) != 0 ? 3 : 0;
    for (uint32_t i = 0; i < method->trampoline_count; i++) {
        if (method->trampolines[i].slot == offset) {
            method->trampolines[i].position = place;
            place += 5;
        }
    }
}

/* Places all instructions, with the jump sizes known so far. */
static void place_all(struct method_code *method)
{
    uint32_t place = prologue_bytes(method), size;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if ((method->marks[offset] & MARK_SLOT) != 0) {
            place_slot(method, offset, place);
            place += slot_bytes(method, offset);
        }
        method->map[offset] = place;
        place += bytes_before(method, offset);
        for (uint32_t i = 1; i < size; i++)
            method->map[offset + i] = place;
        place += new_size(method, offset, size, place) + bytes_after(method, offset);
    }
    method->map[method->length] = place;
    method->handler = place;
    method->new_length = place;
    if (!has_unwinding(method))
        return;
    method->new_length += guard_bytes(method, 0) + 1;
    if (method->file->request->apart && method->new_length < NOT_INLINED)
        method->padding = NOT_INLINED - method->new_length;
    else
        method->padding = 0;
    method->new_length += method->padding;
}

static bool reaches(uint32_t from, uint32_t to)
{
    int64_t distance = (int64_t) to - from;
    return distance >= INT16_MIN && distance <= INT16_MAX;
}

/* Returns where a jump goes: its target or its trampoline. */
static uint32_t jump_place(const struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_TRAMPOLINE) != 0)
        return trampoline_of(method, offset)->position;
    return method->map[jump_target(method, offset)];
}

static bool widen(struct method_code *method, uint32_t offset)
{
    uint32_t opcode = method->code[offset];
    if ((method->marks[offset] & MARK_TRAMPOLINE) != 0)
        return method_leave(method, "a jump has got too long");
    if (opcode == 0xA7 || opcode == 0xA8 || method->frames == NULL) {
        method->marks[offset] |= MARK_WIDE;
        return true;
    }
    return trampoline_add(method, offset);
}

/* Widens jumps that do not reach; sets *changed if there are any. */
static bool widen_all(struct method_code *method, bool *changed)
{
    uint32_t size;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if (!opcode_is_jump(method->code[offset]) || (method->marks[offset] & MARK_WIDE) != 0)
            continue;
        if (reaches(instruction_place(method, offset), jump_place(method, offset)))
            continue;
        *changed = true;
        if (!widen(method, offset))
            return false;
    }
    return true;
}

bool code_layout(struct method_code *method)
{
    bool prepared = false;
    method->map = arena_take(&method->file->arena, (method->length + 1) * sizeof *method->map);
    if (method->map == NULL)
        return method_no_memory(method);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool changed = false;
        place_all(method);
        if (method->new_length > CODE_LIMIT)
            return method_leave(method, "its code would be larger than 65535 bytes");
        if (method->new_length <= INT16_MAX)
            return true;
        if (!prepared && method->frames != NULL && !trampolines_prepare(method))
            return false;
        prepared = true;
        if (!widen_all(method, &changed))
            return false;
        if (!changed)
            return true;
    }
    return method_leave(method, "its jumps do not settle");
}
