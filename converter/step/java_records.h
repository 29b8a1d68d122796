/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record types of a Java trace (format/definitions/java.step): which event and which graph
 * event each corresponds to, its order within a tick, and look-ups of the ids that records contain.
 * All readers of Java records use this module.
 */
#ifndef CONVERTER_STEP_JAVA_RECORDS_H
#define CONVERTER_STEP_JAVA_RECORDS_H

#include <stdbool.h>

#include "converter/cli/stack_text.h"
#include "converter/containers/id_table.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/event.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"

/* Records about references between objects and about object lifetimes; the words are members of
 * struct graph_event (graph_source.h). */
enum graph_event_kind {
    GRAPH_ALLOC,    /* object, class_id, site, amount: bytes */
    GRAPH_EXISTING, /* the same for an object that existed when tracing started */
    GRAPH_FREE,     /* object, by a collection at `time`; number 1: the record contains the class */
    GRAPH_DEATH,    /* object, which became unreachable at `time`; amount: time of its collection */
    GRAPH_ENTRY,    /* object: the receiver or 0; number: the method */
    GRAPH_EXIT,     /* number: the method; amount 1: left by an exception */
    GRAPH_FIELD,    /* target was stored into field `number` of object (0: static, or unknown) */
    GRAPH_ELEMENT,  /* target was stored into element `number` of object */
    GRAPH_RANGE, /* `amount` elements of source from `from` on were copied to object from `number`
                    on */
    GRAPH_CLONE, /* object got the references of source */
    GRAPH_SNAPSHOT,    /* number: the snapshot's; amount 1: the snapshot at the start */
    GRAPH_ROOT,        /* target, by kind `number`; from: the thread, source: the method */
    GRAPH_HAS_FIELD,   /* in a snapshot: field `number` of object (0: static) refers to target */
    GRAPH_HAS_ELEMENT, /* the same for element `number` */
    GRAPH_HAS_OTHER,   /* the same for a reference of kind `number` */
    GRAPH_SNAPSHOT_END,
    GRAPH_END, /* the VM terminates */
    GRAPH_EVENT_KIND_COUNT
};

enum java_trait {
    JAVA_WAITS_OBJECT = 1, /* within a tick, it waits until `object` is known, */
    JAVA_WAITS_SOURCE = 2, /* until the object that it copies from is known, */
    JAVA_WAITS_TARGET = 4, /* until the object that it refers to is known */
    JAVA_IS_LAST = 8,      /* within a tick, it is the last record */
    JAVA_IS_OF_GRAPH = 16, /* it is not an event: only copying records preserves it */
    JAVA_BEGINS_PHASE = 32,
    JAVA_ENDS_PHASE = 64
};

struct java_kind {
    int record;     /* enum step_java_record; -1: unknown */
    uint8_t event;  /* enum step_text_kind; EVENT_KIND_COUNT: not an event */
    uint8_t flags;  /* flags of that event */
    uint8_t graph;  /* enum graph_event_kind; GRAPH_EVENT_KIND_COUNT: none */
    uint8_t traits; /* bitmap of enum java_trait */
};

/* Where a class comes from; all empty if the trace does not say it. */
struct java_source {
    struct step_bytes file, map_text;
    struct source_map *map; /* owned; NULL: none */
};

struct java_records {
    struct step_reader *reader; /* borrowed */
    struct step_java_trace_binding binding;
    const struct java_kind **kinds; /* by record of the file; its own or the nearest known kind */
    uint32_t count;
    uint64_t resolution_ns;
    enum time_unit unit;     /* of times; a tick of steps is one */
    bool numbers_in_names;   /* the names of threads contain their numbers */
    struct id_table sources; /* struct java_source, by class */
    uint64_t sources_known;  /* entries that are in `sources` */
};

/* Binds the trace's definition.  Returns INVALID or another error for a definition that is
 * incompatible with java.step.  java_records_reset() is allowed after a failure, and for a
 * zero-initialised structure. */
enum step_status java_records_init(struct java_records *java, struct step_reader *reader,
                                   struct step_error *error);
