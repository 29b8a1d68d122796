/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes deaths in a first pass (death_tracker.h), and copies the trace in a second.
 *
 * The first pass replays the references in the order of time.  Each collection that it comes to
 * dates the objects that it found dead, anywhere between their births and the collection.  So
 * deaths come collection by collection, but not in the order of their times, and the last
 * collection may add the earliest death.  death_runs.h sorts them; none can be written before the
 * first pass has ended.
 *
 * The second pass copies block by block, in the order of the file, and not in the order of time.
 * What one thread wrote thus stays in its stream and in its order, which are all that a reader
 * relies on to merge streams: a copy in the order of time would have decided anew, and for good,
 * between records of the same tick.
 *
 * Only the stream of frees changes.  Its java.ObjectFree records are left out, and the deaths take
 * their place.  They belong to that stream and to no thread's: a thread's stream says what the
 * thread did in this order, and to become unreachable is nothing that a thread does.  The stream is
 * in the order of time, and so are the sorted deaths.  So the two are merged: before each record
 * that is copied, all deaths that are not later.  A death behind a later record would make the
 * stream run backwards, and a merge by time gives such a record only after all that it passed.
 */
#include "converter/graph/dated_trace.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/graph/death_tracker.h"
#include "converter/records/copy_trace.h"
#include "converter/trace/copy_loss.h"
#include "format/core/grow.h"
#include "steptrace/live.h"

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
        status = tracker.batch_count > 0 ? death_tracker_end_collection(&tracker, error)
                                         : STEP_STATUS_OK;
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
 * it; NULL otherwise.  Traces from before java.ObjectDeath have no record to write a death with, so
 * their copy gets our definition.  Ours must keep each record's number, by which put_copy() and the
 * tables by record number (`wanted`, `time_slots`) find it; that is why records are only ever added
 * at the end of java.step.  A definition that somebody else has changed is refused: its records may
 * mean something else. */
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

/* Frees of objects that the trace does not know (java.ObjectFreeUnknown) are another record type
 * and stay as they are: nothing is known of these objects but that a collection found them dead. */
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
