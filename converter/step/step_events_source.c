/* SPDX-License-Identifier: Apache-2.0 */
/* A source that reads STEP traces. */
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/files/record_layout.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/step/event_of_record.h"
#include "converter/step/phase_spans.h"
#include "converter/step/stepfile.h"
#include "converter/trace/open_phases.h"
#include "format/core/step_no_memory.h"
#include "steptrace/records.h"

/* ---- the blocks and records that are needed, and the order of records within a tick ---- */

struct stepfile_source {
    struct event_source base;
    struct step_reader *reader;
    struct stepfile_decoder decoder;
    bool needs_objects;     /* also needs allocations and frees before the slice */
    uint8_t *wanted;        /* by record of the file: decode it in blocks of the slice */
    uint8_t *wanted_before; /* the same for blocks before the slice: what is followed */
    uint8_t *wanted_frees;  /* the same for blocks of threads that are not selected */
    uint8_t *runs;          /* by record of the file: read several at once */
    uint64_t from_ticks;
    uint64_t to_ticks;
    bool has_thread;
    uint64_t thread_id; /* the selected thread */
    const struct object_table
        *live;       /* borrowed; the reported objects that are alive; NULL: records never wait */
    bool has_phases; /* events are marked that are in the selected phases */
    struct open_phases phases;
    struct step_records *records;
    struct trace_event *fronts; /* the current event of each queue of `records` */
};

#define LIVE_KINDS (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE))

/* ---- selection ---- */

/* Returns the id of the thread with that number in the text format; 0 if there is none. */
static uint64_t thread_id_of(const struct stepfile_source *source, uint64_t number)
{
    const struct java_records *java = &source->decoder.java;
    struct step_java_thread entry;
    uint64_t found, count = java_entry_count(java, STEP_JAVA_THREAD);
    if (!java->numbers_in_names)
        return number;
    for (uint64_t id = 1; id <= count && id < UINT32_MAX; id++) {
        java_thread(java, id, &entry, &found);
        if (found == number)
            return id;
    }
    return 0;
}

