/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace lifetimes: prints how long objects live, by allocation site. */
#include "converter/trace/selection_options.h"
#include "converter/verbs/site_reading.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    .name = "lifetimes",
    .operands = "IN [OPTION]...",
    .text = "Prints how long the objects of each allocation site live, in bytes allocated\n"
            "meanwhile and in time: percentiles, a histogram, and clusters of sites whose\n"
            "objects live equally long. Deaths that collections found are upper bounds, and\n"
            "are marked so.\n"};

enum step_status verb_lifetimes(int argc, char **argv)
{
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .depth = DEPTH_DEFAULT}};
    bool as_json = false;
    const struct option_row rows[] = {TOP_ROW(&reading.report.top),
                                      DEPTH_ROW(&reading.report.depth),
                                      {"histogram", 0, NULL,
                                       "also the shares of objects by lifetime, in powers of two",
                                       take_flag, &reading.report.has_histograms},
                                      {"json", 0, NULL, "as JSON", take_flag, &as_json},
                                      FROM_ROW(&reading.from),
                                      READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    reading.print = as_json ? lives_print_json : lives_print_text;
    return site_reading_run(&reading, arguments.operands[0]);
}
