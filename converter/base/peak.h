/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which moment is the peak: that of most bytes, of equal bytes that of most objects, and of equal
 * ones the earliest.
 */
#ifndef CONVERTER_BASE_PEAK_H
#define CONVERTER_BASE_PEAK_H

#include <stdbool.h>
#include <stdint.h>

struct peak {
    uint64_t bytes, objects;
};

/* Returns whether the moment is a new peak, and keeps it then. */
static inline bool peak_passed(struct peak *peak, uint64_t bytes, uint64_t objects)
{
    if (bytes < peak->bytes || (bytes == peak->bytes && objects <= peak->objects))
        return false;
    *peak = (struct peak){bytes, objects};
    return true;
}

#endif
