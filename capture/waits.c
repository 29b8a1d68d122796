/* SPDX-License-Identifier: Apache-2.0 */
/* How long threads waited for the drain. Of more threads than the table has entries, those that
 * waited longest stay. */
#include "capture/live_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the thread's entry. If the table is full, replaces the entry with the smallest sum if
 * that is below `ns`; otherwise returns NULL. */
static struct thread_waits *waits_place_of(struct waits *waits, uint64_t thread, uint64_t ns)
{
    struct thread_waits *least = waits->threads;
    for (size_t i = 0; i < waits->count; i++) {
        if (waits->threads[i].thread == thread)
            return &waits->threads[i];
        if (waits->threads[i].sum_ns < least->sum_ns)
            least = &waits->threads[i];
    }
    if (waits->count < WAITS_THREADS)
        least = &waits->threads[waits->count++];
    else if (least->sum_ns >= ns)
        return NULL;
    *least = (struct thread_waits){.thread = thread};
    return least;
}

void waits_add(struct waits *waits, uint64_t thread, uint64_t ns)
{
    waits->sum_ns += ns;
    if (ns > waits->longest_ns)
        waits->longest_ns = ns;
    struct thread_waits *place = waits_place_of(waits, thread, ns);
    if (place == NULL)
        return;
    place->sum_ns += ns;
    if (ns > place->longest_ns)
        place->longest_ns = ns;
}

static int waits_compare(const void *a, const void *b)
{
    const struct thread_waits *left = a, *right = b;
    return (left->sum_ns < right->sum_ns) - (left->sum_ns > right->sum_ns);
}

void waits_print(const struct waits *waits, char *text, size_t size)
{
    struct thread_waits sorted[WAITS_THREADS];
    size_t count = waits->count; /* another process may have overwritten it */
    memcpy(sorted, waits->threads, sizeof sorted);
    count = count < WAITS_THREADS ? count : WAITS_THREADS;
    qsort(sorted, count, sizeof sorted[0], waits_compare);
    text[0] = '\0';
    for (size_t i = 0, used = 0; i < count && used < size; i++)
        used += (size_t) snprintf(text + used, size - used, "%s%" PRIu64 ":%" PRIu64 ":%" PRIu64,
                                  i > 0 ? "," : "", sorted[i].thread, sorted[i].sum_ns,
                                  sorted[i].longest_ns);
}
