/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of models: as tables for people, as CSV, as JSON, and as a picture. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyses/simulate/simulation.h"
#include "converter/numbers/quantity.h"
#include "converter/output/svg_chart.h"
#include "format/json/json_output.h"

static double mark_cons(const struct simulation *simulation, const struct generations *model)
{
    uint64_t work = model->copied + model->promoted + model->marked;
    return simulation->allocated == 0 ? 0 : (double) work / (double) simulation->allocated;
}

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

/* Late deaths make some figures larger, and others larger or smaller: the marks say which
 * (docs/simulate.md proves the bounds). */
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

static void simulation_report_put_bytes(const char *mark, uint64_t bytes)
{
    char text[48];
    snprintf(text, sizeof text, "%s%s", mark, quantity_of_bytes((double) bytes).text);
    printf(" %12s", text);
}

static void put_ratio(const char *mark, double ratio)
{
    char text[48];
    snprintf(text, sizeof text, "%s%.4f", mark, ratio);
    printf(" %10s", text);
}

static const char coarse_note[] =
    "Figures marked ? are of an eden that is smaller than what was allocated between the\n"
    "collections of the traced run that found deaths (the agent's option collect=): they\n"
    "may be far too high. Promoted is never more than what truly survived.\n";

static void print_too_small(const struct generations *model, const char *mark)
{
    printf("  heap of %s: too small%s after %s of births\n",
           quantity_of_bytes((double) model->heap).text,
           *mark != '\0' ? ", if objects die as here," : "",
           quantity_of_bytes((double) model->failed_at).text);
}

/* With a limit, all figures but the sizes depend on when objects die. */
static void simulation_report_print_row(const struct simulation *simulation,
                                        const struct generations *model, const char *mark)
{
    const char *bound = model->heap != 0 ? mark : marks_of(simulation_precision(simulation)).bound;
    char collections[48];
    printf("%10s %10s", quantity_of_bytes((double) model->young).text,
           quantity_of_bytes((double) model->survivor).text);
    if (model->is_too_small) {
        print_too_small(model, mark);
        return;
    }
    snprintf(collections, sizeof collections, "%s%s", model->heap != 0 ? mark : "",
             quantity_of_count(model->collections).text);
    printf(" %11s", collections);
    simulation_report_put_bytes(bound, model->survived);
    simulation_report_put_bytes(mark, model->copied);
    simulation_report_put_bytes(mark, model->promoted);
    put_ratio(mark, mark_cons(simulation, model));
    printf(" %9s", quantity_of_count(model->overflows).text);
    simulation_report_put_bytes(mark, model->dead_old);
    simulation_report_put_bytes(mark, model->peak);
    const struct least_heap *least = simulation_least_heap(simulation, model);
    if (least != NULL)
        simulation_report_put_bytes(marks_of(simulation_precision(simulation)).bound, least->heap);
    if (model->heap != 0) {
        printf(" %10s", quantity_of_bytes((double) model->heap).text);
        snprintf(collections, sizeof collections, "%s%s", mark,
                 quantity_of_count(model->full).text);
        printf(" %9s", collections);
        simulation_report_put_bytes(mark, model->marked);
    }
    putchar('\n');
}

static void print_generations(const struct simulation *simulation, const struct model_list *list)
{
    enum simulation_precision precision = simulation_precision(simulation);
    bool has_heap = list->items[0].heap != 0, has_coarse = false;
    fputs("\ntwo generations", stdout);
    if (list == &simulation->lists[MODEL_REGIONS])
        printf(" of regions of %s", quantity_of_bytes((double) simulation->options.region).text);
    printf(" (SurvivorRatio %" PRIu64 ", MaxTenuringThreshold %" PRIu64
           ", TargetSurvivorRatio %" PRIu64 ")\n"
           "%10s %10s %11s %12s %12s %12s %10s %9s %12s %12s",
           simulation->options.survivor_ratio, simulation->options.max_tenuring,
           simulation->options.target_survivor, "young", "survivor", "collections", "survived",
           "copied", "promoted", "mark/cons", "overflows", "dead in old", "peak");
    if (has_heap)
        printf(" %10s %9s %12s", "heap", "full", "marked");
    else if (list == &simulation->lists[MODEL_YOUNG])
        printf(" %12s", "least heap");
    putchar('\n');
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *model = &list->items[i];
        bool is_coarse = simulation_is_coarse(simulation, model);
        has_coarse |= is_coarse;
        simulation_report_print_row(simulation, model,
                                    is_coarse ? "?" : marks_of(precision).estimate);
    }
    if (has_coarse)
        fputs(coarse_note, stdout);
}

