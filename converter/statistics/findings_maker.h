/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the sentences that `stats` begins with (findings.h): an analysis, which a build may
 * lack. */
#ifndef CONVERTER_STATISTICS_FINDINGS_MAKER_H
#define CONVERTER_STATISTICS_FINDINGS_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "converter/trace/event_source.h"

struct json_output;

/* `maker` is what open() returned. */
struct findings_maker {
    /* Begins a pass over all events of a trace, which is not sampled.  Returns NULL if memory runs
     * out. */
    void *(*open)(const struct event_source *source);
    enum step_status (*put)(void *maker, const struct trace_event *events, size_t count,
                            struct step_error *error);
    /* After the last event.  `path` is the trace's, whose graph is read if it is wanted; NULL:
     * unknown.  `not_probed`: methods and classes that could not be traced. */
    enum step_status (*finish)(void *maker, const char *path, uint64_t not_probed,
                               struct step_error *error);
    /* Prints the sentences as lines of a list, each with the command that shows more of the trace
     * at `path` (NULL: none); nothing if there are none. */
    void (*print)(const void *maker, const char *path);
    /* Writes the member "findings". */
    void (*put_json)(const void *maker, struct json_output *json);
    void (*close)(void *maker); /* NULL is allowed */
};

extern const struct findings_maker *const findings_maker; /* NULL: there is none */

#endif
