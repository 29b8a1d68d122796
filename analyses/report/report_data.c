/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the data of the report page as compact JSON. */
#include "analyses/report/report_data.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/report/findings/findings.h"
#include "analyses/report/report_model.h"
#include "converter/statistics/statistics_report.h"
#include "format/json/json_output.h"

/* ---- what pages of any trace say of it ---- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void put_gap(void *json, const char *sentence)
{
    json_text(json, NULL, sentence);
}

void report_properties_put(const struct event_source *source, uint64_t not_probed,
                           const struct report_options *options, struct json_output *json)
{
    json_text(json, "title", options->title != NULL ? options->title : file_name(source->path));
    if (options->source_url != NULL)
        json_text(json, "source_url", options->source_url);
    else
        json_null(json, "source_url");
    json_begin_array(json, "gaps");
    trace_gaps_each(source, not_probed, put_gap, json);
    json_end_array(json);
    json_begin_array(json, "properties");
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++) {
        json_begin_array(json, NULL);
        trace_text_put_json(property.key, json, NULL);
        trace_text_put_json(property.value, json, NULL);
        json_end_array(json);
    }
    json_end_array(json);
}

#define ACTIVE_THREADS 40u   /* maximum number of threads whose activity is drawn */
#define LEAST_ACTIVITY 1000u /* activity below 1/1000 of the largest in a step is not drawn */

struct writer {
    const struct report_model *model;
    const struct report_options *options;
    struct json_output json;
};

/* ---- the summary ---- */

static uint64_t used_threads(const struct statistics *statistics)
{
    uint64_t used = 0;
    const struct thread_totals *thread;
    for (uint32_t i = 1; (thread = id_table_next(&statistics->threads, &i)) != NULL; i++)
        used += thread->is_used;
    return used;
}

static void report_data_put_summary(struct writer *writer)
{
    const struct statistics *statistics = &writer->model->statistics;
    const struct object_totals *all = &statistics->all.objects;
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {{"events", statistics->event_count},
                {"first_ns", statistics->first_ns},
                {"last_ns", statistics->last_ns},
                {"running_ns", statistics_running_ns(statistics)},
                {"allocated_bytes", all->allocated_bytes},
                {"allocated_objects", all->allocated_objects},
                {"existing_bytes", all->existing_bytes},
                {"existing_objects", all->existing_objects},
                {"freed_bytes", all->freed_bytes},
                {"freed_objects", all->freed_objects},
                {"live_bytes", statistics->live_bytes},
                {"live_objects", statistics->live_objects},
                {"peak_bytes", statistics->peak.bytes},
                {"peak_objects", statistics->peak.objects},
                {"peak_ns", statistics->peak_ns},
                {"collections", writer->model->timeline.collections},
                {"classes", statistics->kinds[EVENT_CLASS_LOAD]},
                {"threads", used_threads(statistics)},
                {"calls", statistics->kinds[EVENT_METHOD_ENTRY]}};
    json_bool(&writer->json, "clock", event_source_has_times(writer->model->source));
    json_begin_object(&writer->json, "summary");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        json_number(&writer->json, rows[i].key, rows[i].value);
    json_end_object(&writer->json);
}

static void put_moment(struct writer *writer)
{
    const struct heap_snapshot *moment = report_moment(writer->model);
    char label[64];
    heap_moment_print(&moment->moment, moment->unit, label, sizeof label);
    json_begin_object(&writer->json, "moment");
    json_text(&writer->json, "label",
              moment->moment.kind == HEAP_AT_END    ? "the end"
              : moment->moment.kind == HEAP_AT_PEAK ? "the peak"
                                                    : label);
    json_number(&writer->json, "time_ns", moment->time_ns);
    json_number(&writer->json, "live_bytes", moment->live.bytes);
    json_number(&writer->json, "live_objects", moment->live.objects);
    json_end_object(&writer->json);
}

/* ---- lifetimes ---- */

static void report_data_put_lifetimes(struct writer *writer)
{
    const struct lifetimes *lifetimes = &writer->model->statistics.all.lifetimes;
    json_begin_array(&writer->json, "lifetimes");
    for (unsigned i = 0; i <= 64; i++) {
        uint64_t count = lifetimes_of_bits(lifetimes, i);
        if (count == 0)
            continue;
        JSON_NUMBERS(&writer->json, NULL, i, count);
    }
    json_end_array(&writer->json);
}

/* ---- classes ---- */

