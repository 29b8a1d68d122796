/* SPDX-License-Identifier: Apache-2.0 */
/* Prints advice with its evidence, as text and as JSON. */
#include <inttypes.h>

#include "analyses/sites/site_report.h"
#include "converter/cli/table_text.h"
#include "converter/numbers/quantity.h"

#define COUNT(number) quantity_of_count(number).text
#define BYTES(number) quantity_of_bytes((double) (number)).text

static void advice_print_put_part(const struct advice *advice, const struct site_life *life,
                                  FILE *out)
{
    fprintf(out, "%s of", COUNT(advice->objects));
    fprintf(out, " %s objects", COUNT(life->born.objects));
}

static double per(uint64_t sum, uint64_t count)
{
    return (double) sum / (double) count;
}

/* How much of the longest arrays was used, on average. */
static void put_elements(const struct site_report *report, const struct site_references *references,
                         FILE *out)
{
    const struct site_elements *known = &references->of_references;
    const struct site_elements *unknown = &references->of_primitives;
    const char *most = report->lives->has_lengths ? "" : "at most ";
    if (known->arrays > 0) {
        fprintf(out, ", %.1f", per(known->used, known->arrays));
        if (known->used_most > known->used)
            fprintf(out, " to %.1f", per(known->used_most, known->arrays));
        fprintf(out, " of %s%.1f elements used", most, per(known->capacity, known->arrays));
    }
    if (unknown->arrays > 0)
        fprintf(out, ", %s%.1f primitive elements, use unknown", most,
                per(unknown->capacity, unknown->arrays));
}

static void put_presize(const struct site_report *report, const struct advice *advice,
                        const struct site_life *life, FILE *out)
{
    const struct site_references *references = &life->references;
    uint64_t arrays = references->of_references.arrays + references->of_primitives.arrays;
    advice_print_put_part(advice, life, out);
    fprintf(out, " were given longer arrays, %.1f times each",
            per(references->growths, references->grown_objects));
    if (arrays == 0)
        return;
    fprintf(out, "; the last has %s on average",
            quantity_of_bytes(per(references->final_bytes, arrays)).text);
    put_elements(report, references, out);
}

void advice_print_evidence(const struct site_report *report, const struct advice *advice, FILE *out)
{
    const struct site_life *life = &report->lives->items[advice->site];
    switch (advice->kind) {
    case ADVICE_PRETENURE:
        advice_print_put_part(advice, life, out);
        fprintf(out, " survived %u collections or more", SURVIVED_OLD);
        break;
    case ADVICE_REUSE:
        advice_print_put_part(advice, life, out);
        fprintf(out,
                " died before the next %s allocations of the site; at most %s were live at a time",
                COUNT(report->lives->within), COUNT(life->most_living));
        break;
    case ADVICE_DUPLICATE:
        advice_print_put_part(advice, life, out);
        fputs(" were allocated after the thread's previous one of that size had died", out);
        break;
    case ADVICE_SCALAR:
        fprintf(out, "none of %s objects was stored in a field, an array or a static field",
                COUNT(life->born.objects));
        break;
    case ADVICE_PRESIZE:
        put_presize(report, advice, life, out);
        break;
    case ADVICE_KIND_COUNT:
        break;
    }
    if (advice->is_bound)
        fprintf(out, " (estimate: %s deaths are lower bounds)", COUNT(life->bounds));
}

static void put_unknown(const struct site_report *report)
{
    if (!report->has_references)
        fputs("scalar, presize: unknown, as the trace has no stores of references (the agent's\n"
              "option events=reference)\n",
              stdout);
    if (site_lives_precision(report->lives) == SITE_NO_DEATHS)
        fputs("reuse, duplicate: unknown, as the trace has no deaths\n", stdout);
    if (site_lives_collections(report->lives) < SURVIVED_OLD)
        printf("pretenure: unknown, as there were %" PRIu64 " collections (--young=SIZE "
               "models them)\n",
               site_lives_collections(report->lives));
}

