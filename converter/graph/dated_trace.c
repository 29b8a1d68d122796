/* SPDX-License-Identifier: Apache-2.0 */
/* Computes deaths in a first pass (dated_trace.h has the algorithm, step by step), and copies the
 * trace in a second. */
#include "converter/graph/dated_trace.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/records/copy_trace.h"
#include "converter/trace/copy_loss.h"
#include "format/core/grow.h"
#include "steptrace/live.h"

/* Maximum number of outer calls searched for the entry of an exit.  Without it, each exit of a call
 * from before the trace would search the whole stack in vain. */
enum { UNWOUND_MOST = 4096 };

/* Marks a free that is not replaced (java.ObjectFreeUnknown); stored as its thread. */
#define STAYS UINT32_MAX

struct receiver {
    uint64_t method;
    uint64_t object;
};

struct receivers {
    struct receiver *items;
    size_t count, capacity;
};

#define DEATH_TRACKER_KINDS                                                                        \
    (GRAPH_REPLAY_KINDS | GRAPH_EVENT_BIT(GRAPH_ENTRY) | GRAPH_EVENT_BIT(GRAPH_EXIT))

struct dying {
    uint64_t touched;
    uint32_t node;
    uint32_t thread_id;
    uint32_t how; /* enum touch_kind */
};

struct death_tracker {
    struct graph_replay replay;
    struct dated_summary *summary; /* borrowed */
    struct id_table threads;       /* struct receivers of the open calls */
    struct dying *batch;           /* frees of the current collection */
    size_t batch_count, batch_capacity;
    uint64_t batch_time;
    uint64_t previous_time; /* time of the previous collection */
    bool has_previous;
    uint32_t *pending; /* nodes still to process */
    size_t pending_count, pending_capacity;
    struct death_runs *deaths; /* borrowed; receives the deaths */
};

/* ---- calls ---- */

static void touch_object(struct death_tracker *tracker, uint64_t object, uint64_t time)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (object != 0)
        object_graph_touch(graph, object_graph_find(graph, object), time, TOUCH_USE);
}

static bool dated_enter(struct death_tracker *tracker, const struct graph_event *event)
{
    struct receivers *calls = id_table_get(&tracker->threads, event->thread_id);
    touch_object(tracker, event->object, event->time);
    if (calls == NULL)
        return false;
    if (!STEP_MAKE_ROOM(calls->items, calls->capacity, calls->count + 1))
        return false;
    calls->items[calls->count++] = (struct receiver){event->number, event->object};
    return true;
}

/* The frame held its receiver until now.  Calls whose exits are missing end here, too. */
static void dated_leave(struct death_tracker *tracker, const struct graph_event *event)
{
    struct receivers *calls = id_table_find(&tracker->threads, event->thread_id);
    size_t at = calls != NULL ? calls->count : 0;
    size_t least = at > UNWOUND_MOST ? at - UNWOUND_MOST : 0;
    while (at > least && calls->items[at - 1].method != event->number)
        at--;
    if (at == least)
        return;
    while (calls->count >= at)
        touch_object(tracker, calls->items[--calls->count].object, event->time);
}

/* ---- a collection ---- */

static bool add_dying(struct death_tracker *tracker, const struct dying *dying)
{
    if (!STEP_MAKE_ROOM(tracker->batch, tracker->batch_capacity, tracker->batch_count + 1))
        return false;
    tracker->batch[tracker->batch_count++] = *dying;
    return true;
}

/* Step 2. GRAPH_DYING keeps a second free of the object from counting, and tells dated_pass_on()
 * what is of the batch.  Frees of objects that are missing from the trace keep their time. */