/* A row is [name, objects and bytes at the moment, the columns of statistics]. */
static bool report_data_put_classes(struct writer *writer, const struct statistics_report *report)
{
    struct json_output *json = &writer->json;
    struct id_table at_moment; /* struct heap_amount */
    struct ranking ranking;
    const struct heap_snapshot *moment = report_moment(writer->model);
    bool ok = true;
    if (!statistics_rank(report, AXIS_CLASS, &ranking))
        return false;
    id_table_init(&at_moment, sizeof(struct heap_amount));
    for (size_t i = 0; i < moment->count && ok; i++) {
        struct heap_amount *amount = id_table_get(&at_moment, moment->rows[i].key.class_id);
        if ((ok = amount != NULL)) {
            amount->objects += moment->rows[i].live.objects;
            amount->bytes += moment->rows[i].live.bytes;
        }
    }
    statistics_put_page_heads(report->statistics, AXIS_CLASS, &ranking, "class_columns", json);
    json_begin_array(json, "classes");
    for (size_t i = 0; i < ranking.shown && ok; i++) {
        uint32_t id = ranking.rows[i].id;
        const struct heap_amount *amount = id_table_find(&at_moment, id);
        json_begin_array(json, NULL);
        json_bytes(json, NULL, trace_class_of(&writer->model->source->names, id)->name);
        json_number(json, NULL, amount != NULL ? amount->objects : 0);
        json_number(json, NULL, amount != NULL ? amount->bytes : 0);
        statistics_put_page_row(report->statistics, AXIS_CLASS, &ranking.rows[i], false, json);
        json_end_array(json);
    }
    json_end_array(json);
    json_number(json, "classes_left", ranking.count - ranking.shown);
    free(ranking.rows);
    id_table_reset(&at_moment);
    return ok;
}

/* ---- threads ---- */

static void put_activity(struct writer *writer, uint32_t id)
{
    const struct timeline *timeline = &writer->model->timeline;
    const struct timeline_thread *thread = id_table_find(&timeline->threads, id);
    static const struct timeline_amounts nothing = {NULL, 0, 0};
    const struct timeline_amounts *amounts =
        thread == NULL ? &nothing
        : !object_totals_have_objects(&writer->model->statistics.all.objects)
            ? &thread->calls
            : &thread->allocated_bytes;
    uint64_t most = 0;
    json_begin_array(&writer->json, "activity");
    for (size_t i = 0; i < amounts->count; i++)
        most = amounts->items[i].amount > most ? amounts->items[i].amount : most;
    for (size_t i = 0; i < amounts->count; i++) {
        const struct timeline_amount *item = &amounts->items[i];
        if (item->amount == 0 || item->amount < most / LEAST_ACTIVITY)
            continue;
        JSON_NUMBERS(&writer->json, NULL, item->step, item->amount);
    }
    json_end_array(&writer->json);
}

static void report_data_put_thread(struct writer *writer, const struct ranked_id *rank,
                                   bool is_drawn)
{
    struct json_output *json = &writer->json;
    uint32_t id = rank->id;
    const struct trace_thread *names = trace_thread_of(&writer->model->source->names, id);
    json_begin_object(json, NULL);
    json_number(json, "number", id == 0 ? 0 : names->number);
    if (id == 0)
        json_text(json, "name", "(the VM, or not known)");
    else
        json_bytes(json, "name", names->name);
    statistics_put_page_row(&writer->model->statistics, AXIS_THREAD, rank, true, json);
    if (is_drawn)
        put_activity(writer, id);
    else
        json_numbers(json, "activity", NULL, 0, 0);
    json_end_object(json);
}

static bool put_threads(struct writer *writer, const struct statistics_report *report)
{
    struct ranking ranking;
    if (!statistics_rank(report, AXIS_THREAD, &ranking))
        return false;
    statistics_put_page_heads(report->statistics, AXIS_THREAD, &ranking, "thread_columns",
                              &writer->json);
    json_begin_array(&writer->json, "threads");
    for (size_t i = 0; i < ranking.shown; i++)
        report_data_put_thread(writer, &ranking.rows[i], i < ACTIVE_THREADS);
    json_end_array(&writer->json);
    json_number(&writer->json, "threads_left", ranking.count - ranking.shown);
    free(ranking.rows);
    return true;
}

/* ---- methods ---- */

/* Writes "java/util/HashMap.resize()", with parameters if they are known. */
static bool put_method_name(struct writer *writer, uint32_t id)
{
    const struct trace_names *names = &writer->model->source->names;
    const struct trace_method *method = trace_method_of(names, id);
    const struct step_bytes class_name = trace_class_of(names, method->class_id)->name;
    size_t length = class_name.length + method->name.length + method->descriptor.length + 1;
    char *text = malloc(length);
    if (text == NULL)
        return false;
    size_t at = 0;
    memcpy(text, class_name.data, class_name.length);
    at += class_name.length;
    text[at++] = '.';
    memcpy(text + at, method->name.data, method->name.length);
    at += method->name.length;
    if (method->descriptor.length > 0)
        memcpy(text + at, method->descriptor.data, method->descriptor.length);
    json_bytes(&writer->json, NULL, (struct step_bytes){(const uint8_t *) text, length});
    free(text);
    return true;
}

static bool report_data_put_methods(struct writer *writer, const struct statistics_report *report)
{
    struct json_output *json = &writer->json;
    struct ranking ranking;
    bool ok = true;
    if (!statistics_rank(report, AXIS_METHOD, &ranking))
        return false;
    statistics_put_page_heads(report->statistics, AXIS_METHOD, &ranking, "method_columns", json);
    json_begin_array(json, "methods");
    for (size_t i = 0; i < ranking.shown && ok; i++) {
        json_begin_array(json, NULL);
        ok = put_method_name(writer, ranking.rows[i].id);
        statistics_put_page_row(report->statistics, AXIS_METHOD, &ranking.rows[i], false, json);
        json_end_array(json);
    }
    json_end_array(json);
    json_number(json, "methods_left", ranking.count - ranking.shown);
    free(ranking.rows);
    return ok;
}

