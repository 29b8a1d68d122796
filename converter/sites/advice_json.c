/* SPDX-License-Identifier: Apache-2.0 */
/* Writes advice with its evidence as JSON. */
#include "converter/base/table_text.h"
#include "converter/sites/site_report.h"

/* Primitive arrays have no stores in a trace: how much of them is used, is unknown. */
static void put_elements(const struct site_report *report, const struct site_references *references,
                         struct json_output *json)
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

static void put_evidence(const struct site_report *report, const struct advice *advice,
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
        put_elements(report, references, json);
    }
    json_number(json, "bound_deaths", life->bounds);
    json_number(json, "late_deaths", life->late);
    json_end_object(json);
}

static void put_row(const struct site_report *report, const struct advice *advice,
                    struct json_output *json)
{
    json_begin_object(json, NULL);
    json_text(json, "advice", advice_words[advice->kind]);
    json_number(json, "bytes", advice->bytes);
    json_bool(json, "is_estimate", advice->is_bound);
    site_report_json_names(report, advice->site, json);
    put_evidence(report, advice, json);
    json_end_object(json);
}

static void put_unknown(const struct site_report *report, struct json_output *json)
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

void advice_print_json(const struct site_report *report, FILE *out)
{
    struct json_output json;
    const struct advice_list *list = report->advice;
    size_t shown = table_shown(report->top, list->count);
    json_init(&json, out);
    site_report_begin_json(report, &json);
    put_unknown(report, &json);
    json_number(&json, "advice_count", list->count);
    json_begin_array(&json, "advice");
    for (size_t i = 0; i < shown; i++)
        put_row(report, &list->items[i], &json);
    json_end_array(&json);
    json_close(&json);
}