static enum step_status dated_put_free(struct death_tracker *tracker,
                                       const struct graph_event *event, struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint32_t node = object_graph_find(graph, event->object);
    struct edge_list *list = node != 0 ? &graph->nodes[node].edges : NULL;
    tracker->batch_time = event->time;
    if (node != 0 && (list->marks & GRAPH_DYING) == 0) {
        list->marks |= GRAPH_DYING;
        const struct dying dying = {.node = node,
                                    .thread_id = event->number != 0 ? STAYS : event->thread_id};
        return add_dying(tracker, &dying) ? STEP_STATUS_OK : no_memory(error);
    }
    tracker->replay.unknown.frees++;
    if (event->number != 0)
        return STEP_STATUS_OK;
    tracker->summary->counts[TOUCH_NONE]++;
    const struct dated_death death = {.time = event->time,
                                      .object = event->object,
                                      .collected = event->time,
                                      .thread_id = event->thread_id,
                                      .how = TOUCH_NONE};
    return death_runs_put(tracker->deaths, &death, error);
}

static bool dated_push(struct death_tracker *tracker, uint32_t node)
{
    if (!STEP_MAKE_ROOM(tracker->pending, tracker->pending_capacity, tracker->pending_count + 1))
        return false;
    tracker->pending[tracker->pending_count++] = node;
    return true;
}

/* Adds `by` to the reference counts of the objects that dead objects refer to.  With -1, the
 * references that remain come from objects that were not found dead. */
static void uncount_dead_holders(struct death_tracker *tracker, int by)
{
    struct graph_node *nodes = tracker->replay.graph.nodes;
    for (size_t i = 0; i < tracker->batch_count; i++) {
        size_t slots;
        const struct edge *edges = edge_list_slots(&nodes[tracker->batch[i].node].edges, &slots);
        for (size_t k = 0; k < slots; k++)
            if (edges[k].target != 0 && !edge_key_is_weak(edges[k].key))
                nodes[edges[k].target].strong += (uint32_t) by;
    }
}

/* Step 3: determines the last known time of each dead object by itself. */
static void dated_judge(struct death_tracker *tracker)
{
    struct object_graph *graph = &tracker->replay.graph;
    uncount_dead_holders(tracker, -1);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        uint32_t node = tracker->batch[i].node;
        struct edge_list *list = &graph->nodes[node].edges;
        /* Nothing is known if the object still has a holder, or if a dead holder of unknown time
         * has passed TOUCH_NONE on. */
        if (!tracker->summary->has_references || graph->nodes[node].strong > 0 ||
            list->touch == TOUCH_NONE)
            object_graph_touch(graph, node, tracker->batch_time, TOUCH_NONE);
        else if (list->touch == TOUCH_CUT &&
                 ((list->marks & GRAPH_EXISTED) != 0 && tracker->replay.snapshot == 0))
            list->touch = TOUCH_USE; /* earlier holders are unknown */
        else if (list->touch == TOUCH_CUT && graph->nodes[node].weak > 0)
            list->touch = TOUCH_USE; /* it was accessible through a soft or weak reference */
        /* in a trace whose streams are not in order */
        if (graph->touched[node] > tracker->batch_time)
            graph->touched[node] = tracker->batch_time;
        tracker->batch[i].touched = graph->touched[node];
        tracker->batch[i].how = list->touch;
    }
    uncount_dead_holders(tracker, 1);
}

/* Step 4 relies on it.  At equal times the less precise comes first: objects that both hold are as
 * imprecise. */
static int later_first(const void *a, const void *b)
{
    const struct dying *first = a, *second = b;
    if (first->touched != second->touched)
        return first->touched < second->touched ? 1 : -1;
    return (first->how < second->how) - (first->how > second->how);
}

/* Propagates a holder's time to an object that it refers to, which may be dead as well or be
 * found dead by a later collection. */
static void pass_to(struct object_graph *graph, uint32_t target, uint64_t time, uint8_t how)
{
    struct edge_list *list = &graph->nodes[target].edges;
    if (graph->touched[target] < time || (graph->touched[target] == time && list->touch < how))
        object_graph_touch(graph, target, time, (enum touch_kind) how);
}

/* Steps 4 and 5: propagates the node's time to all dead objects that it reaches and none before it
 * did.  The stack is explicit, because a linked list may be millions of objects long. */
