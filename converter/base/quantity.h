/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people, with units. */
#ifndef CONVERTER_BASE_QUANTITY_H
#define CONVERTER_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

struct quantity {
    char text[32];
};

/* Formats a time: "1.50 s", "12.3 ms", "7 ns". */
struct quantity quantity_of_ns(double ns);
/* Call with the property `clock` of each trace that is opened, NULL if it has none. After one
 * without a clock all times are "7 steps". */
void quantity_note_clock(const char *clock);
/* Whether that was so; set by quantity_note_clock() alone. */
extern bool quantity_counts_steps;
/* Births and ages are added up in microseconds, or in steps where there is no clock: returns that
 * number of a time. */
static inline uint64_t quantity_age_units(uint64_t time_ns)
{
    return quantity_counts_steps ? time_ns : time_ns / 1000;
}
/* Returns such an age, or a mean of ages, in nanoseconds, or in steps. */
static inline double quantity_age_ns(double age)
{
    return quantity_counts_steps ? age : 1000 * age;
}
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
