/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of models as tables for people. */
#include <inttypes.h>

#include "converter/base/quantity.h"
#include "converter/simulate/simulation.h"

static const char *note_of(enum simulation_precision precision)
{
    switch (precision) {
    case SIMULATION_EXACT:
        return "";
    case SIMULATION_DATED:
        return "Not all deaths are exact: what depends on them is an estimate.\n";
    case SIMULATION_DELAYED:
        return "The deaths are those that collections of the traced run found, which is later "
               "than\n"
               "the objects died. Figures marked <= are upper bounds, those marked ~ are\n"
               "estimates (docs/simulate.md). With references in the trace, `steptrace deaths`\n"
               "computes exact deaths.\n";
    case SIMULATION_NONE:
        return "The trace has no deaths (the agent's option events=free): all objects are taken "
               "for\n"
               "living. Figures marked <= are upper bounds, those marked ~ are estimates.\n";
    }
    return "";
}

struct marks {
    const char *bound;    /* before a figure that late deaths make larger */
    const char *estimate; /* before one that they may make larger or smaller */
};

static struct marks marks_of(enum simulation_precision precision)
{
    switch (precision) {
    case SIMULATION_DELAYED:
    case SIMULATION_NONE:
        return (struct marks){"<=", "~"};
    case SIMULATION_DATED:
        return (struct marks){"~", "~"};
    default:
        return (struct marks){"", ""};
    }
}

static void put_bytes(const char *mark, uint64_t bytes, FILE *out)
{
    char text[48];
    snprintf(text, sizeof text, "%s%s", mark, quantity_of_bytes((double) bytes).text);
    fprintf(out, " %12s", text);
}

static void put_ratio(const char *mark, double ratio, FILE *out)
{
    char text[48];
    snprintf(text, sizeof text, "%s%.4f", mark, ratio);
    fprintf(out, " %10s", text);
}

static const char coarse_note[] =
    "Figures marked ? are of an eden that is smaller than what was allocated between the\n"
    "collections of the traced run that found deaths (the agent's option collect=): they\n"
    "may be far too high. Promoted is never more than what truly survived.\n";

static void print_too_small(const struct generations *model, const char *mark, FILE *out)
{
    fprintf(out, "  heap of %s: too small%s after %s of births\n",
            quantity_of_bytes((double) model->heap).text,
            *mark != '\0' ? ", if objects die as here," : "",
            quantity_of_bytes((double) model->failed_at).text);
}

/* With a limit, all figures but the sizes depend on when objects die. */
static void print_row(const struct simulation *simulation, const struct generations *model,
                      const char *mark, FILE *out)
{
    uint64_t work = model->copied + model->promoted + model->marked;
    const char *bound = model->heap != 0 ? mark : marks_of(simulation_precision(simulation)).bound;
    char collections[48];
    fprintf(out, "%10s %10s", quantity_of_bytes((double) model->young).text,
            quantity_of_bytes((double) model->survivor).text);
    if (model->is_too_small) {
        print_too_small(model, mark, out);
        return;
    }
    snprintf(collections, sizeof collections, "%s%s", model->heap != 0 ? mark : "",
             quantity_of_count(model->collections).text);
    fprintf(out, " %11s", collections);
    put_bytes(bound, model->survived, out);
    put_bytes(mark, model->copied, out);
    put_bytes(mark, model->promoted, out);
    put_ratio(mark, simulation_mark_cons(simulation, work), out);
    fprintf(out, " %9s", quantity_of_count(model->overflows).text);
    put_bytes(mark, model->dead_old, out);
    put_bytes(mark, model->peak, out);
    const struct least_heap *least = simulation_least_heap(simulation, model);
    if (least != NULL)
        put_bytes(marks_of(simulation_precision(simulation)).bound, least->heap, out);
    if (model->heap != 0) {
        fprintf(out, " %10s", quantity_of_bytes((double) model->heap).text);
        snprintf(collections, sizeof collections, "%s%s", mark,
                 quantity_of_count(model->full).text);
        fprintf(out, " %9s", collections);
        put_bytes(mark, model->marked, out);
    }
    putc('\n', out);
}

