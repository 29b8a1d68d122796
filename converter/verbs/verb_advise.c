/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace advise: advises on allocation sites, with the bytes at stake and the evidence. */
#include "converter/trace/selection_options.h"
#include "converter/verbs/site_reading.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    .name = "advise",
    .operands = "IN [OPTION]...",
    .text = "Advises on allocation sites, with the bytes at stake and the evidence: pretenure\n"
            "objects that survive collections, reuse a few that die soon, do not repeat what is\n"
            "thrown away each time, let scalars replace objects that are never stored, and make\n"
            "arrays as long as they will be. The last two need a trace with events=reference.\n"};

enum step_status verb_advise(int argc, char **argv)
{
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .depth = DEPTH_DEFAULT},
                                   .within = ADVICE_WITHIN_DEFAULT,
                                   .least_bytes = ADVICE_LEAST_DEFAULT,
                                   .needs_references = true};
    bool as_json = false;
    const struct option_row rows[] = {
        TOP_ROW(&reading.report.top),
        DEPTH_ROW(&reading.report.depth),
        {"least", 0, "SIZE", "advice with at least so many bytes at stake (64k)", take_size,
         &reading.least_bytes},
        {"within", 0, "N", "reuse: objects that die before the next N of their site (8)",
         take_count, &reading.within},
        {"young", 0, "SIZE",
         "pretenure: a collection for each SIZE allocated, not those of the trace", take_size,
         &reading.young_bytes},
        {"json", 0, NULL, "as JSON", take_flag, &as_json},
        FROM_ROW(&reading.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    reading.print = as_json ? advice_print_json : advice_print_text;
    return site_reading_run(&reading, arguments.operands[0]);
}
