/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of a replay as a table, CSV and JSON. */
#include "analyses/replay/replay_run.h"

#include <inttypes.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "converter/numbers/quantity.h"
#include "converter/output/svg_chart.h"
#include "format/json/json_output.h"

static struct quantity calls_label(double calls)
{
    return quantity_of_count((uint64_t) calls);
}

/* The largest values become the ends of the axes. */
static void set_scale(struct svg_chart *chart, const struct replay *replay)
{
    for (size_t i = 0; i < replay->allocators.count; i++) {
        const struct replay_control *result = replay->allocators.items[i].best;
        for (uint32_t j = 0; j < result->sample_count; j++) {
            const struct replay_sample *sample = &result->samples[j];
            uint64_t most = sample->live_bytes > sample->resident_bytes ? sample->live_bytes
                                                                        : sample->resident_bytes;
            if ((double) sample->operation > chart->x_most)
                chart->x_most = (double) sample->operation;
            if ((double) most > chart->y_most)
                chart->y_most = (double) most;
        }
    }
    chart->y_most *= 1.05;
}

static void replay_report_print_curve(struct svg_chart *chart, const struct replay_control *result,
                                      const char *name, bool is_live)
{
    svg_chart_begin_curve(chart, is_live);
    for (uint32_t i = 0; i < result->sample_count; i++) {
        const struct replay_sample *sample = &result->samples[i];
        svg_chart_point(chart, (double) sample->operation,
                        (double) (is_live ? sample->live_bytes : sample->resident_bytes));
    }
    svg_chart_end_curve(chart, name, is_live);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool replay_print_picture(const void *replay_pointer, FILE *out)
{
    const struct replay *replay = replay_pointer;
    const struct replay_allocators *allocators = &replay->allocators;
    struct svg_chart chart = {.out = out,
                              .title = "Memory by allocator",
                              .subject = last_part(replay->settings.name),
                              .x_name = "calls",
                              .x_most = 1,
                              .y_most = 1,
                              .x_label = calls_label,
                              .x_steps = 5};
    set_scale(&chart, replay);
    svg_chart_begin(&chart);
    if (allocators->count > 0)
        replay_report_print_curve(&chart, allocators->items[0].best, "live bytes", true);
    for (size_t i = 0; i < allocators->count; i++)
        replay_report_print_curve(&chart, allocators->items[i].best,
                                  last_part(allocators->items[i].name), false);
    svg_chart_end(&chart);
    return true;
}

static const char *touch_name(const struct replay *replay)
{
    static const char *const names[] = {"none", "first", "all"};
    return names[replay->settings.touch];
}

static const char *threads_name(const struct replay *replay)
{
    return replay->settings.is_threaded ? "trace" : "one";
}

/* Returns peak resident bytes relative to peak live bytes. */
static double overhead(const struct replay *replay, const struct replay_control *result)
{
    return replay->trace.counts.peak_live_bytes != 0
               ? (double) result->peak_resident_bytes /
                     (double) replay->trace.counts.peak_live_bytes
               : 0;
}

static double calls_per_second(const struct replay *replay,
                               const struct replay_allocator *allocator)
{
    double ns = replay_ns_per_call(replay, allocator);
    return ns > 0 ? 1e9 / ns : 0;
}

static double allocator_ns(const struct replay *replay, const struct replay_allocator *allocator)
{
    return replay_ns_per_call(replay, allocator) * (double) allocator->best->operations;
}

static void print_faults(const struct replay *replay)
{
    for (unsigned i = 0; i < REPLAY_FAULT_COUNT; i++)
        if (replay->trace.counts.faults[i] != 0)
            printf("skipped   %s %s\n", quantity_of_count(replay->trace.counts.faults[i]).text,
                   replay_fault_name((enum replay_fault) i));
}

/* With a single unpaced thread, wall time adds nothing to CPU time. */
static bool has_walls(const struct replay *replay)
{
    return replay->settings.is_threaded || replay->settings.is_paced;
}

void replay_print_table(const struct replay *replay)
{
    const struct replay_control *any = replay->driver.best;
    printf("trace     %s, %s records\n", replay->settings.name,
           quantity_of_count(replay->trace.counts.records).text);
    print_faults(replay);
    printf("calls     %s by %u thread%s, %s objects at most\n",
           quantity_of_count(any->operations).text, any->thread_count,
           any->thread_count == 1 ? "" : "s",
           quantity_of_count(replay->trace.counts.peak_objects).text);
    printf("live      %s at most, %s at the end\n",
           quantity_of_bytes((double) replay->trace.counts.peak_live_bytes).text,
           quantity_of_bytes((double) replay->trace.counts.final_live_bytes).text);
    printf("driver    %.2f ns a call (taken off below); touch=%s threads=%s%s%s\n\n",
           replay_driver_ns_per_call(replay), touch_name(replay), threads_name(replay),
           replay->settings.is_paced ? " pace=trace" : "",
           replay->pieces.is_streamed ? ", read ahead in pieces" : "");
    printf("%-12s %10s", "allocator", "time");
    if (has_walls(replay))
        printf(" %10s %10s", "wall", "blocked");
    printf(" %8s %9s %11s %11s %9s %7s\n", "ns/call", "Mcalls/s", "peak RSS", "final RSS",
           "RSS/live", "failed");
    for (size_t i = 0; i < replay->allocators.count; i++) {
        const struct replay_allocator *allocator = &replay->allocators.items[i];
        const struct replay_control *result = allocator->best;
        printf("%-12s %10s", last_part(allocator->name),
               quantity_of_ns(allocator_ns(replay, allocator)).text);
        if (has_walls(replay))
            printf(" %10s %10s", quantity_of_ns((double) result->wall_ns).text,
                   quantity_of_ns((double) result->blocked_ns).text);
        printf(" %8.1f %9.2f %11s %11s %9.3f %7" PRIu64 "\n", replay_ns_per_call(replay, allocator),
               calls_per_second(replay, allocator) / 1e6,
               quantity_of_bytes((double) result->peak_resident_bytes).text,
               quantity_of_bytes((double) result->final_resident_bytes).text,
               overhead(replay, result), result->failures);
    }
}

void replay_print_csv(const struct replay *replay)
{
    printf("allocator,calls,threads,touch,allocator_ns,ns_per_call,driver_ns_per_call,"
           "calls_per_second,wall_ns,blocked_ns,peak_resident_bytes,final_resident_bytes,"
           "peak_live_bytes,final_live_bytes,failed\n");
    for (size_t i = 0; i < replay->allocators.count; i++) {
        const struct replay_allocator *allocator = &replay->allocators.items[i];
        const struct replay_control *result = allocator->best;
        csv_put_shown_text(step_text(allocator->name), stdout);
        printf(",%" PRIu64 ",%u,%s,%.0f,%.3f,%.3f,%.0f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
               ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
               result->operations, result->thread_count, touch_name(replay),
               allocator_ns(replay, allocator), replay_ns_per_call(replay, allocator),
               replay_driver_ns_per_call(replay), calls_per_second(replay, allocator),
               result->wall_ns, result->blocked_ns, result->peak_resident_bytes,
               result->final_resident_bytes, replay->trace.counts.peak_live_bytes,
               replay->trace.counts.final_live_bytes, result->failures);
    }
}

static void put_samples(struct json_output *json, const struct replay_control *result)
{
    json_begin_array(json, "samples");
    for (uint32_t i = 0; i < result->sample_count; i++) {
        json_begin_object(json, NULL);
        json_number(json, "call", result->samples[i].operation);
        json_number(json, "live_bytes", result->samples[i].live_bytes);
        json_number(json, "resident_bytes", result->samples[i].resident_bytes);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_allocator(const struct replay *replay, struct json_output *json,
                          const struct replay_allocator *allocator)
{
    const struct replay_control *result = allocator->best;
    json_begin_object(json, NULL);
    json_text(json, "name", allocator->name);
    json_text(json, "library", result->allocator);
    json_bool(json, "heaps", result->has_heaps);
    json_real(json, "allocator_ns", allocator_ns(replay, allocator));
    json_real(json, "ns_per_call", replay_ns_per_call(replay, allocator));
    json_real(json, "calls_per_second", calls_per_second(replay, allocator));
    json_number(json, "wall_ns", result->wall_ns);
    json_number(json, "blocked_ns", result->blocked_ns);
    json_numbers(json, "loop_ns", allocator->busy_ns, allocator->run_count, sizeof(uint64_t));
    json_number(json, "peak_resident_bytes", result->peak_resident_bytes);
    json_number(json, "final_resident_bytes", result->final_resident_bytes);
    json_number(json, "failed", result->failures);
    put_samples(json, result);
    json_end_object(json);
}

static void put_faults(const struct replay *replay, struct json_output *json)
{
    static const char *const keys[REPLAY_FAULT_COUNT] = {
        "double_frees", "unknown_frees", "unknown_reallocs", "overlaps", "out_of_order"};
    json_begin_object(json, "skipped");
    for (unsigned i = 0; i < REPLAY_FAULT_COUNT; i++)
        json_number(json, keys[i], replay->trace.counts.faults[i]);
    json_end_object(json);
}

void replay_print_json(const struct replay *replay)
{
    const struct replay_control *any = replay->driver.best;
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", replay->settings.name);
    json_number(&json, "records", replay->trace.counts.records);
    json_number(&json, "calls", any->operations);
    json_number(&json, "threads", any->thread_count);
    json_text(&json, "order", threads_name(replay));
    json_text(&json, "touch", touch_name(replay));
    json_text(&json, "pace", replay->settings.is_paced ? "trace" : "none");
    json_bool(&json, "streamed", replay->pieces.is_streamed);
    json_number(&json, "peak_objects", replay->trace.counts.peak_objects);
    json_number(&json, "peak_live_bytes", replay->trace.counts.peak_live_bytes);
    json_number(&json, "final_live_bytes", replay->trace.counts.final_live_bytes);
    put_faults(replay, &json);
    json_real(&json, "driver_ns_per_call", replay_driver_ns_per_call(replay));
    json_begin_array(&json, "allocators");
    for (size_t i = 0; i < replay->allocators.count; i++)
        put_allocator(replay, &json, &replay->allocators.items[i]);
    json_end_array(&json);
    json_close(&json);
}