static void choose_records(struct stepfile_source *source, uint32_t kinds)
{
    uint32_t followed = (source->needs_objects ? LIVE_KINDS : 0) |
                        (source->base.derives_stacks ? DERIVED_STACKS_KINDS : 0) |
                        (source->base.follows_calls ? CALL_KINDS : 0);
    uint32_t decoded = kinds | followed;
    for (uint32_t i = 0; i < source->decoder.java.count; i++) {
        uint8_t kind = java_kind_of(&source->decoder.java, i)->event;
        uint32_t bit = kind < EVENT_KIND_COUNT ? TRACE_KIND_BIT(kind) : 0;
        bool is_phase = source->has_phases && java_is_phase(java_kind_of(&source->decoder.java, i));
        source->wanted[i] = is_phase || (decoded & bit) != 0;
        source->wanted_before[i] = is_phase || (followed & bit) != 0;
        source->wanted_frees[i] =
            is_phase || (decoded & bit & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
    }
}

static const uint8_t *step_events_wanted_of(void *user, const struct step_block_info *info)
{
    const struct stepfile_source *source = user;
    if (info->time_min > source->to_ticks)
        return NULL;
    bool is_before = info->time_max < source->from_ticks;
    const uint8_t *wanted = is_before ? source->wanted_before : source->wanted;
    if (source->has_thread &&
        (source->thread_id < info->thread_min || source->thread_id > info->thread_max))
        wanted = source->wanted_frees; /* its frees may be of any thread's objects */
    return block_has_wanted(info, wanted) ? wanted : NULL;
}

/* ---- order ---- */

/* Internal: passed to open_phases_put() and not returned.  class_id is the name's number, flags is
 * 1 for a phase of the program. */
enum { PHASE_BEGINS = EVENT_KIND_COUNT, PHASE_ENDS };

/* Within a tick, a phase of the program begins before and ends after the events of all threads. */
static bool take_phase(const struct stepfile_source *source, struct step_records_front *front,
                       const struct java_kind *kind)
{
    enum { FIRST = 0, LAST = 3 };
    struct step_java_phase phase;
    if (!step_java_phase_get(&source->decoder.java.binding, &front->view, &phase))
        return false;
    bool begins = (kind->traits & JAVA_BEGINS_PHASE) != 0;
    source->fronts[front->queue] = (struct trace_event){.kind = begins ? PHASE_BEGINS : PHASE_ENDS,
                                                        .thread_id = java_id(phase.thread),
                                                        .class_id = java_id(phase.name),
                                                        .flags = phase.scope != 0};
    front->time = phase.time;
    front->rank = phase.scope == 0 ? java_rank(kind, front->stream) : begins ? FIRST : LAST;
    return true;
}

static bool step_events_take_front(void *user, struct step_records_front *front)
{
    struct stepfile_source *source = user;
    struct trace_event *event = &source->fronts[front->queue];
    const struct java_kind *kind = java_kind_of(&source->decoder.java, front->view.record);
    if (java_is_phase(kind))
        return take_phase(source, front, kind);
    if (!stepfile_decoder_event(&source->decoder, &front->view, event, &front->time))
        return false;
    front->rank = java_rank(kind, front->stream);
    return true;
}

static bool step_events_must_wait(void *user, const struct step_records_front *front)
{
    const struct stepfile_source *source = user;
    const struct trace_event *event = &source->fronts[front->queue];
    return source->live != NULL && event->object != 0 &&
           (java_kind_of(&source->decoder.java, front->view.record)->traits & JAVA_WAITS_OBJECT) !=
               0 &&
           !object_table_has(source->live, event->object);
}

/* ---- life cycle ---- */

/* Sets the names of phases before any event. */
static bool name_phases(struct stepfile_source *source)
{
    const struct java_records *java = &source->decoder.java;
    uint64_t count = java_entry_count(java, STEP_JAVA_PHASE_NAME);
    for (uint64_t id = 1; id <= count && id < UINT32_MAX; id++) {
        struct step_java_phase_name entry;
        struct trace_phase_name *name = id_table_get(&source->decoder.names->phases, (uint32_t) id);
        if (name == NULL)
            return false;
        if (!step_java_phase_name_look_up(&java->binding, java->reader, id, &entry))
            continue;
        *name = (struct trace_phase_name){entry.name, true};
        if (!open_phases_name(&source->phases, (uint32_t) id, entry.name))
            return false;
    }
    return true;
}

/* Frees are selected by properties of the object's allocation. */
static bool follows_objects(const struct event_selection *selected)
{
    return event_selection_is_of_objects(selected) &&
           (selected->kinds & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
}

static enum step_status step_events_put_phase(struct stepfile_source *source,
                                              const struct trace_event *event,
                                              struct step_error *error)
{
    bool begins = event->kind == PHASE_BEGINS;
    if (!open_phases_put(&source->phases, event->thread_id, event->class_id, event->flags != 0,
                         begins))
        return no_memory(error);
    if (!source->base.filter.selected.names_phases)
        return STEP_STATUS_OK;
    enum step_status status = phase_sets_put(&source->base.names.phases_open, event->thread_id,
                                             event->class_id, event->flags != 0, begins);
    if (status == STEP_STATUS_CORRUPT)
        return step_error_set(error, status, source->base.path, STEP_NO_OFFSET,
                              "more than %u phases of a thread or of the program are open at once",
                              PHASE_SET_MOST);
    return status == STEP_STATUS_OK ? status : no_memory(error);
}

/* Says which phases the event is in. */
static bool step_events_mark_phases(struct stepfile_source *source, struct trace_event *event)
{
    if (open_phases_accept(&source->phases, event->thread_id))
        event->flags |= TRACE_IN_PHASE;
    return !source->base.filter.selected.names_phases || event->kind != EVENT_OBJECT_ALLOC ||
           phase_sets_now(&source->base.names.phases_open, event->thread_id, &event->phase_set);
}

/* Completes an event, and returns whether it is wanted.  Returns false if memory runs out. */
static bool step_events_complete(struct stepfile_source *source, struct trace_event *event,
                                 bool *is_wanted)
{
    if ((source->has_phases && !step_events_mark_phases(source, event)) ||
        !event_source_follow(&source->base, event))
        return false;
    *is_wanted = event_source_takes(&source->base, event);
    return true;
}

/* Reads the events of a stream that come after the last one and before those of other streams. */
static bool step_events_read_run(struct stepfile_source *source, uint32_t record,
                                 struct trace_event *events, size_t capacity, size_t *filled)
{
    struct step_records_run run;
    bool waits = (java_kind_of(&source->decoder.java, record)->traits & JAVA_WAITS_OBJECT) != 0;
    struct trace_event *event = &events[*filled];
    if (source->runs[record] == 0 ||
        step_records_next_run(source->records, waits, capacity - *filled, &run) == 0)
        return true;
    stepfile_decoder_run(&source->decoder, &run, event);
    if (!source->has_phases && source->base.filter.everything) {
        *filled += run.count;
        for (size_t i = 0; i < run.count; i++)
            if (!event_source_follow(&source->base, &event[i]))
                return false;
        return true;
    }
    for (size_t i = 0; i < run.count; i++, event++) {
        bool is_wanted;
        if (!step_events_complete(source, event, &is_wanted))
            return false;
        if (is_wanted && event != &events[*filled])
            events[*filled] = *event;
        *filled += is_wanted;
    }
    return true;
}

static enum step_status step_events_read(struct event_source *base, struct trace_event *events,
                                         size_t capacity, size_t *count, struct step_error *error)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    uint64_t resolution_ns = source->decoder.java.resolution_ns;
    size_t filled = 0;
    enum step_status status = STEP_STATUS_OK;
    while (filled < capacity) {
        const struct step_records_front *front;
        status = step_records_next_front(source->records, &front, error);
        if (status != STEP_STATUS_OK)
            break;
        const struct trace_event *event = &source->fronts[front->queue];
        struct trace_event *out = &events[filled];
        if (event->kind >= EVENT_KIND_COUNT) {
            status = step_events_put_phase(source, event, error);
            if (status != STEP_STATUS_OK)
                return status;
            continue;
        }
        *out = *event;
        out->time_ns = trace_ticks_ns(front->time, resolution_ns);
        if ((out->flags & TRACE_DATED) != 0)
            out->collected_ns = trace_ticks_ns(out->collected_ns, resolution_ns);
        bool is_wanted = false;
        bool ok = step_events_complete(source, out, &is_wanted);
        filled += is_wanted;
        if (!ok || !step_events_read_run(source, front->view.record, events, capacity, &filled))
            return step_error_set(error, STEP_STATUS_NO_MEMORY, base->path, STEP_NO_OFFSET,
                                  "out of memory for the live objects");
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

static void count_block(const struct stepfile_source *source, const struct step_block_info *info,
                        struct trace_inventory *inventory)
{
    const struct java_records *java = &source->decoder.java;
    uint64_t first_ns = trace_ticks_ns(info->time_min, java->resolution_ns);
    uint64_t last_ns = trace_ticks_ns(info->time_max, java->resolution_ns);
    if (inventory->block_count++ == 0 || first_ns < inventory->first_ns)
        inventory->first_ns = first_ns;
    if (last_ns > inventory->last_ns)
        inventory->last_ns = last_ns;
    for (uint32_t i = 0; i < java->count; i++)
        inventory->is_event[i] = java_kind_of(java, i)->event < EVENT_KIND_COUNT;
    for (size_t i = 0; i < info->type_count; i++) {
        const struct step_record_count *of = &info->counts[i];
        uint8_t kind = java_kind_of(java, of->record)->event;
        inventory->records[of->record] += of->count;
        if (kind < EVENT_KIND_COUNT)
            inventory->kinds[kind] += of->count;
    }
}

/* Verifies the checksums of all blocks.  The reader records damage. */
static enum step_status verify(struct stepfile_source *source)
{
    struct step_block *block = NULL;
    uint8_t *nothing = calloc(source->decoder.java.count + 1, 1);
    enum step_status status = nothing != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(source->reader);
         i++) {
        status = step_reader_load(source->reader, i, nothing, &block, NULL);
        if (status != STEP_STATUS_NO_MEMORY && status != STEP_STATUS_IO)
            status = STEP_STATUS_OK;
    }
    step_block_destroy(block);
    free(nothing);
    return status;
}

static enum step_status inventory(struct event_source *base, struct trace_inventory *out)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    *out = (struct trace_inventory){.definition = step_reader_borrow_definition(source->reader)};
    out->records = calloc(out->definition->record_count + 1, sizeof *out->records);
    out->is_event = calloc(out->definition->record_count + 1, sizeof *out->is_event);
    if (out->records == NULL || out->is_event == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < step_reader_block_count(source->reader); i++)
        count_block(source, step_reader_block_info(source->reader, i), out);
    out->stream_count = step_records_queue_count(source->records);
    out->classes = java_entry_count(&source->decoder.java, STEP_JAVA_CLASS);
    out->methods = java_entry_count(&source->decoder.java, STEP_JAVA_METHOD);
    out->threads = java_entry_count(&source->decoder.java, STEP_JAVA_THREAD);
    return verify(source);
}

#define SOME_MOST 6

typedef enum step_status record_visit(struct stepfile_source *source, void *call,
                                      const struct step_record_view *view);

/* Visits the records of some kinds, of those that the file defines. */
static enum step_status each_of(struct stepfile_source *source, const int *kinds, size_t kind_count,
                                record_visit *visit, void *call, struct step_error *error)
{
    struct step_selection *selection = NULL;
    struct step_records *records = NULL;
    struct step_record_view view;
    const char *names[SOME_MOST];
    size_t count = 0;
    for (size_t i = 0; i < kind_count; i++)
        if (java_record_of(&source->decoder.java, kinds[i]) != STEP_NO_RECORD)
            names[count++] = step_java_trace_definition.records[kinds[i]].name;
    if (count == 0)
        return STEP_STATUS_OK;
    enum step_status status = step_selection_create(step_reader_borrow_definition(source->reader),
                                                    names, count, false, &selection, error);
    if (status == STEP_STATUS_OK)
        status = step_records_create(source->reader, selection, &records, error);
    while (status == STEP_STATUS_OK &&
           (status = step_records_next(records, &view, error)) == STEP_STATUS_OK)
        status = visit(source, call, &view);
    step_records_destroy(records);
    step_selection_destroy(selection);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

struct fact_call {
    trace_fact_visit visit;
    void *user;
};

static enum step_status visit_fact(struct stepfile_source *source, void *call,
                                   const struct step_record_view *view)
{
    const struct fact_call *to = call;
    struct trace_fact fact;
    return stepfile_decoder_fact(&source->decoder, view, &fact) ? to->visit(to->user, &fact)
                                                                : STEP_STATUS_OK;
}

static enum step_status facts(struct event_source *base, trace_fact_visit visit, void *user,
                              struct step_error *error)
{
    static const int kinds[SOME_MOST] = {STEP_JAVA_NOT_PROBED,      STEP_JAVA_METHOD_COUNT,
                                         STEP_JAVA_OBJECT_GIVEN_UP, STEP_JAVA_EDEN_CLASS,
                                         STEP_JAVA_EDEN_AGE,        STEP_JAVA_EDEN_WALK};
    struct fact_call call = {visit, user};
    return each_of((struct stepfile_source *) base, kinds, SOME_MOST, visit_fact, &call, error);
}

struct sample_call {
    trace_sample_visit visit;
    void *user;
};

static enum step_status visit_sample(struct stepfile_source *source, void *call,
                                     const struct step_record_view *view)
{
    const struct sample_call *to = call;
    struct trace_event event;
    uint64_t ticks;
    if (!stepfile_decoder_event(&source->decoder, view, &event, &ticks))
        return STEP_STATUS_OK;
    event.time_ns = trace_ticks_ns(ticks, source->decoder.java.resolution_ns);
    return to->visit(to->user, &event);
}

static enum step_status samples(struct event_source *base, trace_sample_visit visit, void *user,
                                struct step_error *error)
{
    static const int kinds[] = {STEP_JAVA_OBJECT_ALLOC, STEP_JAVA_OBJECT_ALLOC_AT,
                                STEP_JAVA_OBJECT_SAMPLED};
    struct sample_call call = {visit, user};
    return each_of((struct stepfile_source *) base, kinds, sizeof kinds / sizeof kinds[0],
                   visit_sample, &call, error);
}

static enum step_status phases(struct event_source *base, trace_phase_visit visit, void *user,
                               struct step_error *error)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    struct phase_spans spans;
    struct trace_phase phase;
    enum step_status status = phase_spans_open(&spans, &source->decoder.java, error);
    while (status == STEP_STATUS_OK &&
           (status = phase_spans_next(&spans, &phase, error)) == STEP_STATUS_OK)
        status = visit(user, &phase);
    phase_spans_reset(&spans);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static enum step_status layouts(struct event_source *base, trace_layout_visit visit, void *user)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    const struct java_records *java = &source->decoder.java;
    uint64_t count = java_entry_count(java, STEP_JAVA_LAYOUT);
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t id = 1; id <= count && status == STEP_STATUS_OK; id++) {
        struct step_java_layout entry;
        if (!step_java_layout_look_up(&java->binding, java->reader, id, &entry))
            continue;
        struct trace_layout layout = {.class_id = java_id(entry.class_),
                                      .name = java_class_name(java, entry.class_),
                                      .super_id = java_id(entry.super),
                                      .fields = entry.fields};
        if (layout.class_id != 0)
            status = visit(user, &layout);
    }
    return status;
}