void java_records_reset(struct java_records *java);
/* Reads the trace's properties again, as some are added while it is being written. */
void java_records_refresh(struct java_records *java);

extern const struct java_kind java_kind_none;
static inline const struct java_kind *java_kind_of(const struct java_records *java, uint32_t record)
{
    return record < java->count ? java->kinds[record] : &java_kind_none;
}

/* Returns the file's number of a record type (enum step_java_record), or STEP_NO_RECORD if the
 * file does not define it or is not a Java trace. */
static inline uint32_t java_record_of(const struct java_records *java, int known)
{
    const struct step_binding *binding = java->binding.inner;
    return binding != NULL ? binding->file_records[known] : STEP_NO_RECORD;
}

/* Returns the number of entries in the dictionary of a record type. */
static inline uint64_t java_entry_count(const struct java_records *java, int known)
{
    uint32_t record = java_record_of(java, known);
    return record != STEP_NO_RECORD ? step_reader_dictionary_count(java->reader, record) : 0;
}

static inline bool java_is_phase(const struct java_kind *kind)
{
    return (kind->traits & (JAVA_BEGINS_PHASE | JAVA_ENDS_PHASE)) != 0;
}

/* Returns the rank of a record of the stream within a tick: lower ranks come first. */
static inline uint8_t java_rank(const struct java_kind *kind, uint64_t stream)
{
    enum { GLOBAL, BUFFER, FREES, LAST };
    if (stream == STEP_LIVE_STREAM_GLOBAL)
        return (kind->traits & JAVA_IS_LAST) != 0 ? LAST : GLOBAL;
    return stream == STEP_LIVE_STREAM_FREES ? FREES : BUFFER;
}

/* ---- look-up of ids; texts live as long as the reader ---- */

/* The property of files in which a thread's number may be part of its name, as "#17" or "#17
 * name".  The converter sets it (step_events_sink.c). */
#define THREAD_NUMBERS_PROPERTY "thread-numbers"
#define THREAD_NUMBERS_IN_NAMES "name"

/* Returns a sampling interval; one that no JVM has is the trace's own (0). */
static inline uint32_t java_interval(uint64_t bytes)
{
    return bytes <= UINT32_C(1) << 30 ? (uint32_t) bytes : 0;
}

/* Returns 0 (unknown) for ids that exceed every dictionary. */
static inline uint32_t java_id(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t) value : 0;
}

/* No agent writes more: then the size cannot be that of an array. */
static inline uint8_t java_padding(uint64_t value)
{
    return value < UINT8_MAX ? (uint8_t) value : UINT8_MAX;
}

static inline bool java_class(const struct java_records *java, uint64_t id,
                              struct step_java_class *entry)
{
    return step_java_class_look_up(&java->binding, java->reader, id, entry);
}

static inline bool java_method(const struct java_records *java, uint64_t id,
                               struct step_java_method *entry)
{
    return step_java_method_look_up(&java->binding, java->reader, id, entry);
}

static inline bool java_field(const struct java_records *java, uint64_t id,
                              struct step_java_field *entry)
{
    return step_java_field_look_up(&java->binding, java->reader, id, entry);
}

/* Returns "java/lang/String", or "?" for an unknown class. */
struct step_bytes java_class_name(const struct java_records *java, uint64_t id);
/* Returns the source file of a class, among those of the last java_sources_update(). */
const struct java_source *java_source(const struct java_records *java, uint64_t class);
/* Returns a line (0: unknown) or bytecode index of a class as a place in a source file. */
struct frame_place java_place(const struct java_records *java, uint64_t class,
                              const struct step_java_frame *frame);
/* Takes source files that the trace got since the last call.  Returns false if out of memory. */
bool java_sources_update(struct java_records *java);
/* Looks up a frame.  A frame must be defined after its parent: other parents are ignored, so
 * that there are no cycles. */
bool java_frame(const struct java_records *java, uint64_t id, struct step_java_frame *entry);
/* Looks up a thread.  `*number` is the one that the text format shows; it is removed from the
 * name. */
bool java_thread(const struct java_records *java, uint64_t id, struct step_java_thread *entry,
                 uint64_t *number);

#endif
