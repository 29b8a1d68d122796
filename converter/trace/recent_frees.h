/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of recently freed addresses, which distinguishes double frees from frees of addresses
 * that were never allocated. */
#ifndef CONVERTER_TRACE_RECENT_FREES_H
#define CONVERTER_TRACE_RECENT_FREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash.h"

enum { RECENT_FREES = 1 << 16 };

/* Zero-initialise for an empty cache.  An added address replaces the one in its slot. */
struct recent_frees {
    uint64_t places[RECENT_FREES]; /* by hash: address + 1 */
};

static inline size_t recent_frees_place(uint64_t address)
{
    return (size_t) (step_hash(address) >> 48 & (RECENT_FREES - 1));
}

static inline void recent_frees_add(struct recent_frees *frees, uint64_t address)
{
    frees->places[recent_frees_place(address)] = address + 1;
}

static inline bool recent_frees_have(const struct recent_frees *frees, uint64_t address)
{
    return frees->places[recent_frees_place(address)] == address + 1;
}

#endif
