/* SPDX-License-Identifier: Apache-2.0 */
/* Sanitizers that no recorder works beside: their run-time libraries call functions of the C
 * library through tables of their own, which are empty while the first allocations are made. */
#ifndef MALLOC_RECORDER_DRAIN_SANITIZERS_H
#define MALLOC_RECORDER_DRAIN_SANITIZERS_H

/* X(function of its run-time library, its name) */
#define SANITIZERS(X)                                                                              \
    X(__asan_init, "AddressSanitizer")                                                             \
    X(__hwasan_init, "HWAddressSanitizer")                                                         \
    X(__msan_init, "MemorySanitizer")                                                              \
    X(__tsan_init, "ThreadSanitizer")

#endif
