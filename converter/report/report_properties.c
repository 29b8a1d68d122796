/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a page's title, properties and gaps. */
#include "converter/report/report_properties.h"

#include <inttypes.h>
#include <string.h>

#include "converter/base/trace_gap.h"
#include "steptrace/live.h"

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
    else if (!summary->whole || source->operations->damage_count(source) > 0)
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
    struct trace_summary summary;
    source->operations->summary(source, &summary);
    json_text(json, "title", options->title != NULL ? options->title : file_name(source->path));
    if (options->source_url != NULL)
        json_text(json, "source_url", options->source_url);
    else
        json_null(json, "source_url");
    put_gaps(source, not_probed, &summary, json);
    json_begin_array(json, "properties");
    for (size_t i = 0; i < source->operations->property_count(source); i++) {
        const char *key;
        const char *value;
        source->operations->property(source, i, &key, &value);
        json_begin_array(json, NULL);
        json_text(json, NULL, key);
        json_text(json, NULL, value);
        json_end_array(json);
    }
    json_end_array(json);
}