static bool dated_pass_on(struct death_tracker *tracker, uint32_t from)
{
    struct object_graph *graph = &tracker->replay.graph;
    uint64_t time = graph->touched[from];
    if (!dated_push(tracker, from))
        return false;
    while (tracker->pending_count > 0) {
        size_t slots;
        uint32_t node = tracker->pending[--tracker->pending_count];
        uint8_t how = graph->nodes[node].edges.touch;
        const struct edge *edges = edge_list_slots(&graph->nodes[node].edges, &slots);
        for (size_t i = 0; i < slots; i++) {
            struct graph_node *target = &graph->nodes[edges[i].target];
            struct edge_list *list = &target->edges;
            if (edges[i].target == 0 || edge_key_is_weak(edges[i].key) ||
                (list->marks & GRAPH_DONE) != 0)
                continue;
            pass_to(graph, edges[i].target, time, how);
            if ((list->marks & GRAPH_DYING) == 0)
                continue;
            list->marks |= GRAPH_DONE;
            if (!dated_push(tracker, edges[i].target))
                return false;
        }
    }
    return true;
}

/* Step 6. */
static void dated_measure(struct death_tracker *tracker, uint32_t node)
{
    struct object_graph *graph = &tracker->replay.graph;
    if (!tracker->summary->has_full_collections || graph->nodes[node].edges.touch == TOUCH_NONE)
        return;
    if (!tracker->has_previous || graph->touched[node] >= tracker->previous_time) {
        tracker->summary->errors.within++;
        return;
    }
    uint64_t by = tracker->previous_time - graph->touched[node];
    tracker->summary->errors.earlier++;
    tracker->summary->errors.ticks += by;
    if (by > tracker->summary->errors.most)
        tracker->summary->errors.most = by;
    /* The collection found it alive. */
    object_graph_touch(graph, node, tracker->previous_time, TOUCH_USE);
}

static enum step_status dated_give(struct death_tracker *tracker, const struct dying *dying,
                                   struct step_error *error)
{
    const struct object_graph *graph = &tracker->replay.graph;
    uint8_t how = graph->nodes[dying->node].edges.touch;
    const struct dated_death death = {.time = graph->touched[dying->node],
                                      .object = graph->nodes[dying->node].object,
                                      .collected = tracker->batch_time,
                                      .thread_id = dying->thread_id,
                                      .how = how};
    tracker->summary->counts[how]++;
    return death_runs_put(tracker->deaths, &death, error);
}

static enum step_status dated_end_collection(struct death_tracker *tracker,
                                             struct step_error *error)
{
    struct object_graph *graph = &tracker->replay.graph;
    enum step_status status = STEP_STATUS_OK;
    dated_judge(tracker);
    qsort(tracker->batch, tracker->batch_count, sizeof *tracker->batch, later_first);
    for (size_t i = 0; i < tracker->batch_count; i++) {
        struct edge_list *list = &graph->nodes[tracker->batch[i].node].edges;
        bool is_done = (list->marks & GRAPH_DONE) != 0;
        list->marks |= GRAPH_DONE;
        if (!is_done && !dated_pass_on(tracker, tracker->batch[i].node))
            return no_memory(error);
    }
    for (size_t i = 0; i < tracker->batch_count && status == STEP_STATUS_OK; i++) {
        dated_measure(tracker, tracker->batch[i].node);
        if (tracker->batch[i].thread_id != STAYS)
            status = dated_give(tracker, &tracker->batch[i], error);
    }
    for (size_t i = 0; i < tracker->batch_count; i++)
        object_graph_remove(graph, tracker->batch[i].node);
    tracker->batch_count = 0;
    tracker->previous_time = tracker->batch_time;
    tracker->has_previous = true;
    tracker->summary->collections++;
    return status;
}

/* ---- life cycle ---- */

/* Returns false if out of memory; reset is allowed then. */
static bool death_tracker_init(struct death_tracker *tracker, const struct graph_source *source,
                               struct death_runs *deaths, struct dated_summary *summary)
{
    *tracker = (struct death_tracker){.deaths = deaths, .summary = summary};
    tracker->summary->has_references = graph_source_has_stores(source);
    const char *collect = step_reader_property(source->java.reader, "collect");
    tracker->summary->has_full_collections = collect != NULL && *collect != '\0';
    id_table_init(&tracker->threads, sizeof(struct receivers));
    return graph_replay_init(&tracker->replay, source, true, false);
}

