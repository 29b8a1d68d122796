/* SPDX-License-Identifier: Apache-2.0 */
/* The types of our recordings, and the metadata by which they describe themselves. */
#ifndef CONVERTER_FORMATS_JFR_JFR_TYPES_H
#define CONVERTER_FORMATS_JFR_JFR_TYPES_H

#include "converter/base/byte_output.h"

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

#endif
