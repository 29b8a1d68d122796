/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the state of a trace and its properties. */
#include "converter/verbs/info_head.h"

#include <stdio.h>

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"

static bool is_whole(const struct event_source *source, const struct trace_summary *summary)
{
    return summary->whole && trace_damage_count(&source->about) == 0;
}

static void print_sampling(const struct event_source *source)
{
    uint64_t interval_bytes = event_source_sample_interval(source);
    if (interval_bytes != 0)
        printf("%-14s a sample: one in %s allocated, on average\n", "objects",
               quantity_of_bytes((double) interval_bytes).text);
}

void info_print_state(const struct event_source *source, const struct trace_summary *summary)
{
    size_t damage = trace_damage_count(&source->about);
    printf("%-14s ", "state");
    if (is_whole(source, summary))
        printf("whole");
    else if (damage > 0)
        printf("damaged in %zu place%s", damage, damage == 1 ? "" : "s");
    else if (summary->running)
        printf("running: its process still writes it, and not all of it has reached the file");
    else
        printf("cut");
    if (summary->recovered > 0)
        printf(", %s records taken from the live file", quantity_of_count(summary->recovered).text);
    putchar('\n');
    print_sampling(source);
}

static void put_damage(struct json_output *json, const struct event_source *source)
{
    json_begin_array(json, "damage");
    for (size_t i = 0; i < trace_damage_count(&source->about); i++) {
        const struct step_damage *damage = trace_damage(&source->about, i);
        json_begin_object(json, NULL);
        if (damage->offset != STEP_NO_OFFSET)
            json_number(json, "offset", damage->offset);
        json_number(json, "length", damage->length);
        json_text(json, "message", damage->message);
        json_end_object(json);
    }
    json_end_array(json);
}

void info_put_state(struct json_output *json, const struct event_source *source,
                    const struct trace_summary *summary)
{
    json_bool(json, "whole", is_whole(source, summary));
    json_bool(json, "running", summary->running);
    json_number(json, "recovered", summary->recovered);
    put_damage(json, source);
}

void info_print_properties(const struct event_source *source)
{
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key != NULL; i++) {
        print_shown_label(property.key, stdout);
        print_shown_text(property.value, stdout);
        putchar('\n');
    }
}

void info_put_properties(struct json_output *json, const struct event_source *source)
{
    json_begin_object(json, "properties");
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key != NULL; i++)
        json_text(json, property.key, property.value);
    json_end_object(json);
}
