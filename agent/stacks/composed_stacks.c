/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a walk is known by class, method number and bytecode index. The JVM's answer for a
 * stack has the same frames in the same order, so it tells the site of each. A stack all of whose
 * frames have a known site needs no answer of the JVM.
 *
 * The tree's numbers are found by paths: the hash of all frames from a machine frame outwards. It
 * is looked for from the innermost frame outwards, so only the frames that are new to the tree, and
 * one more, cost a look-up that waits for memory. */
#include "agent/stacks/composed_stacks.h"

#include "agent/stacks/stack_tree.h"

/* The class of a frame is known by its address, which means it until classes are unloaded, and the
 * version of a method until methods are redefined. */
static struct stack_key composed_key(const struct composed_stack *stack,
                                     const struct frame_hash *hash, uint64_t kind)
{
    uint64_t since =
        step_hash_join(step_hash_join(step_hash_join(0, kind), stack->trail->unloaded), stack->age);
    return (struct stack_key){step_hash_join(step_hash_join(hash->low, since), hash->count),
                              step_hash_join(step_hash_join(hash->high, hash->count), ~since)};
}

enum { KEY_SITE, KEY_SITE_OF_INNERMOST, KEY_PATH /* and how many frames are cut off */ };

static struct stack_key site_key(const struct composed_stack *stack,
                                 const struct walked_method *method, bool innermost)
{
    return composed_key(stack, &method->hash, innermost ? KEY_SITE_OF_INNERMOST : KEY_SITE);
}

/* Sets the path of each machine frame that has frames of the stack, and `*end` to the stack's
 * outermost frame plus one. Returns the number of those machine frames.
 *
 * The hash is a polynomial (frame_hash_join()), here put together from the outermost frame inwards;
 * so it does not depend on which methods are inlined. The outermost machine frame counts as a
 * whole: how many of its methods are not in the stack is part of the key. */
static uint32_t find_paths(const struct composed_stack *stack, uint32_t *end)
{
    struct frame_trail *trail = stack->trail;
    struct frame_hash path = {0};
    uint64_t low = 1, high = 1;
    uint32_t machine = 0, all = 0, most = stack->first + stack->wanted;
    while (machine < trail->count && all < most)
        all += trail->frames[machine++].hash.count;
    *end = all < most ? all : most;
    for (uint32_t i = machine; i-- > 0;) {
        const struct frame_hash *own = &trail->frames[i].hash;
        path.low += own->low * low;
        path.high += own->high * high;
        path.count += own->count;
        low *= frame_hash_powers.low[own->count];
        high *= frame_hash_powers.high[own->count];
        trail->frames[i].path = composed_key(stack, &path, KEY_PATH + (all - *end));
    }
    return machine;
}

/* Returns the number of the machine frame's innermost method in the stack; 0: one is not known.
 * `start` is the place of its innermost method among the frames, `parent` the number of its
 * caller. */
static uint32_t compose_frame(struct session *session, const struct composed_stack *stack,
                              const struct trail_frame *frame, uint32_t start, uint32_t end,
                              uint32_t parent)
{
    struct walked_method methods[FRAMES_INLINED_MOST];
    uint32_t count = (uint32_t) frame_walk_methods(stack->walker, frame, methods);
    uint32_t most = end - start < count ? end - start : count, site;
    uint32_t least = stack->first > start ? stack->first - start : 0;
    uint32_t number = count != 0 ? parent : 0;
    for (uint32_t i = most; count != 0 && i-- > least;) {
        struct stack_key key = site_key(stack, &methods[i], start + i == stack->first);
        if (!stack_known_find(stack_tree_sites(session->stacks), &key, &site))
            return 0;
        number = stack_tree_child(session, number, site);
        if (number == 0)
            return 0;
    }
    return number;
}

/* Goes outwards to the first path that is known, and from there inwards again. The path of the
 * innermost frame is not among those that are looked for: it may have another site than the same
 * frame further out. */
uint32_t composed_stack_number(struct session *session, const struct composed_stack *stack)
{
    struct stack_known *places = stack_tree_places(session->stacks);
    struct frame_trail *trail = stack->trail;
    uint32_t end = 0, start = 0, i = 0, number = 0;
    if (trail->count > trail->capacity)
        return 0;
    uint32_t machine = find_paths(stack, &end);
    while (i < machine &&
           !(start > stack->first && stack_known_find(places, &trail->frames[i].path, &number)))
        start += trail->frames[i++].hash.count;
    while (i > 0 && start > stack->first) {
        const struct trail_frame *frame = &trail->frames[--i];
        start -= frame->hash.count;
        number = compose_frame(session, stack, frame, start, end, number);
        if (number == 0)
            return 0;
        if (start > stack->first)
            stack_known_add(places, &frame->path, number);
    }
    return number;
}

static void learn_site(struct session *session, const struct composed_stack *stack,
                       const struct walked_method *method, const jvmtiFrameInfo *frame,
                       bool innermost, uint32_t age_of_ids)
{
    struct stack_known *sites = stack_tree_sites(session->stacks);
    struct stack_key key = site_key(stack, method, innermost);
    uint32_t site;
    if (!stack_known_find(sites, &key, &site))
        stack_known_add(sites, &key, stack_tree_site(session, frame, age_of_ids, innermost));
}

/* Goes through the stack's frames with the JVM's, and learns their sites if `learn`. Returns false
 * if they are not the same frames. */
static bool go_along(struct session *session, const struct composed_stack *stack,
                     const jvmtiFrameInfo *frames, uint32_t count, bool learn, uint32_t age_of_ids)
{
    const struct frame_trail *trail = stack->trail;
    struct walked_method methods[FRAMES_INLINED_MOST];
    uint32_t at = 0, end = stack->first + count;
    for (uint32_t i = 0; i < trail->count && at < end; i++) {
        uint32_t of_frame =
            (uint32_t) frame_walk_methods(stack->walker, &trail->frames[i], methods);
        if (of_frame == 0)
            return false;
        for (uint32_t j = 0; j < of_frame && at < end; j++, at++) {
            if (at < stack->first)
                continue;
            const jvmtiFrameInfo *frame = &frames[at - stack->first];
            if (frame->location != (jlocation) methods[j].index - 1)
                return false;
            if (learn)
                learn_site(session, stack, &methods[j], frame, at == stack->first, age_of_ids);
        }
    }
    return at == end;
}

static uint32_t frames_in(const struct frame_trail *trail)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trail->count; i++)
        count += trail->frames[i].hash.count;
    return count;
}

void composed_stack_learn(struct session *session, const struct composed_stack *stack,
                          const jvmtiFrameInfo *frames, size_t count, uint32_t age_of_ids)
{
    const struct frame_trail *trail = stack->trail;
    bool whole = trail->count <= trail->capacity &&
                 (count == stack->wanted || frames_in(trail) == stack->first + count);
    if (whole && go_along(session, stack, frames, (uint32_t) count, false, age_of_ids))
        go_along(session, stack, frames, (uint32_t) count, true, age_of_ids);
}
