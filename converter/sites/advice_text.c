/* SPDX-License-Identifier: Apache-2.0 */
/* Prints advice with its evidence for people. */
#include <inttypes.h>

#include "converter/base/quantity.h"
#include "converter/base/table_text.h"
#include "converter/sites/site_report.h"

#define COUNT(number) quantity_of_count(number).text
#define BYTES(number) quantity_of_bytes((double) (number)).text

static void put_part(const struct advice *advice, const struct site_life *life, FILE *out)
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
    put_part(advice, life, out);
    fprintf(out, " got longer arrays, %.1f times each",
            per(references->growths, references->grown_objects));
    if (arrays == 0)
        return;
    fprintf(out, "; the last has %s on average",
            quantity_of_bytes(per(references->final_bytes, arrays)).text);
    put_elements(report, references, out);
}

static void put_evidence(const struct site_report *report, const struct advice *advice, FILE *out)
{
    const struct site_life *life = &report->lives->items[advice->site];
    switch (advice->kind) {
    case ADVICE_PRETENURE:
        put_part(advice, life, out);
        fprintf(out, " survived %u collections or more", SURVIVED_OLD);
        break;
    case ADVICE_REUSE:
        put_part(advice, life, out);
        fprintf(out, " died before the next %s of the site; at most %s lived at a time",
                COUNT(report->lives->within), COUNT(life->most_living));
        break;
    case ADVICE_DUPLICATE:
        put_part(advice, life, out);
        fputs(" were made when the thread's last one, as large, was dead", out);
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

static void put_unknown(const struct site_report *report, FILE *out)
{
    if (!report->has_references)
        fputs("scalar, presize: unknown, as the trace has no stores of references (the agent's\n"
              "option events=reference)\n",
              out);
    if (site_lives_precision(report->lives) == SITE_NO_DEATHS)
        fputs("reuse, duplicate: unknown, as the trace has no deaths\n", out);
    if (site_lives_collections(report->lives) < SURVIVED_OLD)
        fprintf(out,
                "pretenure: unknown, as there were %" PRIu64 " collections (--young=SIZE "
                "models them)\n",
                site_lives_collections(report->lives));
}

void advice_print_text(const struct site_report *report, FILE *out)
{
    const struct advice_list *list = report->advice;
    size_t shown = table_shown(report->top, list->count);
    site_report_put_head(report, out);
    put_unknown(report, out);
    fprintf(out, "\n%12s %-10s %s\n", "at stake", "advice", "site, evidence");
    for (size_t i = 0; i < shown; i++) {
        const struct advice *advice = &list->items[i];
        fprintf(out, "%12s %-10s ", BYTES(advice->bytes), advice_words[advice->kind]);
        site_report_put_names(report, advice->site, out);
        fprintf(out, "\n%24s", "");
        put_evidence(report, advice, out);
        putc('\n', out);
    }
    if (list->count == 0)
        fputs("(no advice)\n", out);
    table_print_rest(shown, list->count, "rows");
}
