/* SPDX-License-Identifier: Apache-2.0 */
/* Retained sizes for the page: the dominator tree added up in two ways. */
#include "analyses/report/report_data.h"
#include "converter/graph/graph_source.h"
#include "format/json/json_output.h"

enum { FRAMES = 4 }; /* of a site */

enum step_status report_retained_find(struct report_retained *retained, struct step_reader *reader,
                                      const struct heap_moment *moment, uint64_t top,
                                      struct step_error *error)
{
    static const struct heap_moment at_end = {.kind = HEAP_AT_END};
    enum step_status status = graph_moment_find(&retained->graph, reader, moment, error);
    if (status == STEP_STATUS_NOT_FOUND && moment->kind == HEAP_AT_PEAK) {
        graph_moment_reset(&retained->graph);
        status = graph_moment_find(&retained->graph, reader, &at_end, error);
    }
    if (status == STEP_STATUS_NOT_FOUND || status == STEP_STATUS_FORMAT)
        return STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        return status;
    status = retained_find(&retained->graph, RETAINED_BY_SITE, top, &retained->by_site, error);
    if (status == STEP_STATUS_OK)
        status =
            retained_find(&retained->graph, RETAINED_BY_CLASS, top, &retained->by_class, error);
    if (status != STEP_STATUS_OK)
        return status;
    retained->is_known = true;
    return STEP_STATUS_OK;
}

void report_retained_reset(struct report_retained *retained)
{
    retained_reset(&retained->by_site);
    retained_reset(&retained->by_class);
    graph_moment_reset(&retained->graph);
    retained->is_known = false;
}

static void report_retained_put_rows(const struct report_retained *retained,
                                     const struct retained *rows, const char *key,
                                     struct json_output *json)
{
    const struct graph_source *source = &retained->graph.source;
    struct keeper_name name;
    json_begin_array(json, key);
    for (size_t i = 0; i < rows->count; i++) {
        const struct retained_row *row = &rows->rows[i];
        if (rows->by == RETAINED_BY_SITE && row->site == 0)
            continue;
        if (rows->by == RETAINED_BY_SITE)
            keeper_name_site(source, row->site, FRAMES, &name);
        else
            keeper_name_class(source, row->class_id, &name);
        json_begin_array(json, NULL);
        json_bytes(json, NULL, step_text(name.text));
        json_number(json, NULL, row->objects);
        json_number(json, NULL, row->bytes);
        json_number(json, NULL, row->retained_bytes);
        json_end_array(json);
    }
    json_end_array(json);
}

void report_retained_put_data(const struct report_retained *retained, struct json_output *json)
{
    if (!retained->is_known) {
        json_null(json, "retained");
        return;
    }
    json_begin_object(json, "retained");
    json_number(json, "time_ns", retained->graph.time_ns);
    json_bool(json, "is_snapshot", !retained->graph.has_stores);
    json_number(json, "objects", retained->by_site.objects);
    json_number(json, "bytes", retained->by_site.bytes);
    json_number(json, "unreached_objects", retained->by_site.unreached_objects);
    json_number(json, "unreached_bytes", retained->by_site.unreached_bytes);
    report_retained_put_rows(retained, &retained->by_site, "sites", json);
    report_retained_put_rows(retained, &retained->by_class, "classes", json);
    json_end_object(json);
}