static double step_events_progress(struct event_source *base)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    uint64_t done, all;
    step_records_progress(source->records, &done, &all);
    return all > 0 ? (double) done / (double) all : 1.0;
}

static void step_events_destroy(struct event_source *base)
{
    struct stepfile_source *source = (struct stepfile_source *) base;
    step_records_destroy(source->records);
    java_records_reset(&source->decoder.java);
    open_phases_reset(&source->phases);
    free(source->fronts);
    free(source->wanted);
    free(source->wanted_before);
    free(source->wanted_frees);
    free(source->runs);
    event_source_reset(base);
    step_reader_destroy(source->reader);
    free(source);
}

static const struct event_source_operations operations = {
    .read = step_events_read,
    .inventory = inventory,
    .facts = facts,
    .samples = samples,
    .phases = phases,
    .layouts = layouts,
    .progress = step_events_progress,
    .destroy = step_events_destroy,
};

/* Returns whether there are records that are not events, which only copying preserves. */
static bool has_graph(const struct java_records *java)
{
    bool found = false;
    for (size_t i = 0; i < step_reader_block_count(java->reader) && !found; i++) {
        const struct step_block_info *info = step_reader_block_info(java->reader, i);
        for (size_t k = 0; k < info->type_count && !found; k++)
            found = (java_kind_of(java, info->counts[k].record)->traits & JAVA_IS_OF_GRAPH) != 0;
    }
    return found;
}

