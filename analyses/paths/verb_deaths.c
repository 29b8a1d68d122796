/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace deaths: replaces the time at which a collection detected a death with the time at which
 * the object became unreachable. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/spool.h"
#include "converter/formats/input.h"
#include "converter/graph/dated_file.h"
#include "converter/numbers/quantity.h"
#include "converter/output/output_file.h"
#include "converter/records/record_dump.h"
#include "format/json/json_output.h"

VERB(deaths);

static const struct verb_help help = {
    "deaths", "IN -o OUT [OPTION]...",
    "Computes when each object became unreachable, and writes the trace with its frees at\n"
    "these times instead of at the collections that found the objects dead. IN is a .step\n"
    "file recorded with events=reference; method events make the times more precise. The\n"
    "command prints how many times are exact and how many are bounds. - is standard\n"
    "input.\n"};

static void report_unknown(const char *output, const struct graph_unknowns *unknown)
{
    uint64_t all = unknown->holders + unknown->targets + unknown->sources + unknown->frees;
    if (all > 0)
        report_line(
            "%s: the trace names objects that it has no allocation of, or that are dead: %s "
            "holders, %s targets, %s sources of copies, %s frees",
            output, quantity_of_count(unknown->holders).text,
            quantity_of_count(unknown->targets).text, quantity_of_count(unknown->sources).text,
            quantity_of_count(unknown->frees).text);
}

/* Prints a few lines on stderr: the number of deaths of each kind, and what is unknown. */
static void date_deaths_report(const char *output, const struct dated_summary *summary)
{
    report_line("%s: %s deaths exact, %s bounds, %s by the collection only; %s objects live",
                output, quantity_of_count(summary->counts[TOUCH_CUT]).text,
                quantity_of_count(summary->counts[TOUCH_USE]).text,
                quantity_of_count(summary->counts[TOUCH_NONE]).text,
                quantity_of_count(summary->living).text);
    report_unknown(output, &summary->unknown);
    const struct death_errors *errors = &summary->errors;
    uint64_t all = errors->within + errors->earlier;
    if (!summary->has_full_collections || all == 0)
        return;
    double share = 100.0 * (double) errors->within / (double) all;
    double mean = errors->earlier > 0 ? (double) errors->ticks / (double) errors->earlier : 0.0;
    report_line(
        "%s: %.2f %% after the last collection that found them alive, the others by %s too "
        "early in the mean, %s at most (corrected)",
        output, share, quantity_of_time(mean * (double) summary->resolution_ns, summary->unit).text,
        quantity_of_time((double) errors->most * (double) summary->resolution_ns, summary->unit)
            .text);
}

static void verb_deaths_print_json(const char *in, const char *out,
                                   const struct dated_summary *summary)
{
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "input", in);
    json_text(&json, "output", out);
    json_begin_object(&json, "deaths");
    json_number(&json, "exact", summary->counts[TOUCH_CUT]);
    json_number(&json, "bound", summary->counts[TOUCH_USE]);
    json_number(&json, "by_collection", summary->counts[TOUCH_NONE]);
    json_end_object(&json);
    json_number(&json, "living", summary->living);
    json_number(&json, "collections", summary->collections);
    json_number(&json, "stores", summary->stores);
    json_number(&json, "snapshots", summary->snapshots);
    json_bool(&json, "has_references", summary->has_references);
    json_bool(&json, "has_calls", summary->has_calls);
    json_begin_object(&json, "unknown");
    json_number(&json, "holders", summary->unknown.holders);
    json_number(&json, "targets", summary->unknown.targets);
    json_number(&json, "sources", summary->unknown.sources);
    json_number(&json, "frees", summary->unknown.frees);
    json_number(&json, "keys", summary->unknown.keys);
    json_number(&json, "allocated_twice", summary->unknown.twice);
    json_end_object(&json);
    if (summary->has_full_collections) {
        uint64_t earlier = summary->errors.earlier;
        double mean = earlier > 0 ? (double) summary->errors.ticks / (double) earlier : 0;
        json_begin_object(&json, "against_collections");
        json_number(&json, "within", summary->errors.within);
        json_number(&json, "earlier", earlier);
        json_number(&json, "earlier_mean_ns",
                    (uint64_t) (mean * (double) summary->resolution_ns + 0.5));
        json_number(&json, "earlier_most_ns", summary->errors.most * summary->resolution_ns);
        json_end_object(&json);
    }
    json_close(&json);
}

enum step_status verb_deaths(int argc, char **argv)
{
    const char *output = NULL;
    bool as_json = false;
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the file to write; - is standard output", take_text, &output},
        {"json", 0, NULL, "print the results as JSON", take_flag, &as_json},
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (output == NULL)
        return arguments_fault(&arguments, "-o OUT is missing");
    if (as_json && strcmp(output, "-") == 0)
        return arguments_fault(&arguments, "--json: standard output is the trace's");
    struct dated_summary summary;
    enum step_status status = date_deaths(arguments.operands[0], output, &summary);
    if (!summary.is_written)
        return status;
    if (as_json)
        verb_deaths_print_json(arguments.operands[0], output, &summary);
    else
        date_deaths_report(output, &summary);
    return status;
}
