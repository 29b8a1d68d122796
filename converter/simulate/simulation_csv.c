/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the results of models as CSV: a row for each model and size, empty fields for what a model
 * does not have. */
#include <inttypes.h>

#include "converter/simulate/simulation.h"

static const char *const words[] = {[SIMULATION_EXACT] = "exact",
                                    [SIMULATION_DATED] = "dated",
                                    [SIMULATION_DELAYED] = "delayed",
                                    [SIMULATION_NONE] = "none"};

static void put_spaces(const struct simulation *simulation, const char *name,
                       const struct space_list *list, FILE *out)
{
    const char *deaths = words[simulation_precision(simulation)];
    for (size_t i = 0; i < list->count; i++) {
        const struct one_space *space = &list->items[i];
        fprintf(out, "%s,%s,%" PRIu64 ",", name, deaths, space->heap);
        if (space->is_too_small)
            fputs("false,,,,,,,,,,,,,\n", out);
        else
            fprintf(out, "true,%" PRIu64 ",,%" PRIu64 ",,%.6f,,,%" PRIu64 ",,,,,\n",
                    space->collections, space->kept, simulation_mark_cons(simulation, space->kept),
                    space->peak);
    }
}

static void put_row(const struct simulation *simulation, const struct generations *model, FILE *out)
{
    uint64_t work = model->copied + model->promoted + model->marked;
    fprintf(out,
            "true,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%" PRIu64 ",%" PRIu64
            ",%" PRIu64,
            model->collections, model->survived, model->copied, model->promoted,
            simulation_mark_cons(simulation, work), model->overflows, model->dead_old, model->peak);
}

static void put_generations(const struct simulation *simulation, const char *name,
                            const struct generation_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *model = &list->items[i];
        fprintf(out, "%s,%s,%" PRIu64 ",", name, words[simulation_precision(simulation)],
                model->young);
        if (model->is_too_small)
            fputs("false,,,,,,,,", out);
        else
            put_row(simulation, model, out);
        fputs(simulation_is_coarse(simulation, model) ? ",true," : ",false,", out);
        const struct least_heap *least = simulation_least_heap(simulation, model);
        if (least != NULL)
            fprintf(out, ",,,%" PRIu64 "\n", least->heap);
        else if (model->heap == 0)
            fputs(",,,\n", out);
        else if (model->is_too_small)
            fprintf(out, "%" PRIu64 ",,,\n", model->heap);
        else
            fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",\n", model->heap, model->full,
                    model->marked);
    }
}

void simulation_print_csv(const struct simulation *simulation, FILE *out)
{
    fputs("model,deaths,size,fits,collections,survived,copied,promoted,mark_cons,overflows,"
          "dead_old,peak,coarse,heap,full,marked,least_heap\n",
          out);
    put_generations(simulation, "generations", &simulation->young, out);
    put_generations(simulation, "regions", &simulation->regions, out);
    put_spaces(simulation, "semi-space", &simulation->semi_space, out);
    put_spaces(simulation, "mark-compact", &simulation->mark_compact, out);
}
