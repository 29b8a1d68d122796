/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace with its format's functions, and wraps the source if another kind is needed. */
#include "converter/formats/open_trace.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* `format` NULL: by extension and content.  On failure, `out` is not set. */
static enum step_status trace_open(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected, struct opened_trace *out,
                                   struct step_error *error)
{
    *out = (struct opened_trace){NULL, NULL};
    format = trace_format_of(path, format);
    if (format == NULL)
        return access(path, R_OK) == 0
                   ? step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                                    "its format is none that can be read")
                   : step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "cannot open: %s",
                                    strerror(errno));
    if (format->reads_dumps)
        return step_error_set(
            error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
            "it holds heap dumps, which only `steptrace heap` and `steptrace convert` read");
    if (format->open_source == NULL)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                              "the format %s is only written, not read", format->name);
    return format->open_source(path, selected, out, error);
}

enum step_status trace_open_events(const char *path, const struct trace_format *format,
                                   const struct event_selection *selected,
                                   struct event_source **out, struct alloc_source **made_of,
                                   struct step_error *error)
{
    struct opened_trace trace;
    enum step_status status = trace_open(path, format, selected, &trace, error);
    *out = trace.events;
    if (trace.allocs != NULL)
        status = record_trace_source_create(trace.allocs, selected, out, error);
    if (made_of != NULL)
        *made_of = status == STEP_STATUS_OK ? trace.allocs : NULL;
    return status;
}

enum step_status trace_open_allocs(const char *path, const struct trace_format *format,
                                   const struct alloc_options *options, struct alloc_source **out,
                                   struct step_error *error)
{
    struct event_selection selected;
    struct opened_trace trace;
    event_selection_init(&selected);
    enum step_status status = trace_open(path, format, &selected, &trace, error);
    if (status == STEP_STATUS_OK && trace.events != NULL)
        return event_alloc_source_create(trace.events, options, out, error);
    *out = trace.allocs;
    return status;
}
