/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an HTML page, and its title, properties and gaps. */
#include "converter/report/page_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/base/output_file.h"
#include "converter/base/trace_gap.h"
#include "converter/report/report_page.h"
#include "steptrace/live.h"

static bool put_data(const void *user, FILE *out)
{
    return compare_put_page_data(user, out);
}

enum step_status compare_page_write(const char *path, const struct compare_report *report,
                                    struct step_error *error)
{
    const struct page_parts parts = {
        .before = compare_page_parts_before,
        .before_bytes = compare_page_parts_before_bytes,
        .after = compare_page_parts_after,
        .after_bytes = compare_page_parts_after_bytes,
    };
    return page_file_write(path, &parts, put_data, report, error);
}

static enum step_status make_data(page_put_data put, const void *user, char **data, size_t *length,
                                  struct step_error *error)
{
    *data = NULL;
    FILE *stream = open_memstream(data, length);
    bool ok = stream != NULL && put(user, stream);
    if (stream != NULL && ferror(stream) != 0)
        ok = false;
    if (stream != NULL && fclose(stream) != 0)
        ok = false;
    return ok ? STEP_STATUS_OK : no_memory(error);
}

enum step_status page_file_write(const char *path, const struct page_parts *parts,
                                 page_put_data put, const void *user, struct step_error *error)
{
    struct output_file file;
    char *data;
    size_t length = 0;
    enum step_status status = make_data(put, user, &data, &length, error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, path, error);
    if (status != STEP_STATUS_OK) {
        free(data);
        return status;
    }
    status = output_file_write(&file, parts->before, parts->before_bytes, error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(&file, data, length, error);
    if (status == STEP_STATUS_OK)
        status = output_file_write(&file, parts->after, parts->after_bytes, error);
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&file, error);
    output_file_abort(&file);
    free(data);
    return status;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Writes what the trace lacks, one sentence each, as other verbs report it on stderr. */
static void put_gaps(const struct event_source *source, uint64_t not_probed,
                     const struct trace_summary *summary, struct json_output *json)
{
    const char *missing = event_source_property(source, STEP_LIVE_MISSING_AFTER);
    const char *incomplete = event_source_property(source, "incomplete");
    char text[TRACE_GAP_ROOM];
    json_begin_array(json, "gaps");
    if (summary->running)
        json_text(json, NULL,
                  "The program is still running; the page shows the events recorded so far.");
    else if (missing != NULL)
        json_text(json, NULL, trace_gap_end(missing, text));
    else if (!summary->whole || trace_damage_count(&source->about) > 0)
        json_text(json, NULL,
                  "The trace is not whole: the program was killed, or the file is cut or damaged. "
                  "What is there is shown.");
    const char *dropped = trace_gap_dropped(event_source_property(source, "dropped"), text);
    const char *early = trace_gap_early(event_source_property(source, "end"));
    if (dropped != NULL)
        json_text(json, NULL, dropped);
    if (early != NULL)
        json_text(json, NULL, early);
    if (incomplete != NULL)
        json_text(json, NULL, incomplete);
    if (not_probed > 0) {
        snprintf(text, sizeof text, "%" PRIu64 " classes or methods could not be traced.",
                 not_probed);
        json_text(json, NULL, text);
    }
    json_end_array(json);
}

void report_properties_put(const struct event_source *source, uint64_t not_probed,
                           const struct report_options *options, struct json_output *json)
{
    struct trace_summary summary = trace_summary_of(&source->about);
    json_text(json, "title", options->title != NULL ? options->title : file_name(source->path));
    if (options->source_url != NULL)
        json_text(json, "source_url", options->source_url);
    else
        json_null(json, "source_url");
    put_gaps(source, not_probed, &summary, json);
    json_begin_array(json, "properties");
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key != NULL; i++) {
        json_begin_array(json, NULL);
        json_text(json, NULL, property.key);
        json_text(json, NULL, property.value);
        json_end_array(json);
    }
    json_end_array(json);
}
