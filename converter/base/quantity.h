/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: with a unit that keeps them short. */
#ifndef CONVERTER_BASE_QUANTITY_H
#define CONVERTER_BASE_QUANTITY_H

#include <stdint.h>

struct quantity {
    char text[32];
};

/* "1.50 s", "12.3 ms", "7 ns". */
struct quantity quantity_of_ns(double ns);
/* "1.50 MiB", "12 B". */
struct quantity quantity_of_bytes(double bytes);
/* The ending of a noun after the number: "1 object", "2 objects". */
static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
/* 1,234,567 as "1,234,567". */
struct quantity quantity_of_count(uint64_t count);

#endif
