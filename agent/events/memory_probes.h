/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: the probes otel_memory:alloc and otel_memory:free, by which a profiler outside of
 * the JVM learns of samples and of their deaths. docs/engine-sampled.md */
#ifndef AGENT_EVENTS_MEMORY_PROBES_H
#define AGENT_EVENTS_MEMORY_PROBES_H

#include <stdbool.h>
#include <stdint.h>

/* A sample has been recorded, by the thread that allocates it: its stack is the one to unwind.
 * `pointer` names the object, and no other one of this process. The interval is that of the draw.
 */
void memory_probes_alloc(uint64_t pointer, uint64_t size_bytes, uint64_t interval_bytes);
/* The object has died, or its death is awaited no more. */
void memory_probes_free(uint64_t pointer);
/* Returns the provider's name, or why there are no probes. */
const char *memory_probes_describe(void);
/* Returns the bytes that a sample stands for: size / p, with p = 1 - exp(-size / interval), rounded
 * up or down by the object, so that the mean is that of the fractions. */
uint64_t memory_probes_weigh(uint64_t pointer, uint64_t size_bytes, uint64_t interval_bytes);

#endif
