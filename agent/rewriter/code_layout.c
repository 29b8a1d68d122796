/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the new place of each instruction. Probes before an instruction come after its label, so
 * that jumps run them. Probes after it come before the next label, so that jumps to the next one do
 * not. */
#include "agent/rewriter/method_code.h"

#define ROUNDS 20 /* each widens at least one jump; more than a few have never been seen */

/* One more than C2's FreqInlineSize: it inlines no larger method. Inlining does not help methods
 * full of probe calls, and takes C2 several times as long. */
#define NOT_INLINED 326u

uint32_t guarded_locals(const struct method_code *method)
{
    uint32_t more = method->more_locals;
    if (more == 0)
        more = method->catches || (has_unwinding(method) && method->max_locals == 0);
    return method->max_locals + more;
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
    return opcode == GOTO || opcode == JSR ? 5 : 8;
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

/* Places all instructions, with the jump sizes known so far. `map` is where a jump to the
 * instruction goes: before its probes, so that each way to it runs them. Probes after an
 * instruction are placed before the next one's `map`, so that only the way through the instruction
 * runs them. Trampolines come before both, outside of every way. */
static void place_all(struct method_code *method, bool first)
{
    uint32_t place = method->prologue_bytes, size;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if ((method->marks[offset] & MARK_SLOT) != 0) {
            place_slot(method, offset, place);
            place += slot_bytes(method, offset);
        }
        method->map[offset] = place;
        if (first)
            method->probe_bytes[offset] = code_measure(method, offset);
        place += method->probe_bytes[offset].before;
        for (uint32_t i = 1; i < size; i++)
            method->map[offset + i] = place;
        place += new_size(method, offset, size, place) + method->probe_bytes[offset].after;
    }
    method->map[method->length] = place;
    method->handler = place;
    method->new_length = place;
    if (!has_unwinding(method))
        return;
    method->new_length = guard_handler(method, unwind_guard(method)) + 1 + variable_bytes(0) + 1;
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

/* ---- trampolines ---- */

/* ---- trampolines ----
 * A conditional jump has no long form, and `if (not) skip; goto_w target` would need a frame in the
 * StackMapTable at `skip`, whose types are not in the file. The jump's target has a frame, and the
 * jump may reach that state elsewhere: so it goes to a nearby goto_w which has a copy of the
 * target's frame. Such a goto_w can be where no code runs into it or, behind a goto over it, before
 * an instruction that has its own frame. It must not be in the range of an exception handler, whose
 * frame might not fit. */

#define FIRST_ROOM 16u
#define MOST 1000u   /* of a method */
#define REACH 30000u /* less than a jump reaches, as more trampolines will move it away */

static void mark_frame(struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_SLOT) == 0)
        method->marks[offset] |= MARK_SLOT | MARK_FALLS_IN;
}

static bool trampolines_prepare(struct method_code *method)
{
    uint32_t size, before = 0;
    for (uint32_t offset = 0; offset < method->length; before = offset, offset += size) {
        size = instruction_size(method->code, method->length, offset);
        if (offset != 0 && opcode_ends_flow(method->code[before]))
            method->marks[offset] |= MARK_SLOT;
    }
    if (!stack_map_visit(method, mark_frame))
        return false;
    method->marks[0] &= ~(uint32_t) (MARK_SLOT | MARK_FALLS_IN);
    for (uint32_t i = 0; i < method->handler_count; i++) {
        const uint8_t *row = method->handlers + 8 * i;
        for (uint32_t at = load_u2(row) + 1u; at < load_u2(row + 2); at++)
            method->marks[at] &= ~(uint32_t) (MARK_SLOT | MARK_FALLS_IN);
    }
    return true;
}

/* Returns the nearest place for trampolines to a jump; 0: none. */
static uint32_t nearest_slot(const struct method_code *method, uint32_t offset)
{
    for (uint32_t distance = 1; distance < REACH; distance++) {
        uint32_t after = offset + distance, before = offset - distance;
        if (after < method->length && (method->marks[after] & MARK_SLOT) != 0 &&
            method->map[after] - method->map[offset] < REACH)
            return after;
        if (distance < offset && (method->marks[before] & MARK_SLOT) != 0 &&
            method->map[offset] - method->map[before] < REACH)
            return before;
    }
    return 0;
}

static bool code_layout_make_room(struct method_code *method)
{
    if (method->trampoline_count < method->trampoline_room)
        return true;
    uint32_t room = method->trampoline_room * 2 + FIRST_ROOM;
    struct trampoline *list = step_arena_take(&method->file->arena, room, sizeof *list);
    if (list == NULL)
        return method_no_memory(method);
    if (method->trampoline_count > 0)
        memcpy(list, method->trampolines, method->trampoline_count * sizeof *list);
    method->trampolines = list;
    method->trampoline_room = room;
    return true;
}

static bool trampoline_add(struct method_code *method, uint32_t offset)
{
    uint32_t slot = nearest_slot(method, offset), i = method->trampoline_count;
    if (slot == 0 || method->trampoline_count == MOST)
        return method_leave(method,
                            "a jump becomes too long and there is no room for a second one");
    if (!code_layout_make_room(method))
        return false;
    for (; i > 0; i--) {
        const struct trampoline *other = &method->trampolines[i - 1];
        if (other->slot < slot || (other->slot == slot && other->jump < offset))
            break;
        method->trampolines[i] = *other;
    }
    method->trampolines[i] = (struct trampoline){.jump = offset,
                                                 .target = jump_target(method, offset),
                                                 .slot = slot,
                                                 .position = method->map[slot]};
    method->trampoline_count++;
    method->marks[offset] |= MARK_TRAMPOLINE;
    return true;
}

/* ---- jumps ---- */

static bool code_layout_widen(struct method_code *method, uint32_t offset)
{
    uint32_t opcode = method->code[offset];
    if ((method->marks[offset] & MARK_TRAMPOLINE) != 0)
        return method_leave(method, "a jump became too long");
    if (opcode == GOTO || opcode == JSR || method->frames == NULL) {
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
        if (!code_layout_widen(method, offset))
            return false;
    }
    return true;
}

/* Places the instructions, and widens jumps until all reach. Placing again after each round is
 * necessary, because a wide jump moves everything behind it, and the padding of switches depends on
 * their place. The loop ends: a jump that was widened stays wide, so each round either widens one
 * more or changes nothing. ROUNDS is only a guard. Code below 32 KiB needs no second look, as every
 * jump reaches. */
bool code_layout(struct method_code *method)
{
    bool prepared = false;
    struct step_arena *arena = &method->file->arena;
    method->map = step_arena_take(arena, method->length + 1, sizeof *method->map);
    method->probe_bytes = step_arena_take(arena, method->length, sizeof *method->probe_bytes);
    if (method->map == NULL || method->probe_bytes == NULL)
        return method_no_memory(method);
    method->prologue_bytes = code_measure_prologue(method);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        bool changed = false;
        place_all(method, round == 0);
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
    return method_leave(method, "its jump offsets do not converge");
}