static void death_tracker_reset(struct death_tracker *tracker)
{
    for (uint32_t id = 0; id_table_next(&tracker->threads, &id); id++)
        free(((struct receivers *) id_table_find(&tracker->threads, id))->items);
    id_table_reset(&tracker->threads);
    graph_replay_reset(&tracker->replay);
    free(tracker->batch);
    free(tracker->pending);
    *tracker = (struct death_tracker){0};
}

static enum step_status death_tracker_put(struct death_tracker *tracker,
                                          const struct graph_event *event, struct step_error *error)
{
    bool is_free = event->kind == GRAPH_FREE;
    if (tracker->batch_count > 0 && (!is_free || event->time != tracker->batch_time)) {
        enum step_status status = dated_end_collection(tracker, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    if (is_free)
        return dated_put_free(tracker, event, error);
    bool ok = true;
    if (event->kind == GRAPH_ENTRY)
        ok = dated_enter(tracker, event);
    else if (event->kind == GRAPH_EXIT)
        dated_leave(tracker, event);
    else
        ok = graph_replay_put(&tracker->replay, event);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

struct dating {
    struct step_reader *reader;
    struct graph_source source;
    struct death_runs deaths;
    struct step_writer *writer;
    uint8_t *wanted;    /* by record of the file: everything except the replaced frees */
    size_t *time_slots; /* by record, or STEP_NO_PROPERTY_SLOT */
    bool is_older;      /* the copy has our definition, of which the file's is an older version */
};

#define FIELDS_MOST 16u /* of a record of Java's definition */

bool dated_trace_is(const struct step_reader *reader)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    uint32_t death = step_definition_find(definition, "java.ObjectDeath");
    for (size_t k = 0; death != STEP_NO_RECORD && k < step_reader_block_count(reader); k++) {
        const struct step_block_info *info = step_reader_block_info(reader, k);
        for (size_t i = 0; i < info->type_count; i++)
            if (info->counts[i].record == death && info->counts[i].count > 0)
                return true;
    }
    return false;
}

/* ---- the first pass ---- */

static void summarize(const struct dating *dating, const struct death_tracker *tracker,
                      struct dated_summary *summary)
{
    const uint64_t *counts = dating->source.inventory.counts;
    summary->living = tracker->replay.graph.living;
    summary->stores = tracker->replay.stores;
    summary->snapshots = counts[GRAPH_SNAPSHOT_END];
    summary->has_calls = counts[GRAPH_ENTRY] > 0;
    summary->has_existing = counts[GRAPH_EXISTING] > 0;
    summary->unknown = tracker->replay.unknown;
    summary->resolution_ns = dating->source.java.resolution_ns;
    summary->unit = dating->source.java.unit;
}

static enum step_status find_deaths(struct dating *dating, struct dated_summary *summary,
                                    struct step_error *error)
{
    struct death_tracker tracker;
    const struct graph_event *event;
    enum step_status status = STEP_STATUS_OK;
    if (!death_tracker_init(&tracker, &dating->source, &dating->deaths, summary))
        status = no_memory(error);
    if (status == STEP_STATUS_OK)
        status = graph_source_start(&dating->source, DEATH_TRACKER_KINDS, graph_replay_knows,
                                    &tracker.replay, error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&dating->source, &event, error)) == STEP_STATUS_OK) {
        if (event->kind == GRAPH_SNAPSHOT && event->amount == 1)
            summary->has_first_snapshot = true;
        status = death_tracker_put(&tracker, event, error);
    }
    if (status == STEP_STATUS_END)
        status = tracker.batch_count > 0 ? dated_end_collection(&tracker, error) : STEP_STATUS_OK;
    if (status == STEP_STATUS_OK)
        status = death_runs_finish(&dating->deaths, error);
    if (status == STEP_STATUS_OK)
        summarize(dating, &tracker, summary);
    death_tracker_reset(&tracker);
    return status;
}

/* ---- the second pass ---- */

/* Sets the places of an older record's fields among ours, which may have more.  A field of Java's
 * records has one slot.  Returns false if it is another record. */
