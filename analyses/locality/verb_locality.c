/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace locality: prints how far apart objects that refer to each other were allocated. */
#include "analyses/locality/reference_distances.h"
#include "converter/cli/given_definition.h"
#include "converter/cli/memory_limit.h"
#include "converter/cli/verb.h"

VERB(locality);

static const struct verb_help help = {
    "locality", "IN [OPTION]...",
    "Prints how far apart objects that refer to each other were allocated, by field: in\n"
    "bytes that their thread allocated from one to the other. Pairs that are nearly\n"
    "always neighbours are candidates for co-allocation. IN is a .step file with\n"
    "reference events (events=reference), or else with a snapshot (snapshot=...).\n"};

enum step_status verb_locality(int argc, char **argv)
{
    struct reference_distances distances;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t top = TOP_DEFAULT;
    bool as_json = false;
    const struct option_row rows[] = {
        {"top", 'n', "N", "rows of each table (20; 0: all)", take_count, &top},
        {"json", 0, NULL, "as JSON, all fields", take_flag, &as_json},
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    enum step_status status = reference_distances_read(&distances, arguments.operands[0], &error);
    if (status == STEP_STATUS_OK && as_json)
        locality_print_json(&distances);
    else if (status == STEP_STATUS_OK)
        locality_print_text(&distances, top);
    return reference_distances_close(&distances, status, &error);
}
