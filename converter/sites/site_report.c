/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports of lifetimes and of advice have in common. */
#include "converter/sites/site_report.h"

#include "converter/base/error_report.h"
#include "converter/base/quantity.h"

static void put_note(enum site_precision precision, bool is_native, FILE *out)
{
    if (precision == SITE_NO_DEATHS)
        fprintf(out, "The trace has no deaths: lifetimes are unknown%s.\n",
                is_native ? "" : " (the agent's option events=free)");
    else if (precision == SITE_DELAYED)
        fputs("Collections of the traced run found the deaths, later than the objects died:\n"
              "lifetimes, marked <=, are upper bounds. With references in the trace,\n"
              "`steptrace deaths` computes exact deaths.\n",
              out);
    else if (precision == SITE_DATED)
        fputs("Not all deaths are exact: lifetimes marked <= are upper bounds, those marked ~ are\n"
              "estimates, as some deaths are lower bounds.\n",
              out);
}

static void put_collections(const struct site_report *report, FILE *out)
{
    const struct site_lives *lives = report->lives;
    uint64_t count = site_lives_collections(lives);
    if (lives->is_native && lives->young_bytes == 0)
        return;
    fprintf(out, "collected  %s time%s", quantity_of_count(count).text, plural(count));
    if (lives->young_bytes != 0)
        fprintf(out, " by a model: each %s allocated\n",
                quantity_of_bytes((double) lives->young_bytes).text);
    else if (count > 0)
        fprintf(out, ", each %s allocated on average\n",
                quantity_of_bytes((double) lives->born.bytes / (double) count).text);
    else
        putc('\n', out);
}

void site_report_put_head(const struct site_report *report, FILE *out)
{
    const struct site_lives *lives = report->lives;
    char deaths[DEATH_DATES_TEXT];
    fprintf(out, "trace      %s\n", report->path);
    fprintf(out, "allocated  %s object%s, %s, at %zu site%s\n",
            quantity_of_count(lives->born.objects).text, plural(lives->born.objects),
            quantity_of_bytes((double) lives->born.bytes).text, lives->count, plural(lives->count));
    death_dates_print(&lives->deaths, deaths, sizeof deaths);
    fprintf(out, "deaths     %s\n", *deaths != '\0' ? deaths : "none");
    put_collections(report, out);
    put_note(site_lives_precision(lives), lives->is_native, out);
    if (!lives->has_stacks && lives->count > 0)
        fputs("The trace has no call stacks: each row is a class.\n", out);
}

static struct stack_text stack_of(const struct site_report *report, uint32_t site, uint64_t depth)
{
    uint32_t stack_id = report->lives->items[site].key.stack_id;
    return heap_site_stack(report->sites, heap_sites_of_frame(report->sites, stack_id), depth);
}

static struct step_bytes class_of(const struct site_report *report, uint32_t site)
{
    return trace_class_of(report->sites->names, report->lives->items[site].key.class_id)->name;
}

void site_report_put_names(const struct site_report *report, uint32_t site, FILE *out)
{
    print_shown(class_of(report, site), out);
    if (report->lives->items[site].key.stack_id != 0) {
        fputs("  ", out);
        stack_print(stack_of(report, site, report->depth), out);
    }
}

void site_report_begin_json(const struct site_report *report, struct json_output *json)
{
    const struct site_lives *lives = report->lives;
    json_begin_object(json, NULL);
    json_text(json, "trace", report->path);
    json_number(json, "objects", lives->born.objects);
    json_number(json, "bytes", lives->born.bytes);
    json_number(json, "existing_objects", lives->existing.objects);
    json_number(json, "existing_bytes", lives->existing.bytes);
    json_number(json, "collections", site_lives_collections(lives));
    json_number(json, "model_young_bytes", lives->young_bytes);
    json_bool(json, "is_exact", site_lives_precision(lives) == SITE_EXACT);
    json_bool(json, "is_upper_bound", site_lives_precision(lives) == SITE_DELAYED);
    death_dates_put_json(&lives->deaths, json);
}

void site_report_json_names(const struct site_report *report, uint32_t site,
                            struct json_output *json)
{
    json_bytes(json, "class", class_of(report, site));
    stack_put_json(stack_of(report, site, 0), json, "site");
}