static enum trace_content content_of(const struct stepfile_source *source)
{
    const struct java_records *java = &source->decoder.java;
    for (uint32_t i = 0; i < java->count; i++)
        if (java_kind_of(java, i)->event < EVENT_KIND_COUNT)
            return has_graph(java) ? TRACE_OF_GRAPHS : TRACE_OF_EVENTS;
    return TRACE_OF_STEP_RECORDS;
}

/* Finds the trace's records, and selects those needed. */
static enum step_status step_events_choose(struct stepfile_source *source, struct step_error *error)
{
    const struct event_selection *selected = &source->base.filter.selected;
    source->needs_objects = source->base.keep_live || follows_objects(selected);
    source->decoder.names = &source->base.names;
    source->has_phases = selected->phases.count > 0 || selected->names_phases;
    open_phases_init(&source->phases, &selected->phases);
    enum step_status status = java_records_init(&source->decoder.java, source->reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->wanted = calloc(source->decoder.java.count + 1, 1);
    source->wanted_before = calloc(source->decoder.java.count + 1, 1);
    source->wanted_frees = calloc(source->decoder.java.count + 1, 1);
    source->runs = calloc(source->decoder.java.count + 1, 1);
    if (source->wanted == NULL || source->wanted_before == NULL || source->wanted_frees == NULL ||
        source->runs == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < source->decoder.java.count; i++)
        source->runs[i] = stepfile_decoder_takes_runs(&source->decoder, i);
    if (source->has_phases && !name_phases(source))
        return no_memory(error);
    choose_records(source, selected->kinds);
    source->from_ticks = selected->from_ns / source->decoder.java.resolution_ns;
    source->to_ticks = selected->to_ns / source->decoder.java.resolution_ns;
    uint64_t number;
    if (event_selection_one_thread(selected, &number) && number != 0) {
        source->has_thread = true;
        source->thread_id = thread_id_of(source, number);
    }
    return STEP_STATUS_OK;
}

/* Positions before the first event. */
static enum step_status step_events_start(struct stepfile_source *source, struct step_error *error)
{
    const struct step_records_rules rules = {.user = source,
                                             .wanted = step_events_wanted_of,
                                             .front = step_events_take_front,
                                             .waits = step_events_must_wait};
    enum step_status status = step_events_choose(source, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->base.about.format = "step";
    source->base.about.reader = source->reader;
    source->base.about.resolution_ns = source->decoder.java.resolution_ns;
    source->base.content = content_of(source);
    if (source->base.keep_live && !source->has_thread) /* other threads' objects are unknown */
        source->live = &source->base.live;
    status = step_records_create_ordered(source->reader, &rules, &source->records, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->fronts = calloc(step_records_queue_count(source->records) + 1, sizeof *source->fronts);
    return source->fronts != NULL ? STEP_STATUS_OK : no_memory(error);
}

/* Takes ownership of the reader. */
enum step_status stepfile_event_source_create(const char *path, struct step_reader *reader,
                                              const struct event_selection *selected,
                                              struct event_source **out, struct step_error *error)
{
    struct stepfile_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_reader_destroy(reader);
        return step_no_memory(error, path);
    }
    source->reader = reader;
    event_source_init(&source->base, &operations, path, selected);
    enum step_status status = step_events_start(source, error);
    if (status != STEP_STATUS_OK) {
        step_events_destroy(&source->base);
        return status;
    }
    *out = &source->base;
    return status;
}

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct opened_trace *out, struct step_error *error)
{
    struct step_reader *reader;
    enum step_status status = open_with_given_definition(path, selected->needs_all, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    return stepfile_reader_has_heap_events(reader)
               ? stepfile_alloc_source_create(path, reader, &out->allocs, error)
               : stepfile_event_source_create(path, reader, selected, &out->events, error);
}
