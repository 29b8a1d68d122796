/* SPDX-License-Identifier: Apache-2.0 */
/* What a source of events or of allocations knows of its trace besides the contents: format, state,
 * properties and damage. */
#ifndef CONVERTER_TRACE_TRACE_ABOUT_H
#define CONVERTER_TRACE_TRACE_ABOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/cli/trace_text.h"
#include "steptrace/reader.h"
#include "steptrace/status.h"

struct trace_property {
    struct trace_text key;
    struct trace_text value;
};

enum { TRACE_ABOUT_LOSS_ROOM = 160 };

/* A part of each source, which sets the members. */
struct trace_about {
    const char *format;
    const struct trace_about *inner;   /* of the source that this one is made of; NULL: none */
    const struct step_reader *reader;  /* of a STEP trace; NULL: none */
    uint64_t file_bytes;               /* if there is no reader */
    uint64_t resolution_ns;            /* 0: unknown */
    struct trace_property *properties; /* if there is no reader; owned by the source */
    size_t property_count;
    bool has_damage;
    struct step_damage damage;             /* found by this source */
    bool is_stopped;                       /* reading stopped at that damage */
    char said_loss[TRACE_ABOUT_LOSS_ROOM]; /* the property `incomplete` of a file that is a copy and
                                            * has no properties: it says so in a comment, the last
                                            * record (copy_loss.h); "": none so far */
};

/* What is known about a trace besides its events. */
struct trace_summary {
    const char *format;
    bool whole;         /* closed properly; false: truncated, or still being written */
    bool running;       /* its process is still writing it */
    uint64_t recovered; /* number of records recovered from a live mapping */
    uint64_t file_bytes;
    uint64_t resolution_ns; /* 0: unknown */
};

struct trace_summary trace_summary_of(const struct trace_about *about);

/* Returns property `i`; if there are no more, its key is not there. */
struct trace_property trace_property_of(const struct trace_about *about, size_t i);

/* Damage that was skipped so far. */
size_t trace_damage_count(const struct trace_about *about);
const struct step_damage *trace_damage(const struct trace_about *about, size_t i);
/* Notes damage that reading stops at. */
void trace_stop_at_damage(struct trace_about *about, const struct step_error *error);

#endif
