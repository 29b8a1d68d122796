/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace watch: shows a trace while it is being written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/watch/watch_view.h"
#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_gap.h"
#include "converter/formats/input.h"
#include "converter/recorders/recording.h"
#include "converter/trace/selection_options.h"
#include "converter/trace/unmatched.h"
#include "steptrace/live.h"
#include "steptrace/status.h"

VERB(watch);

#define INTERVAL_DEFAULT_NS UINT64_C(1000000000)
#define INTERVAL_LEAST_NS UINT64_C(10000000)
#define INTERVAL_MOST_NS UINT64_C(3600000000000)
#define CPU_DEFAULT 25         /* percent; about five million events per second */
#define TOP_MOST UINT64_C(180) /* for text output */

static const struct verb_help help = {
    .name = "watch",
    .operands = "PID|TRACE [OPTION]...",
    .text = "Shows a trace while it is being written: live heap, allocation rate, and the\n"
            "classes, allocation sites, threads and methods behind them. Only the trace and its\n"
            "live file are read; the traced program is not involved. Press ? for the keys.\n"};

struct watch_options {
    struct event_selection selected;
    struct watch_settings settings;
    double cpu; /* percent of a core; 0: unlimited */
    bool once;
    enum watch_axis axis;
    enum watch_column by; /* WATCH_COLUMNS: default */
};

static bool take_cpu(void *double_target, const char *value, const char **fault)
{
    char *end;
    double percent = strtod(value, &end);
    *fault = "a percentage from 0.1 to 100, or all, is expected";
    if (strcmp(value, "all") == 0) {
        *(double *) double_target = 0;
        return true;
    }
    if (end == value || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0.1) ||
        percent > 100)
        return false;
    *(double *) double_target = percent;
    return true;
}

/* Reports what the trace lacks; that a trace which is still being written has no end is no lack
 * here. */
static enum step_status report_lacks(const struct watch_feed *feed)
{
    const struct watch_tail *tail = &feed->tail;
    const struct step_reader *reader = watch_feed_reader(feed);
    char count[24], text[TRACE_GAP_ROOM];
    if (tail->state != WATCH_RUNNING)
        return report_reader_damage(reader, tail->path);
    enum step_status status = report_damaged_blocks(reader, tail->path);
    snprintf(count, sizeof count, "%" PRIu64, tail->dropped);
    const char *gap = trace_gap_dropped(count, text);
    if (gap == NULL)
        gap = step_reader_property(reader, TRACE_INCOMPLETE);
    if (gap != NULL)
        report_line("%s: %s", tail->path, gap);
    return gap != NULL ? STEP_STATUS_CORRUPT : status;
}

static enum step_status show(struct watch_feed *feed, long pid, const struct watch_options *options)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct watch_view view;
    watch_view_init(&view, feed, pid);
    view.axis = options->axis;
    if (options->by != WATCH_COLUMNS)
        view.by[options->axis] = options->by;
    uint32_t not_recorded = trace_not_recorded(step_reader_property(feed->tail.reader, "events"));
    if ((not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0 &&
        (not_recorded & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) == 0)
        snprintf(view.message, sizeof view.message,
                 "deaths are not recorded: all objects are alive");
    enum step_status status = options->once || options->settings.json
                                  ? watch_once(&view, &options->settings, &error)
                                  : watch_on_terminal(&view, &options->settings, &error);
    if (status == STEP_STATUS_OK && feed->tail.state != WATCH_RUNNING)
        report_unmatched(feed->tail.path, feed->model.names, &feed->selected,
                         view.total.objects + view.total.calls == 0);
    watch_table_reset(&view.table);
    if (status == STEP_STATUS_OK)
        trace_report_not_recorded(feed->tail.path, not_recorded);
    if (status == STEP_STATUS_OK)
        return report_lacks(feed);
    if (status == STEP_STATUS_UNSUPPORTED)
        report_line("%s", error.message);
    else
        report_error(&error);
    return status;
}

static enum step_status verb_watch_run(const struct arguments *arguments,
                                       const struct watch_options *options)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct watch_target target;
    enum step_status status = watch_target_find(arguments->operands[0], &target, &error);
    if (status != STEP_STATUS_OK) {
        report_error(&error);
        return STEP_STATUS_NOT_FOUND;
    }
    struct watch_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return report_no_memory();
    status = watch_feed_open(feed, target.path, &options->selected, options->cpu / 100, &error);
    if (status == STEP_STATUS_OK && watch_feed_is_sampled(feed) &&
        (options->by == WATCH_RATE || options->by == WATCH_CALLS))
        status = arguments_fault(arguments, "--sort: a sampled trace has no %s by row",
                                 options->by == WATCH_RATE ? "rates" : "calls");
    else if (status == STEP_STATUS_OK)
        status = show(feed, target.pid, options);
    else
        report_error(&error);
    watch_feed_close(feed);
    free(feed);
    return status;
}

static enum step_status verb_watch_check(const struct arguments *arguments,
                                         const struct watch_options *options)
{
    const char *late = watch_selection_fault(&options->selected);
    if (late != NULL)
        return arguments_fault(arguments, "--%s needs a trace that has ended; use stats or heap",
                               late);
    if (options->settings.interval_ns < INTERVAL_LEAST_NS ||
        options->settings.interval_ns > INTERVAL_MOST_NS)
        return arguments_fault(arguments, "--interval: 10ms to 1h is expected");
    if (!options->settings.json && options->settings.top > TOP_MOST)
        return arguments_fault(arguments, "--top: up to 180 is expected, but with --json");
    return STEP_STATUS_OK;
}

enum step_status verb_watch(int argc, char **argv)
{
    struct watch_options options = {
        .settings = {.interval_ns = INTERVAL_DEFAULT_NS, .top = TOP_DEFAULT},
        .cpu = CPU_DEFAULT,
        .by = WATCH_COLUMNS};
    event_selection_init(&options.selected);
    const struct option_row rows[] = {
        {"interval", 'i', "T", "time between updates (1s)", take_time,
         &options.settings.interval_ns},
        {"cpu", 0, "PERCENT", "use at most this share of a core (25); all: no limit", take_cpu,
         &options.cpu},
        {"by", 0, "WHAT", "class, site, thread or method",
         WORDS(options.axis, "class", "site", "thread", "method")},
        {"sort", 0, "WHAT", "live, live-objects, allocated, objects, rate, calls or name",
         WORDS(options.by, "live", "live-objects", "allocated", "objects", "rate", "", "calls",
               "name")},
        {"once", 0, NULL, "print one look, and exit", take_flag, &options.once},
        {"json", 0, NULL, "the same, as JSON", take_flag, &options.settings.json},
        {"top", 'n', "N", "rows of a table with --once and --json (20; 0: all)", take_count,
         &options.settings.top},
        OBJECT_SELECTION_ROWS(&options.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    enum step_status status = verb_watch_check(&arguments, &options);
    return status == STEP_STATUS_OK ? verb_watch_run(&arguments, &options) : status;
}
