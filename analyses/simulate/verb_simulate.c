/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace simulate: replays a trace against models of garbage collectors. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyses/simulate/simulation.h"
#include "converter/cli/verb.h"
#include "converter/formats/input.h"
#include "converter/output/output_file.h"
#include "converter/trace/selection_options.h"

VERB(simulate);

#define SURVIVOR_RATIO_MOST UINT64_C(1000000)
#define YOUNG_DEFAULT_FIRST (UINT64_C(4) << 20)
#define REGION_LEAST (UINT64_C(1) << 20)
#define REGION_MOST (UINT64_C(512) << 20)

static const struct verb_help help = {
    .name = "simulate",
    .operands = "IN [OPTION]...",
    .text = "Replays the allocations and deaths of a trace against models of garbage\n"
            "collectors, for many sizes in one pass, and prints how often each would have\n"
            "collected and how much it would have copied and promoted. Without a model,\n"
            "--young is 4m..512m. SIZES is a list of sizes and ranges, as 4m,6m or\n"
            "4m..512m, which doubles from 4m on.\n"};

struct simulate_options {
    struct event_selection selected;
    const struct trace_format *from;
    struct simulation_options models;
    const char *svg;
    bool json, csv;
};

static void verb_simulate_print(const struct simulate_options *options,
                                const struct simulation *simulation)
{
    if (options->json)
        simulation_print_json(simulation);
    else if (options->csv)
        simulation_print_csv(simulation);
    else
        simulation_print_text(simulation);
}

static enum step_status simulate(const struct simulate_options *options, const char *path,
                                 struct input *input, struct simulation *simulation)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    simulation->path = path;
    simulation->frees_are_exact = input->allocs != NULL;
    simulation->unit = event_source_time_unit(input->source);
    if (input->allocs == NULL)
        simulation->collect = event_source_number(input->source, "collect", 0);
    enum step_status status = input_each(input, simulation_put, simulation);
    if (status != STEP_STATUS_OK)
        return status;
    if (simulation->objects > 0 && simulation->allocated == 0)
        return report_unfit(path, "the objects have no sizes, which a simulation needs" NO_SIZES);
    trace_report_no_allocs(path, input->source);
    input->unknown_frees = simulation->unknown_frees;
    simulation_finish(simulation);
    verb_simulate_print(options, simulation);
    if (options->svg != NULL && output_file_print(options->svg, NULL, simulation_print_picture,
                                                  simulation, &error) != STEP_STATUS_OK)
        return report_error(&error);
    return input_report_damage(input);
}

static enum step_status verb_simulate_run(const struct simulate_options *options, const char *path)
{
    struct input input;
    enum step_status status = input_open(&input, path, options->from, &options->selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct simulation *simulation = malloc(sizeof *simulation);
    status = simulation != NULL && simulation_init(simulation, &options->models)
                 ? simulate(options, path, &input, simulation)
                 : report_no_memory();
    if (simulation != NULL)
        simulation_reset(simulation);
    free(simulation);
    input_close(&input);
    return status;
}

static uint64_t least_of(const struct size_list *list)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < list->count; i++)
        least = list->sizes[i] < least ? list->sizes[i] : least;
    return least;
}

static enum step_status verb_simulate_check(const struct arguments *arguments,
                                            const struct simulation_options *models)
{
    const struct generation_options *generations = &models->generations;
    if (generations->survivor_ratio == 0 || generations->survivor_ratio > SURVIVOR_RATIO_MOST)
        return arguments_fault(arguments, "--survivor-ratio: 1 to %" PRIu64 " is possible",
                               SURVIVOR_RATIO_MOST);
    if (generations->max_tenuring > AGE_MOST)
        return arguments_fault(arguments, "--max-tenuring: 0 to %u is possible", AGE_MOST);
    if (generations->target_survivor > 100)
        return arguments_fault(arguments, "--target-survivor: 0 to 100 is possible");
    if (generations->region < REGION_LEAST || generations->region > REGION_MOST ||
        (generations->region & (generations->region - 1)) != 0)
        return arguments_fault(arguments,
                               "--region-size: a power of two from 1m to 512m is possible");
    if (least_of(&models->young) < YOUNG_LEAST)
        return arguments_fault(arguments, "--young: %" PRIu64 "k is the least", YOUNG_LEAST / 1024);
    if (least_of(&models->regions) < 2 * generations->region)
        return arguments_fault(arguments, "--young-regions: two regions are the least");
    return STEP_STATUS_OK;
}

enum step_status verb_simulate(int argc, char **argv)
{
    struct simulate_options options = {.models = SIMULATION_OPTIONS_DEFAULT};
    struct simulation_options *models = &options.models;
    event_selection_init(&options.selected);
    options.selected.kinds = TRACE_KIND_BIT(EVENT_VM_INIT) | TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) |
                             TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    options.selected.untracked = true;
    const struct option_row rows[] = {
        {"young", 0, "SIZES", "two generations: sizes of the young one, as -Xmn", take_size_list,
         &models->young},
        {"heap", 0, "SIZES", "limits of the heap, as -Xmx, for the sizes of --young",
         take_size_list, &models->heap},
        {"young-regions", 0, "SIZES", "two generations of regions, as G1: sizes of the young one",
         take_size_list, &models->regions},
        {"region-size", 0, "SIZE", "size of a region, as -XX:G1HeapRegionSize (1m)", take_size,
         &models->generations.region},
        {"survivor-ratio", 0, "N", "size of eden in survivor spaces, as -XX:SurvivorRatio (8)",
         take_count, &models->generations.survivor_ratio},
        {"max-tenuring", 0, "N", "collections before promotion, as -XX:MaxTenuringThreshold (15)",
         take_count, &models->generations.max_tenuring},
        {"target-survivor", 0, "N",
         "desired per cent of a survivor space, as -XX:TargetSurvivorRatio (50)", take_count,
         &models->generations.target_survivor},
        {"existing-old", 0, NULL, "what existed when the VM was ready is in the old generation",
         take_flag, &models->existing_is_old},
        {"semi-space", 0, "SIZES", "a semi-space collector: sizes of the heap", take_size_list,
         &models->semi_space},
        {"mark-compact", 0, "SIZES", "mark-compact: sizes of the heap", take_size_list,
         &models->mark_compact},
        {"svg", 0, "FILE", "draw copied and promoted bytes over the sizes", take_text,
         &options.svg},
        {"csv", 0, NULL, "as CSV", take_flag, &options.csv},
        {"json", 0, NULL, "as JSON", take_flag, &options.json},
        FROM_ROW(&options.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (options.csv && options.json)
        return arguments_fault(&arguments, "--csv and --json: choose one");
    enum step_status status = verb_simulate_check(&arguments, models);
    if (status != STEP_STATUS_OK)
        return status;
    if (models->young.count + models->regions.count + models->semi_space.count +
            models->mark_compact.count ==
        0)
        simulation_options_add_young(models, YOUNG_DEFAULT_FIRST);
    size_t heaps = simulation_options_heaps(models);
    if (models->heap.count > 0 && (heaps == 0 || heaps > SIZE_LIST_MOST))
        return arguments_fault(&arguments,
                               "--heap: 1 to %u pairs of a size of --young and a larger heap are "
                               "possible",
                               SIZE_LIST_MOST);
    if (models->heap.count > 0 && options.svg != NULL)
        return arguments_fault(&arguments, "--svg: not with --heap");
    return verb_simulate_run(&options, arguments.operands[0]);
}
