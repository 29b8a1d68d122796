/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps what alive, for verbs: a trace is opened, its graph at a moment found, and told of. */
#ifndef CONVERTER_VERB_PARTS_KEEPERS_OF_TRACE_H
#define CONVERTER_VERB_PARTS_KEEPERS_OF_TRACE_H

#include "converter/keepers/paths.h"
#include "converter/keepers/retained.h"

struct keepers_options {
    struct heap_moment moment;
    enum retained_by by;
    uint64_t top;   /* rows; 0: all */
    uint64_t depth; /* frames of a site; 0: all */
    bool as_json;
};

/* Each reports its faults. */
enum step_status keepers_print_retained(const char *path, const struct keepers_options *options);
enum step_status keepers_print_paths(const char *path, const struct keepers_options *options,
                                     const struct keeper_choice *choice);
/* An HPROF heap dump. */
enum step_status keepers_write_hprof(const char *path, const struct heap_moment *moment,
                                     const char *output);

#endif
