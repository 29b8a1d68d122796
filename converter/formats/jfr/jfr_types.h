/* SPDX-License-Identifier: Apache-2.0 */
/* The types of our recordings, and the metadata by which they describe themselves. */
#ifndef CONVERTER_FORMATS_JFR_JFR_TYPES_H
#define CONVERTER_FORMATS_JFR_JFR_TYPES_H

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* How JDK Flight Recorder encodes numbers, texts and events, in a growing buffer. */

/* A value that is not known: readers show it as "N/A". */
#define JFR_UNKNOWN (UINT64_C(1) << 63)

/* Zero-initialise for an empty buffer. */
struct jfr_bytes {
    struct step_buffer buffer;
    struct step_buffer text; /* scratch */
    bool failed;             /* out of memory: something is missing */
};

void jfr_bytes_reset(struct jfr_bytes *bytes);

static inline void jfr_bytes_clear(struct jfr_bytes *bytes)
{
    bytes->buffer.length = 0;
}

void jfr_put_byte(struct jfr_bytes *bytes, unsigned byte);
/* A compressed integer: 7 bits per byte, the lowest first; the ninth byte has 8. */
void jfr_put_number(struct jfr_bytes *bytes, uint64_t value);
void jfr_put_big_endian(struct jfr_bytes *bytes, uint64_t value, unsigned byte_count);
/* A string in the place where it is used; bytes that are not UTF-8 become U+FFFD. */
void jfr_put_text(struct jfr_bytes *bytes, struct step_bytes text);
/* The same, but null if there is no text. */
void jfr_put_optional_text(struct jfr_bytes *bytes, const char *text);
void jfr_put_bytes(struct jfr_bytes *bytes, const struct jfr_bytes *more);
/* An event of which `body` is what follows the size. */
void jfr_put_event(struct jfr_bytes *bytes, const struct jfr_bytes *body);

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
void jfr_put_metadata(struct jfr_bytes *out);

#endif
