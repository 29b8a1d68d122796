/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's contract (opentelemetry-ebpf-profiler, design document 00003) is
 *
 *     otel_memory:alloc(pointer, size, weighted_bytes)  of each sampled allocation
 *     otel_memory:free(pointer)                         of each sampled one that is freed
 *
 * as probes of SystemTap's header: a no-op whose address, arguments and semaphore are in a note of
 * the library. The kernel counts the listeners up in the semaphore and puts a breakpoint in the
 * no-op's place. */
#include "agent/events/memory_probes.h"

#include "format/core/hash.h"

/* ---- the weight; without libm, which libtracer.so does not need otherwise ---- */

/* Beyond this, exp(-x) is nothing beside 1. */
#define LARGE 64.0
#define SMALL 0.125
#define TERMS 10u
#define BITS_OF_FRACTION 53u

/* Returns 1 - exp(-x). The series of exp(y) - 1 has all digits where y is small; from there
 * exp(2y) - 1 = m (m + 2), with m = exp(y) - 1. */
static double probability(double x)
{
    unsigned doublings = 0;
    if (x >= LARGE)
        return 1;
    for (; x > SMALL; x /= 2)
        doublings++;
    double term = 1, less = 0;
    for (unsigned i = 1; i <= TERMS; i++) {
        term *= -x / i;
        less += term;
    }
    for (; doublings > 0; doublings--)
        less *= less + 2;
    return -less;
}

uint64_t memory_probes_weigh(uint64_t pointer, uint64_t size_bytes, uint64_t interval_bytes)
{
    if (size_bytes == 0 || interval_bytes == 0)
        return size_bytes;
    double size = (double) size_bytes;
    double lot = (double) (step_hash(pointer) >> (64 - BITS_OF_FRACTION)) /
                 (double) (UINT64_C(1) << BITS_OF_FRACTION);
    return (uint64_t) (size / probability(size / (double) interval_bytes) + lot);
}

/* ---- the probes ---- */

#if STEPTRACE_PROBES

#define _SDT_HAS_SEMAPHORES 1
/* Arguments in registers: a listener reads no memory of the process. */
#define STAP_SDT_ARG_CONSTRAINT r
#include <sys/sdt.h>

/* Names that the header makes of provider and probe. The kernel changes them. */
#define SEMAPHORE __attribute__((section(".probes"))) volatile unsigned short
extern SEMAPHORE otel_memory_alloc_semaphore, otel_memory_free_semaphore;
SEMAPHORE otel_memory_alloc_semaphore = 0, otel_memory_free_semaphore = 0;

/* Functions of their own, which begin with the probe: the arguments are where a function's are, for
 * listeners that look there instead of into the note. */
__attribute__((noinline)) static void probe_alloc(uint64_t pointer, uint64_t size_bytes,
                                                  uint64_t weighted_bytes)
{
    STAP_PROBE3(otel_memory, alloc, pointer, size_bytes, weighted_bytes);
}

__attribute__((noinline)) static void probe_free(uint64_t pointer)
{
    STAP_PROBE1(otel_memory, free, pointer);
}

void memory_probes_alloc(uint64_t pointer, uint64_t size_bytes, uint64_t interval_bytes)
{
    if (otel_memory_alloc_semaphore != 0)
        probe_alloc(pointer, size_bytes, memory_probes_weigh(pointer, size_bytes, interval_bytes));
}

void memory_probes_free(uint64_t pointer)
{
    if (otel_memory_free_semaphore != 0)
        probe_free(pointer);
}

const char *memory_probes_describe(void)
{
    return "otel_memory";
}

#else

void memory_probes_alloc(uint64_t pointer, uint64_t size_bytes, uint64_t interval_bytes)
{
    (void) pointer, (void) size_bytes, (void) interval_bytes;
}

void memory_probes_free(uint64_t pointer)
{
    (void) pointer;
}

const char *memory_probes_describe(void)
{
    return "none: libtracer.so was built without <sys/sdt.h>";
}

#endif
