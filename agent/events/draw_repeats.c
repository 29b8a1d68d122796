/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot has one generator of random numbers for the distances of all threads,
 * ThreadHeapSampler::_rnd. The constructor of each thread sets it to the thread's own address, and
 * draws the thread's first distance from it. So the n-th distance that is drawn after a thread
 * began depends on nothing but n and the thread's address, which the next thread often has again.
 * Samples with the same two share the error of their distance: N samples in groups of n are worth
 * N^2 / sum of n^2 independent ones. Addresses are known by the thread's JNIEnv, which is a part of
 * it; it is compared, never read.
 *
 * Samples in threads that began meanwhile, and in others, may repeat differently: the larger of
 * both is what the trace says. Of a group with less than a tenth of the samples only a part counts.
 */
#include "agent/events/draw_repeats.h"

#include <stdatomic.h>
#include <string.h>

#include "format/core/hash.h"

#define SLOT_BITS 16u
#define SLOTS (1u << SLOT_BITS)
#define PER_UNIT 1e9
#define FULL_PART 10u

struct counted {
    _Atomic uint64_t samples, pairs;
    _Atomic uint32_t slots[SLOTS]; /* samples by the number of the draw */
};

static struct {
    _Atomic uint64_t place, count; /* of the thread that began last; draws since then */
    /* of threads of before, and of threads that began meanwhile */
    struct counted of[DRAWS_OF_RING + 1][2];
} draws;

static void draw_repeats_clear(struct counted *counted)
{
    atomic_store(&counted->samples, 0);
    atomic_store(&counted->pairs, 0);
    memset(counted->slots, 0, sizeof counted->slots);
}

void draw_repeats_begin(bool ring_goes_on)
{
    if (!ring_goes_on)
        atomic_store(&draws.place, 0);
    for (size_t i = 0; i < 2; i++) {
        draw_repeats_clear(&draws.of[DRAWS_OF_FILE][i]);
        if (!ring_goes_on)
            draw_repeats_clear(&draws.of[DRAWS_OF_RING][i]);
    }
}

static uint64_t draw_repeats_number_of(uint64_t place, uint64_t count)
{
    return step_hash(step_hash_join(step_hash_join(0, place), count)) | 1;
}

uint64_t draw_repeats_thread(const void *place)
{
    atomic_store_explicit(&draws.count, 1, memory_order_relaxed);
    atomic_store_explicit(&draws.place, (uintptr_t) place, memory_order_relaxed);
    return draw_repeats_number_of((uintptr_t) place, 0);
}

uint64_t draw_repeats_next(void)
{
    uint64_t place = atomic_load_explicit(&draws.place, memory_order_relaxed);
    if (place == 0)
        return 0;
    return draw_repeats_number_of(place,
                                  atomic_fetch_add_explicit(&draws.count, 1, memory_order_relaxed));
}

static void count(struct counted *counted, uint64_t draw)
{
    atomic_fetch_add_explicit(&counted->samples, 1, memory_order_relaxed);
    if (draw == 0)
        return;
    uint32_t before = atomic_fetch_add_explicit(&counted->slots[draw >> (64 - SLOT_BITS)], 1,
                                                memory_order_relaxed);
    atomic_fetch_add_explicit(&counted->pairs, before, memory_order_relaxed);
}

void draw_repeats_count(uint64_t draw, bool thread_began)
{
    count(&draws.of[DRAWS_OF_FILE][thread_began], draw);
    count(&draws.of[DRAWS_OF_RING][thread_began], draw);
}

/* Returns twice the pairs of equal draws as a share of the square of the samples. Pairs that share
 * a slot by chance do not count: among SLOTS places that is a share of 1 / SLOTS, whatever the
 * number of samples. */
static double share_of(uint64_t samples, uint64_t pairs)
{
    double share = samples > 0 ? 2.0 * (double) pairs / ((double) samples * (double) samples) : 0;
    return share > 1.0 / SLOTS ? share - 1.0 / SLOTS : 0;
}

uint64_t draw_repeats_share(enum draws_of which)
{
    double most = 0;
    const struct counted *of = draws.of[which];
    uint64_t samples[2] = {atomic_load(&of[0].samples), atomic_load(&of[1].samples)};
    uint64_t all = samples[0] + samples[1];
    for (size_t i = 0; i < 2; i++) {
        double share = share_of(samples[i], atomic_load(&of[i].pairs));
        if (samples[i] * FULL_PART < all)
            share *= (double) (samples[i] * FULL_PART) / (double) all;
        most = share > most ? share : most;
    }
    return (uint64_t) (most * PER_UNIT);
}
