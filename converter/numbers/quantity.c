/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling and formatting of numbers. */
#include "converter/numbers/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "steptrace/live.h"

struct unit {
    double factor;
    const char *name;
};

/* `units` are in ascending order.  The first is printed without decimals. */
static struct quantity scale(double value, const struct unit *units, unsigned count)
{
    struct quantity quantity;
    unsigned at = 0;
    while (at + 1 < count && value >= units[at + 1].factor)
        at++;
    double scaled = value / units[at].factor;
    int decimals = at == 0 ? 0 : scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    snprintf(quantity.text, sizeof quantity.text, "%.*f %s", decimals, scaled, units[at].name);
    return quantity;
}

enum time_unit time_unit_of_clock(const char *clock)
{
    return clock != NULL && strcmp(clock, STEP_LIVE_CLOCK_NONE) == 0 ? TIME_STEPS : TIME_NS;
}

struct quantity quantity_of_time(double time, enum time_unit unit)
{
    if (unit == TIME_NS)
        return quantity_of_ns(time);
    struct quantity steps = quantity_of_count((uint64_t) (time + 0.5));
    strcat(steps.text, time == 1 ? " step" : " steps");
    return steps;
}

struct quantity quantity_of_ns(double ns)
{
    static const struct unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
    return scale(ns, units, 4);
}

struct quantity quantity_of_bytes(double bytes)
{
    static const struct unit units[] = {{1, "B"},
                                        {1024.0, "KiB"},
                                        {1024.0 * 1024, "MiB"},
                                        {1024.0 * 1024 * 1024, "GiB"},
                                        {1024.0 * 1024 * 1024 * 1024, "TiB"}};
    return scale(bytes, units, 5);
}

struct quantity quantity_of_count(uint64_t count)
{
    struct quantity quantity;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *out = quantity.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ',';
        *out++ = digits[i];
    }
    *out = '\0';
    return quantity;
}
