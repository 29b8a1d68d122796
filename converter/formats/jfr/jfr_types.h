/* SPDX-License-Identifier: Apache-2.0 */
/* The types of our recordings, the metadata by which they describe themselves, and the constants
 * that their events name. */
#ifndef CONVERTER_FORMATS_JFR_JFR_TYPES_H
#define CONVERTER_FORMATS_JFR_JFR_TYPES_H

#include <stdio.h>

#include "converter/heap/heap_sites.h"
#include "converter/output/byte_output.h"

/* How JDK Flight Recorder encodes numbers, texts and events. */

/* A value that is not known: readers show it as "N/A". */
#define JFR_UNKNOWN (UINT64_C(1) << 63)

/* A compressed integer: 7 bits per byte, the lowest first; the ninth byte has 8. */
void jfr_put_number(struct byte_output *bytes, uint64_t value);
/* A string in the place where it is used; bytes that are not UTF-8 become U+FFFD. */
void jfr_put_text(struct byte_output *bytes, struct step_bytes text);
/* The same, but null if there is no text. */
void jfr_put_optional_text(struct byte_output *bytes, const char *text);
/* An event of which `body` is what follows the size. */
void jfr_put_event(struct byte_output *bytes, const struct byte_output *body);

/* Numbers of types in the file. */
enum jfr_type {
    JFR_METADATA_EVENT = 0,   /* as all recordings have it */
    JFR_CHECKPOINT_EVENT = 1, /* the same */
    JFR_BOOLEAN = 4,
    JFR_INT,
    JFR_LONG,
    JFR_STRING,
    /* Types with constant pools. */
    JFR_CLASS,
    JFR_CLASS_LOADER,
    JFR_METHOD,
    JFR_PACKAGE,
    JFR_STACK_TRACE,
    JFR_SYMBOL,
    JFR_THREAD,
    JFR_FRAME_TYPE,
    JFR_GC_WHEN,
    JFR_STACK_FRAME, /* has none */
    /* Annotations. */
    JFR_CATEGORY,
    JFR_CONTENT_TYPE,
    JFR_DATA_AMOUNT,
    JFR_DESCRIPTION,
    JFR_LABEL,
    JFR_TIMESPAN,
    JFR_TIMESTAMP,
    JFR_UNSIGNED,
    /* Events. */
    JFR_ALLOCATION_SAMPLE,
    JFR_CLASS_LOAD,
    JFR_GARBAGE_COLLECTION,
    JFR_HEAP_SUMMARY,
    JFR_JVM_INFORMATION,
    JFR_METHOD_TIMING,
    JFR_METHOD_TRACE,
    JFR_THREAD_START,
    JFR_THREAD_END,
    JFR_OBJECT_LIFETIME,
    /* Events that we never write, but `jfr view gc` asks for. */
    JFR_OLD_COLLECTION,
    JFR_YOUNG_COLLECTION,
    JFR_TYPE_END
};

enum { JFR_FIRST_POOL = JFR_CLASS, JFR_POOL_COUNT = JFR_GC_WHEN + 1 - JFR_CLASS };

/* Writes the metadata event, whose texts are ours, not the trace's. */
void jfr_put_metadata(struct byte_output *out);

/* The constant pools of one chunk: what its events name by number.  A constant gets into its pool
 * when it is first used in the chunk, with those that it uses itself. */

enum jfr_when { JFR_BEFORE_GC = 1, JFR_AFTER_GC = 2 };

struct jfr_pools {
    const struct heap_sites *sites; /* borrowed */
    uint32_t chunk;                 /* number of the chunk, from 1 */
    struct byte_output pools[JFR_POOL_COUNT];
    size_t counts[JFR_POOL_COUNT];
    struct id_table known[JFR_POOL_COUNT]; /* uint32_t by id: the last chunk whose pool has it */
    bool failed;                           /* out of memory */
};

void jfr_pools_init(struct jfr_pools *pools, const struct heap_sites *sites);
void jfr_pools_reset(struct jfr_pools *pools);
/* Begins another chunk, with empty pools. */
void jfr_pools_begin(struct jfr_pools *pools);
size_t jfr_pools_size(const struct jfr_pools *pools);
/* Writes the event that has the pools. */
void jfr_pools_put(struct jfr_pools *pools, struct byte_output *out);

/* Return the number by which an event names it; 0: null. */
uint64_t jfr_class(struct jfr_pools *pools, uint32_t class_id);
uint64_t jfr_method(struct jfr_pools *pools, uint32_t method_id);
uint64_t jfr_stack(struct jfr_pools *pools, uint32_t site);
uint64_t jfr_thread(struct jfr_pools *pools, uint32_t thread_id);

/* A recording as it is written: chunk by chunk. */

struct jfr_file {
    FILE *out;            /* borrowed */
    uint64_t chunk_bytes; /* a chunk is written when its events and pools have this size */
    uint64_t start_ns;    /* since 1970, at time 0 of the trace */
    struct byte_output metadata, events, head;
    struct byte_output body; /* of the event under construction */
    struct jfr_pools pools;
    bool failed;                /* a chunk could not be written: out of memory */
    uint64_t least_start_ns;    /* of the next chunk */
    uint64_t first_ns, last_ns; /* of this chunk's events */
};

static inline bool jfr_file_chunk_is_full(const struct jfr_file *file)
{
    return file->events.bytes.length + jfr_pools_size(&file->pools) >= file->chunk_bytes;
}

/* The caller sets chunk_bytes and start_ns. */
void jfr_file_init(struct jfr_file *file, FILE *out, const struct heap_sites *sites);
void jfr_file_reset(struct jfr_file *file);
/* Begins an event.  Its other fields are put into the result, then it is ended. */
struct byte_output *jfr_event_begin(struct jfr_file *file, enum jfr_type type, uint64_t time_ns);
void jfr_event_end(struct jfr_file *file);
/* Writes the chunk, and begins another.  Returns false if out of memory. */
bool jfr_file_end_chunk(struct jfr_file *file);

#endif
