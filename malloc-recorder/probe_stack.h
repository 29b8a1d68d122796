/* SPDX-License-Identifier: Apache-2.0 */
/* Call stacks of allocations: a record before that of the event. */
#ifndef MALLOC_RECORDER_PROBE_STACK_H
#define MALLOC_RECORDER_PROBE_STACK_H

#include "malloc-recorder/probe_threads.h"

/* Records the calling thread's stack as that of its next event. */
void probe_put_stack(struct recorder_thread *thread, struct recording *recording);

/* Does so if stacks are enabled, before a record of that many words. */
static inline void probe_record_stack(struct recorder_thread *thread, struct recording *recording,
                                      size_t words)
{
    if (__builtin_expect(recording->options.stack == 0, 1))
        return;
    /* a chunk that begins between the two would not have the stack */
    if (probe_reserve(recording, thread->stream, words + 1) != NULL)
        probe_put_stack(thread, recording);
}

#endif
