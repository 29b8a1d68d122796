/* SPDX-License-Identifier: Apache-2.0 */
/* Where events go: one interface over all output formats. */
#ifndef CONVERTER_EVENTS_EVENT_SINK_H
#define CONVERTER_EVENTS_EVENT_SINK_H

#include <stddef.h>

#include "converter/events/event.h"
#include "converter/events/event_source.h"
#include "steptrace/hatf.h"
#include "steptrace/status.h"

struct heap_export;
struct option_row;
struct output_file;
struct alloc_options;

/* What a person may choose of an output format. */
struct event_sink_options {
    struct alloc_options *records; /* how events become HATF's records; NULL: defaults */
    enum hatf_encoding encoding;
    enum step_compression packed_by; /* HATF: what the encoding is chosen for; NONE: as it is */
    enum hatf_split split;
    bool has_short_fields;    /* simple binary: of 4 bytes, not 8 */
    unsigned omitted;         /* bits of HATF's fields that are left out, 1 << enum hatf_field */
    bool is_plain;            /* STEP: addresses as they are, without the heap's model */
    struct heap_export *heap; /* formats of heaps */
    uint64_t calls_from_ns;   /* formats of calls: where the slice begins */
    bool is_unpacked;         /* Meta-TF: sections are not compressed */
    struct metatf_look {      /* Meta-TF: zeros: the defaults */
        enum { METATF_BY_SEGMENTS, METATF_BY_INDEX, METATF_BY_RECORDS } layout;
        bool is_narrow; /* class 1 */
        enum { METATF_OWN_ORDER, METATF_LITTLE_ENDIAN, METATF_BIG_ENDIAN } order;
    } metatf;
    uint32_t packed_block_records; /* STEP: not 0: packed as `steptrace pack` does */
    int level;                     /* of the compression; 0: the default */
    bool is_shown;                 /* lines for people: controls in names are escaped as well */
};

struct event_sink {
    const struct event_sink_operations *operations;
};

struct event_sink_operations {
    enum step_status (*put)(struct event_sink *sink, const struct trace_event *events, size_t count,
                            struct step_error *error);
    /* A visit of the trace's facts, after the last event; NULL: the format has no place for them.
     */
    enum step_status (*put_fact)(void *sink, const struct trace_fact *fact);
    /* Writes what is left; the file is complete after it.  Called once, and not after a put that
     * failed. */
    enum step_status (*close)(struct event_sink *sink, struct step_error *error);
    void (*destroy)(struct event_sink *sink);
};

/* Opens a sink: `source` gives names and provenance, and outlives it; `output` is the caller's. */
typedef enum step_status (*event_sink_open)(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct event_sink **out, struct step_error *error);

/* Fills the rows of what can be chosen of a format, at most FORMAT_OPTIONS_MOST; returns how many.
 */
#define FORMAT_OPTIONS_MOST 8u
typedef size_t (*format_options)(struct option_row *rows, struct event_sink_options *options);

#endif
