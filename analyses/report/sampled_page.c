/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the estimates of a sampled trace as the JSON text that the page reads. */
#include "analyses/page/pages.h"
#include "analyses/report/report_data.h"

#include <stdlib.h>

#include "analyses/leaks/leak_rows.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/numbers/amount.h"
#include "converter/numbers/sample_totals.h"
#include "converter/output/output_file.h"
#include "converter/statistics/statistics_report.h"

#define LEAKS_SURVIVED UINT64_C(3) /* the default of `steptrace leaks` */
#define LEAKS_MOST ((size_t) 50)
#define FRAMES 24u /* of a site */

struct writer {
    const struct report_model *model;
    const struct report_options *options;
    struct json_output json;
};

/* Writes the number of samples, and the estimates of objects and bytes. */
static void put_sums(struct json_output *json, const char *key, const struct sample_sums *sums)
{
    const struct amount objects = amount_of_objects(0, sums), bytes = amount_of_bytes(0, sums);
    json_begin_array(json, key);
    json_number(json, NULL, sums->samples);
    amount_put_array(&objects, NULL, json);
    amount_put_array(&bytes, NULL, json);
    json_end_array(json);
}

static void sampled_page_put_summary(struct writer *writer)
{
    const struct statistics *statistics = &writer->model->statistics;
    const struct heap_snapshot *snapshot = report_moment(writer->model);
    struct json_output *json = &writer->json;
    char moment[48];
    heap_moment_print(&snapshot->moment, snapshot->unit, moment, sizeof moment);
    json_bool(json, "clock", event_source_has_times(writer->model->source));
    sampled_trace_put_json(json, writer->model->source->path, statistics->weights.interval_bytes);
    json_number(json, "first_ns", statistics->first_ns);
    json_number(json, "last_ns", statistics->last_ns);
    json_text(json, "moment", moment);
    json_number(json, "moment_ns", snapshot->time_ns);
    json_number(json, "collections", snapshot->collections);
    put_sums(json, "allocated", &statistics->all.sampled.allocated);
    put_sums(json, "freed", &statistics->all.sampled.freed);
    put_sums(json, "live", &snapshot->all_samples.live);
    const struct sample_lives *lives = &statistics->all.sampled.lives;
    const struct amount life = lives->samples > 0
                                   ? amount_estimated(estimate_life(lives), AMOUNT_NS)
                                   : amount_none(AMOUNT_NS);
    amount_put_array(&life, "life", json);
}

static void sampled_page_put_frames(struct json_output *json, const struct heap_sites *sites,
                                    uint32_t site)
{
    stack_put_json(heap_site_stack(sites, site, FRAMES), json, "site");
}

/* What lives at the moment, by class: the snapshot is folded later. */
static struct sample_sums live_of_class(const struct heap_snapshot *snapshot, uint32_t class_id)
{
    struct sample_sums live = {.samples = 0};
    for (size_t i = 0; i < snapshot->count; i++)
        if (snapshot->rows[i].key.class_id == class_id)
            sample_sums_merge(&live, &snapshot->rows[i].samples->live);
    return live;
}

