/* SPDX-License-Identifier: Apache-2.0 */
/* stats(path): statistics of a trace as the command `stats` prints them, in memory. */
#include <stdio.h>
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/formats/format_table.h"
#include "converter/statistics/statistics_report.h"
#include "python/extension/extension.h"

enum { EVENTS_AT_ONCE = 512 };

static enum step_status add_events(struct event_source *source, struct statistics *statistics,
                                   struct step_error *error)
{
    struct trace_event *events = malloc(EVENTS_AT_ONCE * sizeof *events);
    enum step_status status = events != NULL ? STEP_STATUS_OK : no_memory(error);
    while (status == STEP_STATUS_OK) {
        size_t count = 0;
        status = source->operations->read(source, events, EVENTS_AT_ONCE, &count, error);
        if (status == STEP_STATUS_OK &&
            (source->names.no_memory || !statistics_put(statistics, events, count)))
            status = no_memory(error);
    }
    free(events);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static enum step_status trace_stats_print(const struct statistics *statistics, const char *path,
                                          char **out, size_t *length, struct step_error *error)
{
    const struct statistics_report report = {.statistics = statistics, .path = path};
    FILE *file = open_memstream(out, length);
    if (file == NULL)
        return no_memory(error);
    bool good = statistics_print_json(&report, file) && ferror(file) == 0;
    return fclose(file) == 0 && good ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status trace_stats_add_up(struct event_source *source, const char *path,
                                           char **out, size_t *length, struct step_error *error)
{
    struct statistics statistics;
    if (event_source_is_of_records(source))
        return step_error_set(error, STEP_STATUS_INVALID, path, STEP_NO_OFFSET,
                              "its records are neither Java's nor a heap's");
    statistics_init(&statistics, &source->names, false);
    enum step_status status = add_events(source, &statistics, error);
    if (status == STEP_STATUS_OK)
        status = event_source_facts(source, statistics_put_fact, &statistics, error);
    if (status == STEP_STATUS_OK) {
        statistics_finish(&statistics);
        status = trace_stats_print(&statistics, path, out, length, error);
    }
    statistics_reset(&statistics);
    return status;
}

enum step_status trace_stats_json(const char *path, char **out, size_t *length,
                                  struct step_error *error)
{
    struct event_selection all;
    struct event_source *source = NULL;
    struct alloc_source *made_of;
    *out = NULL;
    event_selection_init(&all);
    enum step_status status = trace_open_events(path, NULL, &all, &source, &made_of, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = trace_stats_add_up(source, path, out, length, error);
    source->operations->destroy(source);
    return status;
}