/* Says in words what the largest young generation promotes, compared with the smallest. */
static void compare_promoted(const struct simulation *simulation, const struct model_list *list)
{
    const struct generations *least = &list->items[0];
    const struct generations *most = &list->items[list->count - 1];
    if (most->young == least->young || least->promoted == 0 || least->is_too_small ||
        most->is_too_small)
        return;
    const char *about =
        *marks_of(simulation_precision(simulation)).estimate != '\0' ? "about " : "";
    printf("A young generation of %s promotes %s%.0f %% of what %s does.\n",
           quantity_of_bytes((double) most->young).text, about,
           100 * (double) most->promoted / (double) least->promoted,
           quantity_of_bytes((double) least->young).text);
}

static void print_list(const struct simulation *simulation, enum model_kind kind)
{
    const struct model_list *list = &simulation->lists[kind];
    if (list->count == 0)
        return;
    print_generations(simulation, list);
    compare_promoted(simulation, list);
}

static void print_spaces(const struct simulation *simulation, const char *title, const char *work,
                         enum model_kind kind)
{
    const struct model_list *list = &simulation->lists[kind];
    if (list->count == 0)
        return;
    const struct marks marks = marks_of(simulation_precision(simulation));
    printf("\n%s\n%10s %13s %12s %10s %12s\n", title, "heap", "collections", work, "mark/cons",
           "peak");
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *space = &list->items[i];
        char collections[48];
        printf("%10s ", quantity_of_bytes((double) space->heap).text);
        if (space->is_too_small) {
            printf("too small%s after %s of births\n",
                   *marks.bound != '\0' ? ", if objects die this late," : "",
                   quantity_of_bytes((double) space->failed_at).text);
            continue;
        }
        snprintf(collections, sizeof collections, "%s%s", marks.bound,
                 quantity_of_count(space->collections).text);
        printf("%13s", collections);
        simulation_report_put_bytes(marks.bound, space->marked);
        put_ratio(marks.bound, mark_cons(simulation, space));
        simulation_report_put_bytes("", space->peak);
        putchar('\n');
    }
}

static void print_deaths(const struct simulation *simulation)
{
    char deaths[DEATH_DATES_TEXT];
    struct death_dates dates = simulation->deaths;
    dates.are_of_program = simulation->frees_are_exact;
    death_dates_print(&dates, deaths, sizeof deaths);
    printf("death times: %s\n", *deaths != '\0' ? deaths : "none");
}

void simulation_print_text(const struct simulation *simulation)
{
    const struct marks marks = marks_of(simulation_precision(simulation));
    printf("trace      %s\n", simulation->path);
    printf("allocated  %s object%s, %s\n", quantity_of_count(simulation->objects).text,
           plural(simulation->objects), quantity_of_bytes((double) simulation->allocated).text);
    if (simulation->existing > 0)
        printf("existing   %s before the trace\n",
               quantity_of_bytes((double) simulation->existing).text);
    print_deaths(simulation);
    printf("minimum    %s%s%s: the most live bytes at one time\n", marks.bound,
           *marks.bound != '\0' ? " " : "",
           quantity_of_bytes((double) simulation->peak_living).text);
    printf("least heap %s%s%s: -Xmx of Serial with room for that, and for its largest objects\n",
           marks.bound, *marks.bound != '\0' ? " " : "",
           quantity_of_bytes((double) simulation->least.heap).text);
    fputs(note_of(simulation_precision(simulation)), stdout);
    print_list(simulation, MODEL_YOUNG);
    print_list(simulation, MODEL_REGIONS);
    print_spaces(simulation, "semi-space", "copied", MODEL_SEMI_SPACE);
    print_spaces(simulation, "mark-compact", "marked", MODEL_MARK_COMPACT);
}

/* ---- CSV: a row for each model and size, empty fields for what a model does not have ---- */

static const char *const words[] = {[SIMULATION_EXACT] = "exact",
                                    [SIMULATION_DATED] = "dated",
                                    [SIMULATION_DELAYED] = "delayed",
                                    [SIMULATION_NONE] = "none"};

static void simulation_report_put_field(bool is_known, uint64_t value)
{
    putchar(',');
    if (is_known)
        printf("%" PRIu64, value);
}

