/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source of events: the interface that all input formats implement.  A source returns its events in
 * the trace's order, in batches, and fills in what verbs need (the class, size and birth of a freed
 * object).  Memory is proportional to the live set, not to the trace.
 */
#ifndef CONVERTER_TRACE_EVENT_SOURCE_H
#define CONVERTER_TRACE_EVENT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/containers/object_table.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/derived_stacks.h"
#include "converter/trace/event.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/names.h"
#include "converter/trace/trace_about.h"
#include "converter/trace/trace_filter.h"
#include "steptrace/status.h"

/* The contents of a trace according to its index, without reading the events. */
struct trace_inventory {
    const struct step_definition *definition; /* borrowed from the source */
    uint64_t *records; /* counts by record of the definition; owned by the caller */
    uint8_t *is_event; /* by record: it is an event, also counted in `kinds`; owned by the caller */
    uint64_t kinds[EVENT_KIND_COUNT];
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t block_count;
    uint64_t stream_count;
    uint64_t classes;
    uint64_t methods;
    uint64_t threads;
};

/* A record that is not an event: a method that could not be traced, the totals of a method's calls,
 * a sampled object whose death is not known, or what engine=walk has found.  Its texts are valid
 * during the visit only. */
struct trace_fact {
    enum {
        TRACE_NOT_PROBED,
        TRACE_METHOD_COUNT,
        TRACE_GIVEN_UP,
        TRACE_EDEN_CLASS,
        TRACE_EDEN_AGE,
        TRACE_EDEN_WALK
    } kind;
    uint64_t time_ns;
    struct step_bytes class_name, method_name, descriptor, reason; /* NOT_PROBED */
    uint64_t missing;
    uint32_t method_id; /* METHOD_COUNT */
    uint64_t calls, exceptions, inclusive_ns, exclusive_ns;
    uint64_t object, threshold; /* GIVEN_UP: sample_weights.h */
    /* EDEN_CLASS, EDEN_AGE, EDEN_WALK */
    uint64_t collection;
    uint32_t class_id; /* not EDEN_WALK; of a class that is not known, `is_of_class` is not set */
    bool is_of_class;
    uint64_t objects, bytes;
    bool has_survivors; /* EDEN_CLASS: how many survived is known */
    uint64_t survived, survived_bytes;
    uint64_t age;                            /* EDEN_AGE */
    uint64_t how, counted, fillers, took_ns; /* EDEN_WALK, whose `bytes` are known by class */
};

typedef enum step_status (*trace_fact_visit)(void *user, const struct trace_fact *fact);
typedef enum step_status (*trace_sample_visit)(void *user, const struct trace_event *event);

/* A phase of a thread or of the program.  The name lives as long as the source. */
struct trace_phase {
    struct step_bytes name;
    uint32_t number;    /* of the name */
    uint32_t thread_id; /* that began it */
    uint64_t depth;     /* 1: outermost */
    bool of_program;
    uint64_t begin_ns;
    uint64_t end_ns; /* UINT64_MAX: it was open at the end of the trace, or is still */
};

typedef enum step_status (*trace_phase_visit)(void *user, const struct trace_phase *phase);

/* The fields of a class's objects (the agent's layout=yes).  The class need not have events.  Texts
 * live as long as the source. */
struct trace_layout {
    uint32_t class_id;
    struct step_bytes name;   /* of the class */
    uint32_t super_id;        /* 0: none */
    struct step_bytes fields; /* descriptors of its own instance fields, one after the other */
};

typedef enum step_status (*trace_layout_visit)(void *user, const struct trace_layout *layout);

/* The kind of data in a trace, which determines what verbs can do with it. */
enum trace_content {
    TRACE_OF_EVENTS,         /* Java events */
    TRACE_OF_GRAPHS,         /* Java events, and also references, snapshots or dated deaths */
    TRACE_OF_ALLOCATIONS,    /* a heap trace */
    TRACE_OF_STEP_RECORDS,   /* records of any other STEP definition */
    TRACE_OF_METATF_RECORDS, /* records of any other DTD */
};

struct event_source {
    const struct event_source_operations *operations;
    const char *path; /* for messages; borrowed */
    struct trace_about about;
    struct trace_names names;
    struct object_table live;
    struct trace_filter filter;
    enum trace_content content;
    bool keep_live;      /* some selected event needs the table of live objects */
    bool derives_stacks; /* the selection needs it, and so all method events */
    bool follows_calls;  /* the selection needs it, and has calls, but not all */
    struct derived_stacks stacks;
};

struct event_source_operations {
    /* Reads up to `capacity` events; END with *count 0 after the last.  Their names are defined. */
    enum step_status (*read)(struct event_source *source, struct trace_event *events,
                             size_t capacity, size_t *count, struct step_error *error);
    /* Returns the contents of the index after verifying all checksums; NULL: the events must be
     * counted.  The caller frees `records` and `is_event`. */
    enum step_status (*inventory)(struct event_source *source, struct trace_inventory *inventory);
    /* Visits all facts, before or after the events; NULL: the format has none. */
    enum step_status (*facts)(struct event_source *source, trace_fact_visit visit, void *user,
                              struct step_error *error);
    /* Visits all allocations before the events, whatever is selected, as they were recorded; NULL:
     * the format has no samples. */
    enum step_status (*samples)(struct event_source *source, trace_sample_visit visit, void *user,
                                struct step_error *error);
    /* Visits all phases, before or after the events; NULL: the format has none. */
    enum step_status (*phases)(struct event_source *source, trace_phase_visit visit, void *user,
                               struct step_error *error);
    /* Visits the layouts of classes that the trace has so far; NULL: the format has none. */
    enum step_status (*layouts)(struct event_source *source, trace_layout_visit visit, void *user);
    /* Returns the share of the input that was read, 0 to 1. */
    double (*progress)(struct event_source *source);
    void (*destroy)(struct event_source *source);
};

