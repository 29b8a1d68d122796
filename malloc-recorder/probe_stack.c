/* SPDX-License-Identifier: Apache-2.0 */
/* Writes call stacks as raw records. */
#include "malloc-recorder/probe_stack.h"

#include "malloc-recorder/stacks/frame_tree.h"
#include "malloc-recorder/stacks/stack_walk.h"

static int define_frame(void *user, uint64_t frame, uint64_t parent, uintptr_t address)
{
    struct recording *recording = user;
    uint64_t *room = probe_reserve(recording, recording->global, 3);
    if (room == NULL)
        return 0;
    room[0] = (uint64_t) STEP_LIVE_HEAP_FRAME | frame << STEP_LIVE_KIND_BITS;
    room[1] = parent;
    room[2] = address;
    live_commit(recording->global, 3, 0);
    return 1;
}

void probe_put_stack(struct recorder_thread *thread, struct recording *recording)
{
    /* use little of the program's stack */
    uintptr_t *addresses = __builtin_alloca(recording->options.stack * sizeof *addresses);
    unsigned depth = stack_walk(addresses, recording->options.stack, thread->stack_end,
                                (uintptr_t) __builtin_return_address(0));
    uint64_t frame = frame_tree_put(addresses, depth, define_frame, recording);
    uint64_t *room = probe_reserve(recording, thread->stream, 1);
    if (room == NULL || frame == thread->stream->stack)
        return;
    room[0] = live_word(STEP_LIVE_STACK, frame);
    thread->stream->stack = frame;
    live_commit(thread->stream, 1, 0);
}