/* What a collector of one space copied or marked is in the column `copied`. */
static void simulation_report_put_row(const struct simulation *simulation,
                                      const struct generations *model, const char *name)
{
    const struct least_heap *least = simulation_least_heap(simulation, model);
    bool has_two = model->young != 0, fits = !model->is_too_small;
    bool is_limited = has_two && model->heap != 0;
    printf("%s,%s,%" PRIu64 ",%s", name, words[simulation_precision(simulation)],
           has_two ? model->young : model->heap, fits ? "true" : "false");
    simulation_report_put_field(fits, model->collections);
    simulation_report_put_field(fits && has_two, model->survived);
    simulation_report_put_field(fits, has_two ? model->copied : model->marked);
    simulation_report_put_field(fits && has_two, model->promoted);
    if (fits)
        printf(",%.6f", mark_cons(simulation, model));
    else
        putchar(',');
    simulation_report_put_field(fits && has_two, model->overflows);
    simulation_report_put_field(fits && has_two, model->dead_old);
    simulation_report_put_field(fits, model->peak);
    fputs(!has_two ? "," : simulation_is_coarse(simulation, model) ? ",true" : ",false", stdout);
    simulation_report_put_field(is_limited, model->heap);
    simulation_report_put_field(is_limited && fits, model->full);
    simulation_report_put_field(is_limited && fits, model->marked);
    simulation_report_put_field(least != NULL, least != NULL ? least->heap : 0);
    putchar('\n');
}

void simulation_print_csv(const struct simulation *simulation)
{
    static const char *const names[MODEL_KINDS] = {"generations", "regions", "semi-space",
                                                   "mark-compact"};
    fputs("model,deaths,size,fits,collections,survived,copied,promoted,mark_cons,overflows,"
          "dead_old,peak,coarse,heap,full,marked,least_heap\n",
          stdout);
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
        for (size_t i = 0; i < simulation->lists[kind].count; i++)
            simulation_report_put_row(simulation, &simulation->lists[kind].items[i], names[kind]);
}

/* ---- JSON ---- */

/* `work`: the name of what a collector of one space does; NULL: two generations. */
static void put_model(const struct simulation *simulation, const struct generations *model,
                      const char *work, struct json_output *json)
{
    const struct least_heap *least = simulation_least_heap(simulation, model);
    if (work == NULL) {
        json_number(json, "young", model->young);
        json_number(json, "eden", model->eden);
        json_number(json, "survivor", model->survivor);
        json_bool(json, "is_coarse", simulation_is_coarse(simulation, model));
    }
    if (least != NULL)
        json_number(json, "least_heap", least->heap);
    if (model->heap != 0) {
        json_number(json, "heap", model->heap);
        json_bool(json, "fits", !model->is_too_small);
    }
    if (model->is_too_small)
        return;
    json_number(json, "collections", model->collections);
    if (work == NULL) {
        json_number(json, "survived", model->survived);
        json_number(json, "copied", model->copied);
        json_number(json, "promoted", model->promoted);
    } else {
        json_number(json, work, model->marked);
    }
    json_real(json, "mark_cons", mark_cons(simulation, model));
    if (work == NULL) {
        json_number(json, "overflows", model->overflows);
        json_number(json, "dead_old", model->dead_old);
    }
    json_number(json, "peak", model->peak);
    if (work == NULL && model->heap != 0) {
        json_number(json, "full_collections", model->full);
        json_number(json, "marked", model->marked);
    }
}

static void put_models(const struct simulation *simulation, const char *name, const char *work,
                       enum model_kind kind, struct json_output *json)
{
    const struct model_list *list = &simulation->lists[kind];
    json_begin_array(json, name);
    for (size_t i = 0; i < list->count; i++) {
        json_begin_object(json, NULL);
        put_model(simulation, &list->items[i], work, json);
        json_end_object(json);
    }
    json_end_array(json);
}