struct alloc_source;
struct trace_format;

/* The source that a format opens for a file: events, or allocations for a heap trace.  The other
 * member is NULL. */
struct opened_trace {
    const struct trace_format *format; /* as which it is opened */
    struct event_source *events;
    struct alloc_source *allocs;
};

typedef enum step_status (*trace_opener)(const char *path, const struct event_selection *selected,
                                         struct opened_trace *out, struct step_error *error);

/* Returns whether the trace has records that are not events, which verbs read separately. */
static inline bool event_source_is_of_records(const struct event_source *source)
{
    return source->content >= TRACE_OF_STEP_RECORDS;
}

/* Returns a property's value, if it is there. */
struct trace_text event_source_property(const struct event_source *source, const char *key);

/* Returns a property's value as a number, or `missing` if there is none. */
uint64_t event_source_number(const struct event_source *source, const char *key, uint64_t missing);

/* Returns the mean number of bytes from one sample to the next (sampled_trace.h); 0 if the trace
 * has all objects. */
uint64_t event_source_sample_interval(const struct event_source *source);

/* Returns true if what lived when recording began was left out.  `existing` is the value of the
 * property of that name, or NULL. */
bool trace_lacks_existing(const char *existing);
#define TRACE_LACKS_EXISTING                                                                       \
    "objects that existed when recording began were left out (the agent's option existing=yes)"

/* Returns what the trace's times count, and whether it has times at all: TIME_STEPS are none. */
enum time_unit event_source_time_unit(const struct event_source *source);
static inline bool event_source_has_times(const struct event_source *source)
{
    return event_source_time_unit(source) == TIME_NS;
}

/* Returns every how many events of a thread have a time of their own (the agent's resolution=
 * Nevents); 0: each has. */
uint64_t event_source_stamp_events(const struct event_source *source);

/* Returns the kinds (TRACE_KIND_BIT) of allocations, deaths and method entries that a trace does
 * not have because its property `events` leaves them out; 0 without that property (NULL). */
uint32_t trace_not_recorded(const char *events);
uint32_t event_source_not_recorded(const struct event_source *source);
/* Reports that of these kinds allocations, or else deaths, were not recorded. */
void trace_report_not_recorded(const char *path, uint32_t kinds);
/* The same of allocations alone. */
void trace_report_no_allocs(const char *path, const struct event_source *source);

/* Visits all facts of the trace, if any.  Stops at the first error of a visit and returns it. */
enum step_status event_source_facts(struct event_source *source, trace_fact_visit visit, void *user,
                                    struct step_error *error);

/* The same for all allocations, before the events and whatever is selected. */
enum step_status event_source_samples(struct event_source *source, trace_sample_visit visit,
                                      void *user, struct step_error *error);

/* The same for all phases, in the order of their ends. */
enum step_status event_source_phases(struct event_source *source, trace_phase_visit visit,
                                     void *user, struct step_error *error);

/* The same for all layouts of classes: call it after the events. */
enum step_status event_source_layouts(struct event_source *source, trace_layout_visit visit,
                                      void *user);

/* For implementations of sources. */
void event_source_init(struct event_source *source,
                       const struct event_source_operations *operations, const char *path,
                       const struct event_selection *selected);
void event_source_reset(struct event_source *source);
/* Tracks live objects and open calls, and completes an event with what its line or record omits: a
 * free whose class is unknown gets the class of the allocation.  Call it for all events, before the
 * filter.  Returns false if out of memory. */
static inline bool event_source_follow(struct event_source *source, struct trace_event *event)
{
    if (source->derives_stacks && !derived_stacks_put(&source->stacks, &source->names, event))
        return false;
    if (!source->keep_live)
        return true;
    if (event->kind == EVENT_OBJECT_ALLOC)
        return object_table_put(&source->live, &(struct live_object){event->object, event->time_ns,
                                                                     event->size, event->class_id});
    struct live_object born;
    if (event->kind != EVENT_OBJECT_FREE || !object_table_take(&source->live, event->object, &born))
        return true;
    event->flags |= TRACE_BORN_KNOWN;
    event->born_ns = born.value;
    event->size = born.size;
    if (event->class_id == 0)
        event->class_id = born.class_id;
    if (event->class_id == born.class_id)
        event->flags |= TRACE_BORN_CLASS;
    return true;
}
/* Returns whether the event is to be returned: it is selected, or flagged as one that is followed.
 */
bool event_source_takes_some(struct event_source *source, struct trace_event *event);
static inline bool event_source_takes(struct event_source *source, struct trace_event *event)
{
    return source->filter.everything || event_source_takes_some(source, event);
}
/* The kinds that open and close calls. */
#define CALL_KINDS                                                                                 \
    (TRACE_KIND_BIT(EVENT_METHOD_ENTRY) | TRACE_KIND_BIT(EVENT_METHOD_EXIT) |                      \
     TRACE_KIND_BIT(EVENT_METHOD_POP) | TRACE_KIND_BIT(EVENT_THREAD_END) |                         \
     TRACE_KIND_BIT(EVENT_VM_DEATH))

#endif