static bool dated_find_places(const struct step_record *file, const struct step_record *ours,
                              uint8_t places[FIELDS_MOST])
{
    if (strcmp(file->name, ours->name) != 0 || file->field_count > ours->field_count ||
        ours->field_count > FIELDS_MOST)
        return false;
    for (size_t i = 0; i < file->field_count; i++) {
        size_t place = step_record_find_field(ours, file->fields[i].name);
        if (place == SIZE_MAX || file->fields[i].kind != ours->fields[place].kind ||
            file->fields[i].array_depth != ours->fields[place].array_depth)
            return false;
        places[i] = (uint8_t) place;
    }
    return true;
}

static bool is_same_record(const struct step_record *one, const struct step_record *other)
{
    uint8_t places[FIELDS_MOST];
    if (one->field_count != other->field_count || !dated_find_places(one, other, places))
        return false;
    for (size_t i = 0; i < one->field_count; i++)
        if (places[i] != i)
            return false;
    return true;
}

/* Events may have got fields since; dictionaries are copied as they are. */
static bool is_older_record(const struct step_definition *file, uint32_t record)
{
    const struct step_record *ours = &step_java_trace_definition.records[record];
    uint8_t places[FIELDS_MOST];
    return is_same_record(&file->records[record], ours) ||
           (step_record_find_property(file, record, "time") != STEP_NO_PROPERTY_SLOT &&
            dated_find_places(&file->records[record], ours, places));
}

/* Returns the trace's definition if it has the record; ours if the trace's is an older version of
 * it; NULL otherwise.  Ours must keep each record's number: blocks name records by it. */
static const struct step_definition *choose_definition(const struct step_definition *file)
{
    const struct step_definition *ours = &step_java_trace_definition;
    uint32_t death = step_definition_find(file, "java.ObjectDeath");
    if (death != STEP_NO_RECORD)
        return is_same_record(&file->records[death], &ours->records[STEP_JAVA_OBJECT_DEATH]) ? file
                                                                                             : NULL;
    if (file->record_count > ours->record_count)
        return NULL;
    for (uint32_t i = 0; i < file->record_count; i++)
        if (!is_older_record(file, i))
            return NULL;
    return ours;
}

static enum step_status dated_put_death(struct dating *dating, uint32_t record,
                                        const struct dated_death *death)
{
    /* In the order of ObjectDeath's fields; the definition may be the file's. */
    const uint64_t slots[] = {death->time, death->thread_id, death->object, death->collected,
                              death->how};
    return step_writer_put(dating->writer, STEP_LIVE_STREAM_FREES, record, slots);
}

/* Writes the deaths up to and including `time`. Both they and the stream's records are in order. */
static enum step_status dated_put_deaths(struct dating *dating, uint32_t record, uint64_t time,
                                         struct step_error *error)
{
    const struct dated_death *death;
    enum step_status status = STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && (death = death_runs_peek(&dating->deaths)) != NULL &&
           death->time <= time) {
        status = dated_put_death(dating, record, death);
        if (status == STEP_STATUS_OK)
            status = death_runs_next(&dating->deaths, error);
    }
    return status;
}

/* Writes a record of the file.  Fields that an older definition does not have are 0. */
static enum step_status put_copy(struct dating *dating, uint64_t stream,
                                 const struct step_record_view *view)
{
    if (!dating->is_older)
        return step_writer_put(dating->writer, stream, view->record, view->slots);
    const struct step_definition *file = step_reader_borrow_definition(dating->reader);
    const struct step_record *record = &file->records[view->record];
    uint64_t slots[FIELDS_MOST] = {0};
    uint8_t places[FIELDS_MOST];
    if (!dated_find_places(record, &step_java_trace_definition.records[view->record], places))
        return STEP_STATUS_INVALID;
    for (size_t i = 0; i < record->field_count; i++)
        slots[places[i]] = view->slots[i];
    return step_writer_put(dating->writer, stream, view->record, slots);
}

/* Deaths are merged into the stream of frees alone: readers merge streams by time, but expect the
 * order within each. */
