/* SPDX-License-Identifier: Apache-2.0 */
/* Where the program allocates: a record before that of the event. */
#ifndef MALLOC_RECORDER_PROBE_STACK_H
#define MALLOC_RECORDER_PROBE_STACK_H

#include "malloc-recorder/probe_threads.h"

/* The calling thread's stack is that of what it records next. */
void probe_put_stack(struct recorder_thread *thread, struct recording *recording);

/* The same, if stacks are wanted, before a record of that many words. */
static inline void probe_record_stack(struct recorder_thread *thread, struct recording *recording,
                                      size_t words)
{
    if (__builtin_expect(recording->options.stack == 0, 1))
        return;
    /* a chunk that begins between the two would not know of it */
    if (probe_reserve(recording, thread->stream, words + 1) != NULL)
        probe_put_stack(thread, recording);
}

#endif