static bool sampled_page_put_classes(struct writer *writer, const struct statistics_report *report)
{
    const struct statistics *statistics = report->statistics;
    struct json_output *json = &writer->json;
    struct ranking ranking;
    if (!statistics_rank(report, AXIS_CLASS, &ranking))
        return false;
    statistics_put_page_heads(statistics, AXIS_CLASS, &ranking, "class_columns", json);
    json_begin_array(json, "classes");
    for (size_t i = 0; i < ranking.shown; i++) {
        uint32_t id = ranking.rows[i].id;
        const struct sampled_totals *totals =
            &((const struct class_totals *) id_table_find(&statistics->classes, id))->sampled;
        struct step_bytes name = trace_class_of(statistics->names, id)->name;
        const struct sample_sums live = sample_sums_of_class(
                                     live_of_class(report_moment(writer->model), id), name),
                                 allocated = sample_sums_of_class(totals->allocated, name);
        json_begin_object(json, NULL);
        json_bytes(json, "name", name);
        put_sums(json, "allocated", &allocated);
        put_sums(json, "live", &live);
        json_begin_array(json, "columns");
        statistics_put_page_row(statistics, AXIS_CLASS, &ranking.rows[i], false, json);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    free(ranking.rows);
    return true;
}

static int by_allocated(const void *left, const void *right)
{
    const struct heap_row *a = left, *b = right;
    if (a->allocated.bytes != b->allocated.bytes)
        return a->allocated.bytes > b->allocated.bytes ? -1 : 1;
    return a->key.site < b->key.site ? -1 : a->key.site > b->key.site;
}

static void put_sites(struct writer *writer, struct heap_snapshot *snapshot)
{
    struct json_output *json = &writer->json;
    heap_snapshot_fold(snapshot, HEAP_BY_SITE);
    qsort(snapshot->rows, snapshot->count, sizeof *snapshot->rows, by_allocated);
    json_begin_array(json, "sites");
    for (size_t i = 0; i < snapshot->count && i < writer->options->top; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        json_begin_object(json, NULL);
        put_sums(json, "allocated", &row->samples->allocated);
        put_sums(json, "live", &row->samples->live);
        sampled_page_put_frames(json, &writer->model->heap.sites, row->key.site);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_leak_rows(struct writer *writer, const struct leak_rows *rows)
{
    const struct leak_tracker *tracker = &writer->model->findings.leaks;
    struct json_output *json = &writer->json;
    json_begin_array(json, "growth");
    for (size_t i = 0; i < rows->count && i < LEAKS_MOST; i++) {
        const struct leak_row *row = &rows->rows[i];
        struct step_bytes name = trace_class_of(tracker->heap.sites.names, row->key.class_id)->name;
        const struct sample_sums old = sample_sums_of_class(row->old_samples, name);
        const struct amount growth = amount_estimated_change(row->growth, AMOUNT_BYTES);
        json_begin_object(json, NULL);
        put_sums(json, "old", &old);
        amount_put_array(&growth, "bytes", json);
        json_bool(json, "noise", row->rank <= 0);
        json_bytes(json, "class", name);
        sampled_page_put_frames(json, &tracker->heap.sites, row->key.site);
        json_end_object(json);
    }
    json_end_array(json);
}

/* Without three collections there is no line to fit. */
static bool put_growth(struct writer *writer)
{
    const struct leak_limits limits = {.survived = LEAKS_SURVIVED};
    struct suppressions none = {.count = 0};
    struct leak_rows rows;
    if (!writer->model->has_leaks || writer->model->findings.leaks.sample_count < 3) {
        json_null(&writer->json, "growth");
        return true;
    }
    bool ok = leak_rows_make(&writer->model->findings.leaks, &limits, HEAP_BY_CLASS | HEAP_BY_SITE,
                             &none, &rows);
    if (ok)
        put_leak_rows(writer, &rows);
    leak_rows_reset(&rows);
    return ok;
}

static bool put_threads(struct writer *writer, const struct statistics_report *report)
{
    const struct statistics *statistics = report->statistics;
    struct ranking ranking;
    if (!statistics_rank(report, AXIS_THREAD, &ranking))
        return false;
    json_begin_array(&writer->json, "threads");
    for (size_t i = 0; i < ranking.shown; i++) {
        uint32_t id = ranking.rows[i].id;
        const struct thread_totals *thread = id_table_find(&statistics->threads, id);
        json_begin_object(&writer->json, NULL);
        statistics_put_thread_name(&writer->json, statistics, id);
        put_sums(&writer->json, "allocated", &thread->sampled);
        json_end_object(&writer->json);
    }
    json_end_array(&writer->json);
    free(ranking.rows);
    return true;
}

struct page_data {
    struct report_model *model;
    const struct report_options *options;
};

static bool sampled_page_put_data(const void *user, FILE *out)
{
    const struct page_data *page = user;
    struct report_model *model = page->model;
    struct writer writer = {.model = model, .options = page->options};
    const struct statistics_report report = {.statistics = &model->statistics,
                                             .path = model->source->path,
                                             .top = page->options->top,
                                             .order = ORDER_BYTES};
    json_init(&writer.json, out);
    writer.json.is_compact = true;
    writer.json.is_in_html = true;
    json_begin_object(&writer.json, NULL);
    report_properties_put(model->source, 0, page->options, &writer.json);
    sampled_page_put_summary(&writer);
    bool ok = sampled_page_put_classes(&writer, &report);
    put_sites(&writer, &model->snapshots[0]);
    ok = ok && put_growth(&writer) && put_threads(&writer, &report);
    json_end_object(&writer.json);
    return ok;
}

enum step_status report_page_write(const char *path, const struct step_bytes frame[2],
                                   bool (*print)(const void *user, FILE *out), const void *user,
                                   const struct report_options *options, struct step_error *error)
{
    return (options->is_name_given ? output_file_print : output_file_print_own)(path, frame, print,
                                                                                user, error);
}

enum step_status sampled_page_write(const char *path, struct report_model *model,
                                    const struct report_options *options, struct step_error *error)
{
    const struct page_data page = {model, options};
    return report_page_write(path, estimates_page, sampled_page_put_data, &page, options, error);
}
