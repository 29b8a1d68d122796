/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array of frames, and an open-addressed table of the methods in it. */
#include "converter/trace/call_stack.h"

#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

struct call_place {
    uint32_t method_id;
    uint32_t depth; /* of its innermost call, and one; 0: the slot is empty */
};

static struct call_place *place_of(const struct call_stack *stack, uint32_t method_id)
{
    size_t mask = stack->place_slots - 1;
    size_t at = (size_t) (step_hash(method_id) >> 32) & mask;
    while (stack->places[at].depth != 0 && stack->places[at].method_id != method_id)
        at = (at + 1) & mask;
    return &stack->places[at];
}

/* Room for one more method. */
static bool reserve_place(struct call_stack *stack)
{
    if (stack->place_count * 2 < stack->place_slots)
        return true;
    struct call_stack grown = {.place_slots = stack->place_slots > 0 ? stack->place_slots * 2 : 8};
    grown.places = calloc(grown.place_slots, sizeof *grown.places);
    if (grown.places == NULL)
        return false;
    for (size_t i = 0; i < stack->place_slots; i++)
        if (stack->places[i].depth != 0)
            *place_of(&grown, stack->places[i].method_id) = stack->places[i];
    free(stack->places);
    stack->places = grown.places;
    stack->place_slots = grown.place_slots;
    return true;
}

static bool reserve_frame(struct call_stack *stack)
{
    if (stack->depth < stack->capacity)
        return true;
    if (stack->capacity >= UINT32_MAX / 2)
        return false;
    struct call_frame *frames =
        step_grown(stack->frames, &stack->capacity, stack->depth + 1, sizeof *frames);
    if (frames == NULL)
        return false;
    stack->frames = frames;
    return true;
}

bool call_stack_push(struct call_stack *stack, const struct call_frame *frame)
{
    if (!reserve_frame(stack) || !reserve_place(stack))
        return false;
    struct call_place *place = place_of(stack, frame->method_id);
    stack->place_count += place->depth == 0;
    stack->frames[stack->depth] = *frame;
    stack->frames[stack->depth].outer = place->depth != 0 ? place->depth - 1 : 0;
    place->method_id = frame->method_id;
    place->depth = (uint32_t) ++stack->depth + 1;
    return true;
}

size_t call_stack_find(const struct call_stack *stack, uint32_t method_id)
{
    const struct call_place *place = stack->place_slots > 0 ? place_of(stack, method_id) : NULL;
    return place != NULL && place->depth != 0 ? place->depth - 1 : 0;
}

const struct call_frame *call_stack_pop(struct call_stack *stack)
{
    const struct call_frame *frame = &stack->frames[--stack->depth];
    place_of(stack, frame->method_id)->depth = frame->outer + 1;
    return frame;
}

void call_stack_cut(struct call_stack *stack, size_t depth)
{
    while (stack->depth > depth)
        call_stack_pop(stack);
}

void call_stack_reset(struct call_stack *stack)
{
    free(stack->frames);
    free(stack->places);
    *stack = (struct call_stack){0};
}