void advice_print_text(const struct site_report *report)
{
    const struct advice_list *list = report->advice;
    size_t shown = table_shown(report->top, list->count);
    site_report_put_head(report);
    put_unknown(report);
    printf("\n%12s %-10s %s\n", "at stake", "advice", "site, evidence");
    for (size_t i = 0; i < shown; i++) {
        const struct advice *advice = &list->items[i];
        printf("%12s %-10s ", BYTES(advice->bytes), advice_words[advice->kind]);
        site_report_put_names(report, advice->site);
        printf("\n%24s", "");
        advice_print_evidence(report, advice, stdout);
        putchar('\n');
    }
    if (list->count == 0)
        fputs("(no advice)\n", stdout);
    table_print_rest(shown, list->count, "rows");
}

/* Primitive arrays have no stores in a trace: how much of them is used, is unknown. */
static void json_elements(const struct site_report *report,
                          const struct site_references *references, struct json_output *json)
{
    const struct site_elements *known = &references->of_references;
    const struct site_elements *unknown = &references->of_primitives;
    json_number(json, "last_arrays", known->arrays);
    json_number(json, "capacity", known->capacity);
    json_number(json, "used", known->used);
    json_number(json, "used_most", known->used_most);
    json_number(json, "last_primitive_arrays", unknown->arrays);
    json_number(json, "primitive_capacity", unknown->capacity);
    json_bool(json, "is_capacity_exact", report->lives->has_lengths);
}

static void json_evidence(const struct site_report *report, const struct advice *advice,
                          struct json_output *json)
{
    const struct site_life *life = &report->lives->items[advice->site];
    const struct site_references *references = &life->references;
    json_begin_object(json, "evidence");
    json_number(json, "objects", advice->objects);
    json_number(json, "site_objects", life->born.objects);
    json_number(json, "site_bytes", life->born.bytes);
    if (advice->kind == ADVICE_REUSE) {
        json_number(json, "within", report->lives->within);
        json_number(json, "most_living", life->most_living);
    } else if (advice->kind == ADVICE_PRESIZE) {
        json_number(json, "growths", references->growths);
        json_number(json, "final_bytes", references->final_bytes);
        json_elements(report, references, json);
    }
    json_number(json, "bound_deaths", life->bounds);
    json_number(json, "late_deaths", life->late);
    json_end_object(json);
}

static void advice_print_put_row(const struct site_report *report, const struct advice *advice,
                                 struct json_output *json)
{
    json_begin_object(json, NULL);
    json_text(json, "advice", advice_words[advice->kind]);
    json_number(json, "bytes", advice->bytes);
    json_bool(json, "is_estimate", advice->is_bound);
    site_report_json_names(report, advice->site, json);
    json_evidence(report, advice, json);
    json_end_object(json);
}

static void json_unknown(const struct site_report *report, struct json_output *json)
{
    json_begin_array(json, "unknown");
    if (!report->has_references) {
        json_text(json, NULL, advice_words[ADVICE_SCALAR]);
        json_text(json, NULL, advice_words[ADVICE_PRESIZE]);
    }
    if (site_lives_precision(report->lives) == SITE_NO_DEATHS) {
        json_text(json, NULL, advice_words[ADVICE_REUSE]);
        json_text(json, NULL, advice_words[ADVICE_DUPLICATE]);
    }
    if (site_lives_collections(report->lives) < SURVIVED_OLD)
        json_text(json, NULL, advice_words[ADVICE_PRETENURE]);
    json_end_array(json);
}

void advice_print_json(const struct site_report *report)
{
    struct json_output json;
    const struct advice_list *list = report->advice;
    size_t shown = table_shown(report->top, list->count);
    json_init(&json, stdout);
    site_report_begin_json(report, &json);
    json_unknown(report, &json);
    json_number(&json, "advice_count", list->count);
    json_begin_array(&json, "advice");
    for (size_t i = 0; i < shown; i++)
        advice_print_put_row(report, &list->items[i], &json);
    json_end_array(&json);
    json_close(&json);
}