void simulation_print_json(const struct simulation *simulation)
{
    enum simulation_precision precision = simulation_precision(simulation);
    struct json_output json;
    json_open(&json, stdout);
    json_text(&json, "trace", simulation->path);
    json_number(&json, "objects", simulation->objects);
    json_number(&json, "allocated", simulation->allocated);
    json_number(&json, "existing", simulation->existing);
    json_number(&json, "minimum_heap", simulation->peak_living);
    json_number(&json, "least_heap", simulation->least.heap);
    json_bool(&json, "is_exact", precision == SIMULATION_EXACT);
    json_bool(&json, "is_upper_bound", precision >= SIMULATION_DELAYED);
    death_dates_put_json(&simulation->deaths, simulation->unit, &json);
    json_begin_object(&json, "options");
    json_number(&json, "survivor_ratio", simulation->options.survivor_ratio);
    json_number(&json, "max_tenuring", simulation->options.max_tenuring);
    json_number(&json, "target_survivor", simulation->options.target_survivor);
    json_number(&json, "region", simulation->options.region);
    json_end_object(&json);
    put_models(simulation, "generations", NULL, MODEL_YOUNG, &json);
    put_models(simulation, "regions", NULL, MODEL_REGIONS, &json);
    put_models(simulation, "semi_space", "copied", MODEL_SEMI_SPACE, &json);
    put_models(simulation, "mark_compact", "marked", MODEL_MARK_COMPACT, &json);
    json_close(&json);
}

/* ---- the picture: what each model moved or marked, over the sizes of its space ---- */

#define X_STEPS_MOST 8

static struct quantity size_label(double log_size)
{
    return quantity_of_bytes(exp2(log_size));
}

static double simulation_report_larger(double a, double b)
{
    return a > b ? a : b;
}

static double log_size_of(const struct generations *model)
{
    return log2((double) (model->young != 0 ? model->young : model->heap));
}

static void take_models(struct svg_chart *chart, const struct model_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct generations *model = &list->items[i];
        double log_size = log_size_of(model);
        chart->x_least = log_size < chart->x_least ? log_size : chart->x_least;
        chart->x_most = simulation_report_larger(chart->x_most, log_size);
        chart->y_most = simulation_report_larger(chart->y_most, (double) model->copied);
        chart->y_most = simulation_report_larger(chart->y_most, (double) model->promoted);
        if (!model->is_too_small)
            chart->y_most = simulation_report_larger(chart->y_most, (double) model->marked);
    }
}

static void set_axes(struct svg_chart *chart, const struct simulation *simulation)
{
    chart->x_least = HUGE_VAL;
    chart->x_most = 0;
    chart->y_most = 1;
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
        take_models(chart, &simulation->lists[kind]);
    chart->y_most *= 1.05;
    if (chart->x_most <= chart->x_least) { /* one size */
        chart->x_least -= 1;
        chart->x_most += 1;
    }
    double doublings = ceil(chart->x_most - chart->x_least);
    chart->x_steps =
        (size_t) (doublings < X_STEPS_MOST ? simulation_report_larger(doublings, 1) : X_STEPS_MOST);
}

/* Draws the figure at that offset of each model. */
static void draw_curve(struct svg_chart *chart, const struct model_list *list, size_t figure,
                       const char *name)
{
    if (list->count == 0)
        return;
    svg_chart_begin_curve(chart, false);
    for (size_t i = 0; i < list->count; i++) {
        uint64_t value;
        memcpy(&value, (const char *) &list->items[i] + figure, sizeof value);
        if (!list->items[i].is_too_small)
            svg_chart_point(chart, log_size_of(&list->items[i]), (double) value);
    }
    svg_chart_end_curve(chart, name, false);
}

bool simulation_print_picture(const void *simulation_pointer, FILE *out)
{
    static const struct {
        enum model_kind kind;
        size_t figure;
        const char *name;
    } curves[] = {
        {MODEL_YOUNG, offsetof(struct generations, promoted), "promoted"},
        {MODEL_YOUNG, offsetof(struct generations, copied), "copied"},
        {MODEL_REGIONS, offsetof(struct generations, promoted), "promoted, regions"},
        {MODEL_REGIONS, offsetof(struct generations, copied), "copied, regions"},
        {MODEL_SEMI_SPACE, offsetof(struct generations, marked), "semi-space"},
        {MODEL_MARK_COMPACT, offsetof(struct generations, marked), "mark-compact"},
    };
    const struct simulation *simulation = simulation_pointer;
    const char *slash = strrchr(simulation->path, '/');
    struct svg_chart chart = {.out = out,
                              .title = simulation_precision(simulation) == SIMULATION_EXACT
                                           ? "Bytes moved or marked by collectors"
                                           : "Bytes moved or marked by collectors (estimates)",
                              .subject = slash != NULL ? slash + 1 : simulation->path,
                              .x_name = "size of the young generation, or of the heap",
                              .x_label = size_label};
    set_axes(&chart, simulation);
    svg_chart_begin(&chart);
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++)
        draw_curve(&chart, &simulation->lists[curves[i].kind], curves[i].figure, curves[i].name);
    svg_chart_end(&chart);
    return true;
}