static enum step_status copy_block(struct dating *dating, size_t i, struct step_block **block,
                                   uint32_t death, struct step_error *error)
{
    struct step_record_view view;
    uint64_t stream = step_reader_block_info(dating->reader, i)->stream;
    enum step_status status = step_reader_load(dating->reader, i, dating->wanted, block, error);
    if (status != STEP_STATUS_OK) /* the reader noted the damage */
        return status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ? status
                                                                           : STEP_STATUS_OK;
    while (status == STEP_STATUS_OK && step_block_next(*block, &view) == STEP_STATUS_OK) {
        size_t slot = dating->time_slots[view.record];
        if (stream == STEP_LIVE_STREAM_FREES && slot != STEP_NO_PROPERTY_SLOT)
            status = dated_put_deaths(dating, death, view.slots[slot], error);
        if (status == STEP_STATUS_OK)
            status = put_copy(dating, stream, &view);
    }
    return status;
}

static enum step_status copy_all(struct dating *dating, uint32_t death, struct step_error *error)
{
    struct step_block *block = NULL;
    enum step_status status = stepfile_copy_start(dating->reader, dating->writer);
    if (status == STEP_STATUS_OK)
        status = step_writer_property(dating->writer, DEATHS_PROPERTY, DEATHS_EXACT);
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(dating->reader); i++)
        status = copy_block(dating, i, &block, death, error);
    step_block_destroy(block);
    if (status == STEP_STATUS_OK)
        status = copy_loss_put_of_reader(dating->reader, dating->writer);
    return status == STEP_STATUS_OK ? dated_put_deaths(dating, death, UINT64_MAX, error) : status;
}

static enum step_status prepare_copy(struct dating *dating, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(dating->reader);
    size_t count = definition->record_count;
    dating->wanted = calloc(count + 1, 1);
    dating->time_slots = calloc(count + 1, sizeof *dating->time_slots);
    if (dating->wanted == NULL || dating->time_slots == NULL)
        return no_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        dating->wanted[i] = strcmp(definition->records[i].name, "java.ObjectFree") != 0;
        dating->time_slots[i] = step_record_find_property(definition, i, "time");
    }
    return STEP_STATUS_OK;
}

static enum step_status write_copy(struct dating *dating, const struct step_output *output,
                                   struct step_error *error)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = choose_definition(step_reader_borrow_definition(dating->reader));
    options.output = *output;
    options.layout = STEP_WRITE_COLUMNS; /* trying rows as well takes a third of the time */
    dating->is_older = options.definition == &step_java_trace_definition;
    if (options.definition == NULL)
        return step_error_set(error, STEP_STATUS_FORMAT, step_reader_borrow_name(dating->reader),
                              STEP_NO_OFFSET, "its definition has no record java.ObjectDeath");
    uint32_t death = step_definition_find(options.definition, "java.ObjectDeath");
    enum step_status status = prepare_copy(dating, error);
    if (status == STEP_STATUS_OK)
        status = step_writer_create(&options, &dating->writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = copy_all(dating, death, error);
    enum step_status closed =
        step_writer_close(dating->writer, status == STEP_STATUS_OK ? error : NULL);
    step_writer_destroy(dating->writer);
    return status != STEP_STATUS_OK ? status : closed;
}

enum step_status dated_trace_write(struct step_reader *reader, const struct step_output *output,
                                   struct dated_summary *summary, struct step_error *error)
{
    struct dating dating = {.reader = reader};
    *summary = (struct dated_summary){0};
    if (dated_trace_is(reader))
        return step_error_set(error, STEP_STATUS_INVALID, step_reader_borrow_name(reader),
                              STEP_NO_OFFSET, "its deaths were computed before");
    death_runs_init(&dating.deaths, 0);
    enum step_status status = graph_source_init(&dating.source, reader, error);
    if (status == STEP_STATUS_OK)
        status = find_deaths(&dating, summary, error);
    if (status == STEP_STATUS_OK)
        status = write_copy(&dating, output, error);
    graph_source_reset(&dating.source);
    death_runs_reset(&dating.deaths);
    free(dating.wanted);
    free(dating.time_slots);
    return status;
}
