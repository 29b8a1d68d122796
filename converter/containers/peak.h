/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the peak of a trace: the moment with the most live bytes; among equals the one with the
 * most objects, then the earliest.
 */
#ifndef CONVERTER_CONTAINERS_PEAK_H
#define CONVERTER_CONTAINERS_PEAK_H

#include <stdbool.h>
#include <stdint.h>

struct peak {
    uint64_t bytes, objects;
};

/* If the moment is a new peak, stores it and returns true. */
static inline bool peak_passed(struct peak *peak, uint64_t bytes, uint64_t objects)
{
    if (bytes < peak->bytes || (bytes == peak->bytes && objects <= peak->objects))
        return false;
    *peak = (struct peak){bytes, objects};
    return true;
}

#endif
