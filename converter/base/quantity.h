/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people, with units. */
#ifndef CONVERTER_BASE_QUANTITY_H
#define CONVERTER_BASE_QUANTITY_H

#include <stdint.h>

struct quantity {
    char text[32];
};

/* Formats a time: "1.50 s", "12.3 ms", "7 ns". */
struct quantity quantity_of_ns(double ns);
/* Call with the property `clock` of each trace that is opened, NULL if it has none. After one
 * without a clock all times are "7 steps". */
void quantity_note_clock(const char *clock);
/* Formats a size: "1.50 MiB", "12 B". */
struct quantity quantity_of_bytes(double bytes);
/* Returns the plural suffix of a noun: "1 object", "2 objects". */
static inline const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}
/* Formats a count with thousands separators: "1,234,567". */
struct quantity quantity_of_count(uint64_t count);

#endif
