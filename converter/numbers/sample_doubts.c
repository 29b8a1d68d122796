/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the samples of all threads in the order of time, the largest of one time last. */
#include "converter/numbers/sample_doubts.h"

#include <stdlib.h>

#include "format/core/grow.h"

void sample_doubts_reset(struct sample_doubts *doubts)
{
    free(doubts->samples);
    *doubts = (struct sample_doubts){.samples = NULL};
}

bool sample_doubts_add(struct sample_doubts *doubts, uint32_t thread, uint64_t time_ns,
                       uint64_t size_bytes)
{
    if (!STEP_MAKE_ROOM(doubts->samples, doubts->room, doubts->count + 1))
        return false;
    doubts->samples[doubts->count++] = (struct doubt_sample){time_ns, size_bytes, thread};
    return true;
}

static int compare_samples(const void *one, const void *other)
{
    const struct doubt_sample *a = one, *b = other;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

void sample_doubts_sort(struct sample_doubts *doubts)
{
    if (doubts->count > 0)
        qsort(doubts->samples, doubts->count, sizeof doubts->samples[0], compare_samples);
}

bool sample_doubts_has(const struct sample_doubts *doubts, uint32_t thread, uint64_t time_ns)
{
    const struct doubt_sample wanted = {time_ns, 0, thread};
    size_t low = 0, high = doubts->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_samples(&doubts->samples[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && doubts->samples[low - 1].thread == thread &&
           doubts->samples[low - 1].size_bytes >= DOUBTS_SIZE_LEAST;
}
