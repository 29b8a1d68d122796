/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace stats: what the trace adds up to. */
#include <string.h>

#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/base/no_memory.h"
#include "converter/events/selection_options.h"
#include "converter/open/input.h"
#include "converter/statistics/statistics_report.h"
#include "converter/verbs/verb.h"

#define TOP_DEFAULT UINT64_C(20)

static const struct verb_help help = {
    .name = "stats",
    .operands = "IN [OPTION]...",
    .text = "Tells by class what was allocated, freed and lived at the end, and for how long it\n"
            "lived; by thread what it allocated; by method, where the trace has calls, their\n"
            "number and time; and how much lived over time.\n",
};

struct stats_options {
    struct event_selection selected;
    const struct trace_format *from;
    uint64_t top;
    bool json;
    bool lifetimes_in_bytes;
    enum statistics_order order;
};

struct word {
    const char *text;
    int value;
};

static bool take_word(const struct word *words, size_t count, const char *value, int *out)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i].text, value) == 0) {
            *out = words[i].value;
            return true;
        }
    }
    return false;
}

static bool take_lifetimes(void *bool_target, const char *value, const char **fault)
{
    static const struct word words[] = {{"time", 0}, {"bytes", 1}};
    int in_bytes = 0;
    *fault = "time or bytes is expected";
    if (!take_word(words, 2, value, &in_bytes))
        return false;
    *(bool *) bool_target = in_bytes != 0;
    return true;
}

static bool take_order(void *order_target, const char *value, const char **fault)
{
    static const struct word words[] = {
        {"bytes", ORDER_BYTES}, {"objects", ORDER_OBJECTS}, {"live", ORDER_LIVE}};
    int order = 0;
    *fault = "bytes, objects or live is expected";
    if (!take_word(words, 3, value, &order))
        return false;
    *(enum statistics_order *) order_target = (enum statistics_order) order;
    return true;
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    if (statistics_put(user, events, count))
        return STEP_STATUS_OK;
    return no_memory(error);
}

static enum step_status add_up(const struct stats_options *options, const char *path,
                               struct input *input, struct statistics *statistics)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool ok = statistics_init(statistics, &input->source->names, options->lifetimes_in_bytes);
    if (ok) {
        enum step_status status = input_each(input, visit, statistics);
        if (status != STEP_STATUS_OK)
            return status;
        if (event_selection_is_all(&options->selected))
            status = event_source_facts(input->source, statistics_put_fact, statistics, &error);
        if (status != STEP_STATUS_OK)
            return report_error(&error);
        statistics_finish(statistics);
        const struct statistics_report report = {
            .statistics = statistics, .path = path, .top = options->top, .order = options->order};
        ok = options->json ? statistics_print_json(&report) : statistics_print_text(&report);
    }
    if (ok)
        return input_report_damage(input);
    no_memory(&error);
    return report_error(&error);
}

static enum step_status run(const struct stats_options *options, const char *path)
{
    struct input input;
    enum step_status status = input_open(&input, path, options->from, &options->selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct statistics statistics;
    status = add_up(options, path, &input, &statistics);
    statistics_reset(&statistics);
    input_close(&input);
    return status;
}

enum step_status verb_stats(int argc, char **argv)
{
    struct stats_options options = {.top = TOP_DEFAULT};
    event_selection_init(&options.selected);
    const struct option_row rows[] = {
        {"top", 'n', "N", "lines of each table (20; 0: all)", take_count, &options.top},
        {"sort", 0, "WHAT", "classes by bytes or objects allocated, or by what is live", take_order,
         &options.order},
        {"lifetimes", 0, "UNIT", "in time, or in bytes allocated meanwhile", take_lifetimes,
         &options.lifetimes_in_bytes},
        {"json", 0, NULL, "as JSON", take_flag, &options.json},
        FROM_ROW(&options.from),
        SELECTION_ROWS(&options.selected),
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    status = arguments_expect(&arguments, 1, 1);
    return status == STEP_STATUS_OK ? run(&options, arguments.operands[0]) : status;
}
