/* SPDX-License-Identifier: Apache-2.0 */
/* Trampolines. A conditional jump has no long form, and `if (not) skip; goto_w target` would need a
 * frame in the StackMapTable at `skip`, whose types are not in the file. The jump's target has a
 * frame, and the jump may reach that state elsewhere: so it goes to a nearby goto_w which has a
 * copy of the target's frame. Such a goto_w can be where no code runs into it or, behind a goto
 * over it, before an instruction that has its own frame. It must not be in the range of an
 * exception handler, whose frame might not fit. */
#include "agent/rewriter/method_code.h"

#define FIRST_ROOM 16u
#define MOST 1000u   /* of a method */
#define REACH 30000u /* less than a jump reaches, as more trampolines will move it away */

static void mark_frame(struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_SLOT) == 0)
        method->marks[offset] |= MARK_SLOT | MARK_FALLS_IN;
}

bool trampolines_prepare(struct method_code *method)
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

static bool make_room(struct method_code *method)
{
    if (method->trampoline_count < method->trampoline_room)
        return true;
    uint32_t room = method->trampoline_room * 2 + FIRST_ROOM;
    struct trampoline *list = arena_take(&method->file->arena, room * sizeof *list);
    if (list == NULL)
        return method_no_memory(method);
    if (method->trampoline_count > 0)
        memcpy(list, method->trampolines, method->trampoline_count * sizeof *list);
    method->trampolines = list;
    method->trampoline_room = room;
    return true;
}

bool trampoline_add(struct method_code *method, uint32_t offset)
{
    uint32_t slot = nearest_slot(method, offset), i = method->trampoline_count;
    if (slot == 0 || method->trampoline_count == MOST)
        return method_leave(method, "a jump gets too long and there is no place for a second one");
    if (!make_room(method))
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

const struct trampoline *trampoline_of(const struct method_code *method, uint32_t offset)
{
    const struct trampoline *found = method->trampolines;
    while (found->jump != offset)
        found++;
    return found;
}
