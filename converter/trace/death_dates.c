/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the counts of deaths. */
#include "converter/trace/death_dates.h"

#include <stdio.h>

#include "format/json/json_output.h"

void death_dates_print(const struct death_dates *dates, char *text, size_t size)
{
    *text = '\0';
    if (death_dates_are_exact(dates))
        snprintf(text, size, "%s exact, %s bounds, %s by the collection",
                 quantity_of_count(dates->exact).text, quantity_of_count(dates->bound).text,
                 quantity_of_count(dates->by_collection + dates->freed).text);
    else if (dates->freed > 0)
        snprintf(text, size, "%s",
                 dates->are_of_program ? "from the program's frees" : "from collections");
}

void death_dates_put_json(const struct death_dates *dates, enum time_unit unit,
                          struct json_output *json)
{
    json_begin_object(json, "deaths");
    json_bool(json, "dated", death_dates_are_exact(dates));
    json_number(json, "exact", dates->exact);
    json_number(json, "bound", dates->bound);
    json_number(json, "by_collection", dates->by_collection);
    json_number(json, "by_free", dates->freed);
    if (dates->are_missing)
        json_bool(json, "recorded", false);
    if (unit == TIME_STEPS)
        json_bool(json, "clock", false);
    json_end_object(json);
}