static void print_generations(const struct simulation *simulation,
                              const struct generation_list *list, FILE *out)
{
    enum simulation_precision precision = simulation_precision(simulation);
    bool has_heap = list->items[0].heap != 0, has_coarse = false;
    fputs("\ntwo generations", out);
    if (list == &simulation->regions)
        fprintf(out, " of regions of %s",
                quantity_of_bytes((double) simulation->options.region).text);
    fprintf(out,
            " (SurvivorRatio %" PRIu64 ", MaxTenuringThreshold %" PRIu64
            ", TargetSurvivorRatio %" PRIu64 ")\n"
            "%10s %10s %11s %12s %12s %12s %10s %9s %12s %12s",
            simulation->options.survivor_ratio, simulation->options.max_tenuring,
            simulation->options.target_survivor, "young", "survivor", "collections", "survived",
            "copied", "promoted", "mark/cons", "overflows", "dead in old", "peak");
    if (has_heap)
        fprintf(out, " %10s %9s %12s", "heap", "full", "marked");
    else if (list == &simulation->young)
        fprintf(out, " %12s", "least heap");
    putc('\n', out);
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *model = &list->items[i];
        bool is_coarse = simulation_is_coarse(simulation, model);
        has_coarse |= is_coarse;
        print_row(simulation, model, is_coarse ? "?" : marks_of(precision).estimate, out);
    }
    if (has_coarse)
        fputs(coarse_note, out);
}

/* Says in words what the largest young generation promotes, compared with the smallest. */
static void compare_promoted(const struct simulation *simulation,
                             const struct generation_list *list, FILE *out)
{
    const struct generations *least = &list->items[0];
    const struct generations *most = &list->items[list->count - 1];
    if (most->young == least->young || least->promoted == 0 || least->is_too_small ||
        most->is_too_small)
        return;
    const char *about =
        *marks_of(simulation_precision(simulation)).estimate != '\0' ? "about " : "";
    fprintf(out, "A young generation of %s promotes %s%.0f %% of what %s does.\n",
            quantity_of_bytes((double) most->young).text, about,
            100 * (double) most->promoted / (double) least->promoted,
            quantity_of_bytes((double) least->young).text);
}

static void print_list(const struct simulation *simulation, const struct generation_list *list,
                       FILE *out)
{
    if (list->count == 0)
        return;
    print_generations(simulation, list, out);
    compare_promoted(simulation, list, out);
}

static void print_spaces(const struct simulation *simulation, const char *title, const char *work,
                         const struct space_list *list, FILE *out)
{
    if (list->count == 0)
        return;
    const struct marks marks = marks_of(simulation_precision(simulation));
    fprintf(out, "\n%s\n%10s %13s %12s %10s %12s\n", title, "heap", "collections", work,
            "mark/cons", "peak");
    for (size_t i = 0; i < list->count; i++) {
        const struct one_space *space = &list->items[i];
        char collections[48];
        fprintf(out, "%10s ", quantity_of_bytes((double) space->heap).text);
        if (space->is_too_small) {
            fprintf(out, "too small%s after %s of births\n",
                    *marks.bound != '\0' ? ", if objects die this late," : "",
                    quantity_of_bytes((double) space->failed_at).text);
            continue;
        }
        snprintf(collections, sizeof collections, "%s%s", marks.bound,
                 quantity_of_count(space->collections).text);
        fprintf(out, "%13s", collections);
        put_bytes(marks.bound, space->kept, out);
        put_ratio(marks.bound, simulation_mark_cons(simulation, space->kept), out);
        put_bytes("", space->peak, out);
        putc('\n', out);
    }
}

static void print_deaths(const struct simulation *simulation, FILE *out)
{
    char deaths[DEATH_DATES_TEXT];
    death_dates_print(&simulation->deaths, deaths, sizeof deaths);
    fprintf(out, "deaths     %s\n", *deaths != '\0' ? deaths : "none");
}

void simulation_print_text(const struct simulation *simulation, const char *path, FILE *out)
{
    const struct marks marks = marks_of(simulation_precision(simulation));
    fprintf(out, "trace      %s\n", path);
    fprintf(out, "allocated  %s object%s, %s\n", quantity_of_count(simulation->objects).text,
            plural(simulation->objects), quantity_of_bytes((double) simulation->allocated).text);
    if (simulation->existing > 0)
        fprintf(out, "existing   %s before the trace\n",
                quantity_of_bytes((double) simulation->existing).text);
    print_deaths(simulation, out);
    fprintf(out, "minimum    %s%s%s: the most that lived at one time\n", marks.bound,
            *marks.bound != '\0' ? " " : "",
            quantity_of_bytes((double) simulation->peak_living).text);
    fprintf(out,
            "least heap %s%s%s: -Xmx of Serial with room for that, and for its largest objects\n",
            marks.bound, *marks.bound != '\0' ? " " : "",
            quantity_of_bytes((double) simulation->least.heap).text);
    fputs(note_of(simulation_precision(simulation)), out);
    print_list(simulation, &simulation->young, out);
    print_list(simulation, &simulation->regions, out);
    print_spaces(simulation, "semi-space", "copied", &simulation->semi_space, out);
    print_spaces(simulation, "mark-compact", "marked", &simulation->mark_compact, out);
}
