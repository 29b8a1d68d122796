/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples a biased JVM may have taken without reason (docs/engine-sampled.md): before JDK 25
 * only those whose thread has allocated outside of its buffer since its last sample.  An object
 * that is large enough for that is likely to be sampled itself if there are many such.  So doubtful
 * are the samples whose thread has sampled a large object just before.
 *
 * Add all samples, then sort, then ask.
 */
#ifndef CONVERTER_NUMBERS_SAMPLE_DOUBTS_H
#define CONVERTER_NUMBERS_SAMPLE_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DOUBTS_SIZE_LEAST 1400u /* bytes of a large object */

struct doubt_sample {
    uint64_t time_ns, size_bytes;
    uint32_t thread;
};

/* To initialise, zero the structure. */
struct sample_doubts {
    struct doubt_sample *samples;
    size_t count, room;
};

void sample_doubts_reset(struct sample_doubts *doubts);
/* Returns false if out of memory. */
bool sample_doubts_add(struct sample_doubts *doubts, uint32_t thread, uint64_t time_ns,
                       uint64_t size_bytes);
void sample_doubts_sort(struct sample_doubts *doubts);
/* Returns whether a sample of that thread at that time is doubtful: of those that are earlier, the
 * last ones (several may have one time) include a large object. */
bool sample_doubts_has(const struct sample_doubts *doubts, uint32_t thread, uint64_t time_ns);

#endif
