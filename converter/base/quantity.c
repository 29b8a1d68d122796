/* SPDX-License-Identifier: Apache-2.0 */
/* Scaling and formatting of numbers. */
#include "converter/base/quantity.h"

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

bool quantity_counts_steps;

void quantity_note_clock(const char *clock)
{
    if (clock != NULL && strcmp(clock, STEP_LIVE_CLOCK_NONE) == 0)
        quantity_counts_steps = true;
}

struct quantity quantity_of_ns(double ns)
{
    if (quantity_counts_steps) {
        struct quantity steps = quantity_of_count((uint64_t) (ns + 0.5));
        strcat(steps.text, ns == 1 ? " step" : " steps");
        return steps;
    }
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
