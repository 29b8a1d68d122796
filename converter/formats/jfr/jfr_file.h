/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as it is written: chunks of bounded size, each with its own metadata and constant
 * pools.  A chunk is held in memory until it is complete, so that the output need not be seekable.
 */
#ifndef CONVERTER_FORMATS_JFR_JFR_FILE_H
#define CONVERTER_FORMATS_JFR_JFR_FILE_H

#include <stdio.h>

#include "converter/formats/jfr/jfr_pools.h"

struct jfr_file {
    FILE *out;            /* borrowed */
    uint64_t chunk_bytes; /* a chunk is written when its events and pools have this size */
    uint64_t start_ns;    /* since 1970, at time 0 of the trace */
    struct jfr_bytes metadata, events, head;
    struct jfr_bytes body; /* of the event under construction */
    struct jfr_pools pools;
    bool failed;                /* a chunk could not be written: out of memory */
    uint64_t least_start_ns;    /* of the next chunk */
    uint64_t first_ns, last_ns; /* of this chunk's events */
};

/* The caller sets chunk_bytes and start_ns. */
void jfr_file_init(struct jfr_file *file, FILE *out, const struct heap_sites *sites);
void jfr_file_reset(struct jfr_file *file);

/* Begins an event.  Its other fields are put into the result, then it is ended. */
struct jfr_bytes *jfr_event_begin(struct jfr_file *file, enum jfr_type type, uint64_t time_ns);
void jfr_event_end(struct jfr_file *file);

static inline bool jfr_file_chunk_is_full(const struct jfr_file *file)
{
    return file->events.buffer.length + jfr_pools_size(&file->pools) >= file->chunk_bytes;
}

/* Writes the chunk, and begins another.  Returns false if out of memory. */
bool jfr_file_end_chunk(struct jfr_file *file);

#endif
