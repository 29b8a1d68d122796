/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the lines of `steptrace info` that all traces have. */
#include "converter/commands/info_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/files/trace_gap.h"
#include "converter/numbers/quantity.h"

double info_bytes_per_item(const struct trace_summary *summary, uint64_t count)
{
    return count > 0 ? (double) summary->file_bytes / (double) count : 0.0;
}

void info_print_label(const char *label)
{
    printf("%-14s ", label);
}

void info_print_value(const char *value)
{
    print_shown_text(value, stdout);
    putchar('\n');
}

void info_print_row(const char *label, uint64_t value)
{
    info_print_label(label);
    printf("%s\n", quantity_of_count(value).text);
}

void info_print_times(uint64_t first_ns, uint64_t last_ns)
{
    info_print_label("time");
    printf("%" PRIu64 " to %" PRIu64 " ns (%s)\n", first_ns, last_ns,
           quantity_of_ns((double) (last_ns - first_ns)).text);
}

void info_print_trace(const char *path, const struct trace_summary *summary, uint64_t count,
                      const char *unit)
{
    info_print_label("trace");
    info_print_value(path);
    info_print_label("format");
    printf("%s, %s bytes", summary->format, quantity_of_count(summary->file_bytes).text);
    if (unit != NULL)
        printf(", %.3f %s", info_bytes_per_item(summary, count), unit);
    putchar('\n');
}

/* Of files joined as one: what is missing between them; NULL: nothing. */
static struct trace_text gaps_of(const struct event_source *source)
{
    return event_source_property(source, TRACE_FILES_GAPS);
}

static bool is_whole(const struct event_source *source, const struct trace_summary *summary)
{
    return summary->whole && trace_damage_count(&source->about) == 0 &&
           gaps_of(source).unshown == NULL;
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
    info_print_label("state");
    if (is_whole(source, summary)) {
        printf("whole");
    } else if (damage > 0) {
        printf("damaged in %zu place%s", damage, damage == 1 ? "" : "s");
    } else if (gaps_of(source).unshown != NULL) {
        printf("not whole: ");
        trace_text_print(gaps_of(source), stdout);
    } else if (summary->running) {
        printf("running: its process still writes it, and not all of it has reached the file");
    } else {
        printf("cut");
    }
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

void info_json_begin(struct json_output *json, const char *path, const struct event_source *source,
                     const struct trace_summary *summary)
{
    json_open(json, stdout);
    json_text(json, "trace", path);
    json_text(json, "format", summary->format);
    json_number(json, "file_bytes", summary->file_bytes);
    json_bool(json, "whole", is_whole(source, summary));
    json_bool(json, "running", summary->running);
    json_number(json, "recovered", summary->recovered);
    put_damage(json, source);
}

void info_print_properties(const struct event_source *source)
{
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++) {
        print_shown_label(property.key.unshown, stdout);
        trace_text_print(property.value, stdout);
        putchar('\n');
    }
}

void info_put_properties(struct json_output *json, const struct event_source *source)
{
    json_begin_object(json, "properties");
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++)
        trace_text_put_json(property.value, json, property.key.unshown);
    json_end_object(json);
}