/* ---- calls ---- */

/* Writes the index of a thread or method in a list of the page, which is assigned on first use. */
static bool report_data_put_number(struct json_output *json, struct id_table *numbers,
                                   uint32_t *last, uint32_t id)
{
    uint32_t *number = id_table_get(numbers, id);
    if (number == NULL)
        return false;
    if (*number == 0)
        *number = ++*last;
    json_number(json, NULL, *number - 1);
    return true;
}

/* Writes names in the order of their indices.  Returns false if memory runs out. */
static bool put_listed(struct writer *writer, const char *key, const struct id_table *numbers,
                       uint32_t count, bool is_methods)
{
    uint32_t *ids = calloc((size_t) count + 1, sizeof *ids);
    bool ok = ids != NULL;
    const uint32_t *number;
    for (uint32_t i = 0; ok && (number = id_table_next(numbers, &i)) != NULL; i++)
        if (*number != 0)
            ids[*number - 1] = i;
    json_begin_array(&writer->json, key);
    for (uint32_t i = 0; ok && i < count; i++) {
        if (is_methods)
            ok = put_method_name(writer, ids[i]);
        else
            json_bytes(&writer->json, NULL,
                       trace_thread_of(&writer->model->source->names, ids[i])->name);
    }
    json_end_array(&writer->json);
    free(ids);
    return ok;
}

static bool put_calls(struct writer *writer)
{
    const struct report_calls *calls = &writer->model->calls;
    struct json_output *json = &writer->json;
    struct id_table threads, methods; /* uint32_t: index + 1 */
    uint32_t last_thread = 0, last_method = 0;
    bool ok = true;
    id_table_init(&threads, sizeof(uint32_t));
    id_table_init(&methods, sizeof(uint32_t));
    json_begin_object(json, "calls");
    json_begin_array(json, "calls");
    for (size_t i = 0; ok && i < calls->count; i++) {
        const struct report_call *call = &calls->longest[i];
        json_begin_array(json, NULL);
        json_number(json, NULL, call->start_ns);
        json_number(json, NULL, call->length_ns);
        ok = report_data_put_number(json, &threads, &last_thread, call->thread_id) &&
             report_data_put_number(json, &methods, &last_method, call->method_id);
        json_number(json, NULL, call->depth);
        json_end_array(json);
    }
    json_end_array(json);
    json_number(json, "left", calls->seen - calls->count);
    ok = ok && put_listed(writer, "threads", &threads, last_thread, false) &&
         put_listed(writer, "methods", &methods, last_method, true);
    json_end_object(json);
    id_table_reset(&threads);
    id_table_reset(&methods);
    return ok;
}

/* Returns false if memory runs out. */
static bool put_findings(const struct report_model *model, const struct report_retained *retained,
                         struct json_output *json)
{
    const struct findings_evidence evidence = {.source = model->source,
                                               .pass = model->has_leaks ? &model->findings : NULL,
                                               .graph =
                                                   retained->is_known ? &retained->graph : NULL,
                                               .not_probed = model->statistics.not_probed};
    struct findings findings;
    bool ok = findings_make(&evidence, &findings);
    if (ok)
        findings_put_json(&findings, json);
    return ok;
}

/* ---- the report ---- */

bool report_data_put(const struct report_model *model, const struct report_retained *retained,
                     const struct report_options *options, FILE *file)
{
    struct writer writer = {.model = model, .options = options};
    const struct statistics_report report = {.statistics = &model->statistics,
                                             .path = model->source->path,
                                             .top = options->top,
                                             .order = ORDER_BYTES};
    json_init(&writer.json, file);
    writer.json.is_compact = true;
    writer.json.is_in_html = true;
    json_begin_object(&writer.json, NULL);
    report_properties_put(model->source, model->statistics.not_probed, options, &writer.json);
    report_data_put_summary(&writer);
    put_moment(&writer);
    bool ok = put_findings(model, retained, &writer.json) &&
              report_timeline_put_data(model, &writer.json);
    report_phases_put_data(&model->phases, &model->timeline, &writer.json);
    report_data_put_lifetimes(&writer);
    death_dates_put_json(&model->statistics.deaths, event_source_time_unit(model->source),
                         &writer.json);
    report_collectors_put_data(model->collectors, &writer.json);
    report_retained_put_data(retained, &writer.json);
    ok = ok &&
         report_leaks_put_data(model->has_leaks ? &model->findings.leaks : NULL, &writer.json) &&
         report_advice_put_data(&model->advice, &model->source->names, &writer.json) &&
         report_data_put_classes(&writer, &report) && put_threads(&writer, &report) &&
         report_data_put_methods(&writer, &report) && put_calls(&writer) &&
         report_sites_put_data(model, options, &report, &writer.json);
    json_end_object(&writer.json);
    return ok;
}
