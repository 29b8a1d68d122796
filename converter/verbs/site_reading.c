/* SPDX-License-Identifier: Apache-2.0 */
/* Reads births and deaths in one pass, and references in a second one if they are needed. */
#include "converter/verbs/site_reading.h"

#include <stdlib.h>

#include "converter/records/record_dump.h"

/* Only Java traces of StepTrace's own format have references. */
static enum step_status read_references(struct site_reading *reading, const struct input *input,
                                        const char *path)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (!reading->needs_references || input->source->content != TRACE_OF_GRAPHS)
        return STEP_STATUS_OK;
    const char *seekable_name = input->spool >= 0 ? input->spool_path : path;
    enum step_status status = record_open(seekable_name, &reader, &seekable, &error);
    if (status == STEP_STATUS_OK)
        status = site_stores_count(reader, &reading->lives, &error);
    reading->report.has_references = status == STEP_STATUS_OK;
    if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
        report_error(&error);
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static int by_bytes(const void *left, const void *right, void *user)
{
    const struct site_life *items = user;
    uint32_t a = *(const uint32_t *) left, b = *(const uint32_t *) right;
    uint64_t bytes_a = items[a].born.bytes, bytes_b = items[b].born.bytes;
    if (bytes_a != bytes_b)
        return bytes_a < bytes_b ? 1 : -1;
    return a < b ? -1 : a > b;
}

/* Returns false if out of memory. */
static bool evaluate(struct site_reading *reading, const struct trace_names *names)
{
    struct site_lives *lives = &reading->lives;
    const struct advice_options options = {.least_bytes = reading->least_bytes,
                                           .has_references = reading->report.has_references};
    reading->order = malloc((lives->count + 1) * sizeof *reading->order);
    if (reading->order == NULL)
        return false;
    for (size_t i = 0; i < lives->count; i++)
        reading->order[i] = (uint32_t) i;
    if (lives->count > 0)
        qsort_r(reading->order, lives->count, sizeof *reading->order, by_bytes, lives->items);
    return heap_sites_init(&reading->sites, names) &&
           site_clusters_make(&reading->clusters, lives, reading->order) &&
           advice_make(&reading->advice, lives, names, &options);
}

static enum step_status read_all(struct site_reading *reading, const char *path,
                                 struct input *input)
{
    struct site_lives *lives = &reading->lives;
    lives->path = path;
    lives->within = reading->within;
    lives->young_bytes = reading->young_bytes;
    lives->is_native = input->allocs != NULL;
    enum step_status status = input_each(input, site_lives_put, lives);
    if (status != STEP_STATUS_OK)
        return status;
    if (lives->born.objects > 0 && lives->born.bytes == 0)
        return report_unfit(path,
                            "the objects have no sizes: lifetimes in bytes are unknown" NO_SIZES);
    site_lives_finish(lives);
    input->unknown_frees = lives->unknown_frees;
    status = read_references(reading, input, path);
    if (status != STEP_STATUS_OK)
        return status;
    if (!evaluate(reading, &input->source->names))
        return report_no_memory();
    struct site_report *report = &reading->report;
    report->path = path;
    report->lives = lives;
    report->sites = &reading->sites;
    report->order = reading->order;
    report->clusters = &reading->clusters;
    report->advice = &reading->advice;
    report->has_times = event_source_has_times(input->source);
    reading->print(report, stdout);
    return input_report_damage(input);
}

enum step_status site_reading_run(struct site_reading *reading, const char *path)
{
    struct input input;
    event_selection_init(&reading->selected);
    reading->selected.kinds =
        TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    reading->selected.untracked = true;
    enum step_status status =
        reading->needs_references
            ? input_open_seekable(&input, path, reading->from, &reading->selected)
            : input_open(&input, path, reading->from, &reading->selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (reading->accepts != NULL && !reading->accepts(reading, &input, path)) {
        input_close(&input);
        return STEP_STATUS_CORRUPT;
    }
    if (site_lives_init(&reading->lives)) {
        status = read_all(reading, path, &input);
    } else {
        status = report_no_memory();
    }
    advice_reset(&reading->advice);
    site_clusters_reset(&reading->clusters);
    heap_sites_reset(&reading->sites);
    site_lives_reset(&reading->lives);
    free(reading->order);
    input_close(&input);
    return status;
}
