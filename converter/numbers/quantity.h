/* SPDX-License-Identifier: Apache-2.0 */
/* Formats numbers for people, with units. */
#ifndef CONVERTER_NUMBERS_QUANTITY_H
#define CONVERTER_NUMBERS_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

struct quantity {
    char text[32];
};

/* What the times of a trace count: nanoseconds, or, where it has no clock (resolution=none), steps,
 * one more with each collection.  Whoever keeps times of a trace keeps their unit with them. */
enum time_unit { TIME_NS, TIME_STEPS };
/* Returns the unit by the trace's property `clock`, NULL if it has none. */
enum time_unit time_unit_of_clock(const char *clock);

/* Formats a time: "1.50 s", "12.3 ms", "7 ns"; "7 steps". */
struct quantity quantity_of_ns(double ns);
struct quantity quantity_of_time(double time, enum time_unit unit);
/* Births and ages are added up in microseconds, or in steps: returns that number of a time. */
static inline uint64_t time_age(uint64_t time, enum time_unit unit)
{
    return unit == TIME_STEPS ? time : time / 1000;
}
/* Returns such an age, or a mean of ages, as a time. */
static inline double time_of_age(double age, enum time_unit unit)
{
    return unit == TIME_STEPS ? age : 1000 * age;
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
