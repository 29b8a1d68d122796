/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a Java trace (format/definitions/java.step): what each becomes as an event and as
 * an event of the graph, its place among those of one tick, and what its numbers stand for.
 * Whoever reads Java records asks here.
 */
#ifndef CONVERTER_STEP_JAVA_RECORDS_H
#define CONVERTER_STEP_JAVA_RECORDS_H

#include <stdbool.h>

#include "converter/trace/event.h"
#include "steptrace/java_trace.h"
#include "steptrace/live.h"

/* Records about references between objects and about their lives; graph_source.h has the fields. */
enum graph_event_kind {
    GRAPH_ALLOC,    /* object, class_id, site, amount: bytes */
    GRAPH_EXISTING, /* the same, of an object that was there when tracing started */
    GRAPH_FREE,     /* object, by a collection at `time`; number 1: the record tells its class */
    GRAPH_DEATH,    /* object, which became unreachable at `time`; amount: when it was collected */
    GRAPH_ENTRY,    /* object is the receiver or 0, number: the method */
    GRAPH_EXIT,     /* number: the method */
    GRAPH_FIELD,    /* target was stored into field `number` of object (0: static, or not known) */
    GRAPH_ELEMENT,  /* target was stored into element `number` of object */
    GRAPH_RANGE,    /* `amount` elements of source from `from` on went to object from `number` on */
    GRAPH_CLONE,    /* object has the references of source */
    GRAPH_SNAPSHOT, /* number: its own; amount 1: that of the start */
    GRAPH_ROOT,     /* target, by kind `number`; from: the thread, source: the method */
    GRAPH_HAS_FIELD,   /* of a snapshot: field `number` of object (0: static) refers to target */
    GRAPH_HAS_ELEMENT, /* the same of element `number` */
    GRAPH_HAS_OTHER,   /* the same, by kind `number` */
    GRAPH_SNAPSHOT_END,
    GRAPH_END, /* the VM ends */
    GRAPH_EVENT_KIND_COUNT
};

enum java_trait {
    JAVA_WAITS_OBJECT = 1, /* at one tick: until the object that it names is known, */
    JAVA_WAITS_SOURCE = 2, /* and the one that it copies from, */
    JAVA_WAITS_TARGET = 4, /* and the one that it refers to */
    JAVA_IS_LAST = 8,      /* at one tick nothing follows it */
    JAVA_IS_OF_GRAPH = 16  /* events alone do not have it: only a copy of the records keeps it */
};

struct java_kind {
    int record;     /* enum step_java_record; -1: none that is known */
    uint8_t event;  /* enum step_text_kind; EVENT_KIND_COUNT: none */
    uint8_t flags;  /* of that event */
    uint8_t graph;  /* enum graph_event_kind; GRAPH_EVENT_KIND_COUNT: none */
    uint8_t traits; /* enum java_trait */
};

struct java_records {
    struct step_reader *reader; /* borrowed */
    struct step_java_trace_binding binding;
    const struct java_kind **kinds; /* by record of the file: of it, or the nearest that is known */
    uint32_t count;
    uint64_t resolution_ns;
    bool numbers_in_names; /* of threads */
};

/* INVALID and the like for a definition that cannot be read as ours.  java_records_reset() is
 * allowed after a failure, and of what is zero. */
enum step_status java_records_init(struct java_records *java, struct step_reader *reader,
                                   struct step_error *error);
void java_records_reset(struct java_records *java);
/* Reads the trace's properties again: while it is being written some are added. */
void java_records_refresh(struct java_records *java);

/* Reads the properties again: of a trace that is being written they may have come since. */
void java_records_refresh(struct java_records *java);

extern const struct java_kind java_kind_none;
static inline const struct java_kind *java_kind_of(const struct java_records *java, uint32_t record)
{
    return record < java->count ? java->kinds[record] : &java_kind_none;
}

/* The file's record of that name (enum step_java_record); STEP_NO_RECORD: it has none, or is no
 * Java trace. */
static inline uint32_t java_record_of(const struct java_records *java, int known)
{
    const struct step_binding *binding = java->binding.inner;
    return binding != NULL ? binding->file_records[known] : STEP_NO_RECORD;
}

/* How many entries the dictionary of that record has. */
static inline uint64_t java_entry_count(const struct java_records *java, int known)
{
    uint32_t record = java_record_of(java, known);
    return record != STEP_NO_RECORD ? step_reader_dictionary_count(java->reader, record) : 0;
}

/* Of a record of the stream among those of one tick: the lower comes first. */
static inline uint8_t java_rank(const struct java_kind *kind, uint64_t stream)
{
    enum { GLOBAL, BUFFER, FREES, LAST };
    if (stream == STEP_LIVE_STREAM_GLOBAL)
        return (kind->traits & JAVA_IS_LAST) != 0 ? LAST : GLOBAL;
    return stream == STEP_LIVE_STREAM_FREES ? FREES : BUFFER;
}

/* ---- what numbers stand for; texts live as long as the reader ---- */

/* Set in files where threads' numbers may stand in their names, as "#17" or "#17 name": those that
 * the converter wrote (step_events_sink.c). */
#define THREAD_NUMBERS_PROPERTY "thread-numbers"
#define THREAD_NUMBERS_IN_NAMES "name"

/* Numbers that no dictionary reaches are not known. */
static inline uint32_t java_id(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t) value : 0;
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

/* "java/lang/String"; "?" where the trace does not know. */
struct step_bytes java_class_name(const struct java_records *java, uint64_t id);
/* A frame is defined after its parent: what the file says else is passed over, so that there are no
 * circles. */
bool java_frame(const struct java_records *java, uint64_t id, struct step_java_frame *entry);
/* `number` is the one that text shows; it is taken off the name. */
bool java_thread(const struct java_records *java, uint64_t id, struct step_java_thread *entry,
                 uint64_t *number);

#endif
