/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates running sums with events, and takes snapshots.
 *
 * All moments that were asked for come from one pass.  A snapshot at a time is taken when the first
 * later event comes: events of that time belong to it.  One after a collection is taken when the
 * clock of collections says that it is over (collection_clock.h), before the event that shows it.
 * Then the snapshots of times that have passed meanwhile come first, so that they leave in order.
 *
 * A live object is an entry in `live`: its birth, its size, and the number of its cell (in
 * `class_id`, the table's member for whatever its user counts by).  The invariant of the sums: each
 * entry was added once, to its cell and to the whole, and is subtracted with the same numbers when
 * it is taken out of the table.  So no sum falls below 0, whatever a trace claims: a free of an
 * unknown object, or a second free of one, finds no entry and is counted as unknown.
 */
#include "converter/heap/heap_tracker.h"

#include <stdlib.h>
#include <string.h>

#include "converter/numbers/quantity.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

/* ---- cells: an array with a hash index ---- */

void heap_cells_init(struct heap_cells *cells, bool follow_peak)
{
    *cells = (struct heap_cells){.peak = follow_peak};
}

void heap_cells_reset(struct heap_cells *cells)
{
    free(cells->items);
    step_index_reset(&cells->index);
    *cells = (struct heap_cells){.items = NULL};
}

/* Cells are never removed, and their numbers never change: live objects refer to them, and a cell
 * without live objects still has what was allocated.  The array may move, so others keep numbers
 * and no pointers. */
uint32_t heap_cells_put(struct heap_cells *cells, const struct heap_key *key)
{
    uint64_t words = step_hash_join((uint64_t) key->site << 32, key->class_id);
    uint32_t hash = (uint32_t) step_hash_join(words, key->thread_id), number;
    STEP_INDEX_EACH (&cells->index, hash, number) {
        const struct heap_key *other = &cells->items[number].key;
        if (other->site == key->site && other->class_id == key->class_id &&
            other->thread_id == key->thread_id)
            return number;
    }
    number = (uint32_t) cells->count;
    if (cells->count == UINT32_MAX / 4 ||
        !STEP_MAKE_ROOM(cells->items, cells->capacity, cells->count + 1) ||
        !step_index_add(&cells->index, hash, number))
        return UINT32_MAX;
    /* At the last peak its value was the same as now: empty. */
    cells->items[cells->count++] = (struct heap_cell){.key = *key};
    return number;
}

void heap_cells_renumber(struct heap_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        cells->items[i].peak = 0;
    cells->peak = 1;
}

/* The ages of all live objects together, without a look at them (struct heap_sums). */
static struct heap_amount live_amount(const struct heap_sums *sums, uint64_t now_us)
{
    return (struct heap_amount){sums->objects, sums->bytes,
                                sums->objects * now_us - sums->births_us};
}

static struct heap_amount allocated_amount(const struct heap_sums *sums)
{
    return (struct heap_amount){sums->allocated_objects, sums->allocated_bytes, sums->lived_us};
}

static struct heap_amount existing_amount(const struct heap_sums *sums)
{
    return (struct heap_amount){sums->existing_objects, sums->existing_bytes, 0};
}

/* By the invariant in the header, a cell whose number is that of the last peak has changed since
 * and has a copy from then; of any other the present value is that of the peak.  Rows are in the
 * order of the cells, which heap_samples_show() relies on.  The totals are kept beside the cells: a
 * sum over the rows would count the same. */
bool heap_cells_snapshot(const struct heap_cells *cells, bool at_peak,
                         struct heap_snapshot *snapshot)
{
    uint64_t now_us = time_age(snapshot->time_ns, snapshot->unit);
    snapshot->rows = malloc((cells->count + 1) * sizeof *snapshot->rows);
    snapshot->count = 0;
    if (snapshot->rows == NULL)
        return false;
    for (size_t i = 0; i < cells->count; i++) {
        const struct heap_cell *cell = &cells->items[i];
        const struct heap_sums *sums =
            at_peak && cell->peak == cells->peak ? &cell->at_peak : &cell->now;
        if (!heap_sums_are_empty(sums))
            snapshot->rows[snapshot->count++] =
                (struct heap_row){.key = cell->key,
                                  .live = live_amount(sums, now_us),
                                  .allocated = allocated_amount(sums),
                                  .existing = existing_amount(sums),
                                  .most = cell->most};
    }
    const struct heap_sums *all = at_peak ? &cells->all_at_peak : &cells->all;
    snapshot->live = live_amount(all, now_us);
    snapshot->allocated = allocated_amount(all);
    snapshot->existing = existing_amount(all);
    snapshot->has_sizes = heap_sums_have_sizes(all) || heap_sums_are_empty(all);
    return true;
}

/* ---- selection of objects ----
 * Results for sites are cached. The cell of excluded objects has a key that no object has. */

/* Cached result for a site. */
enum { LOOKED_AT = 1, WANTED = 2 };

static const struct heap_key hidden = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

/* Returns false if out of memory; reset is allowed then.  The hidden cell must be the first: its
 * index is a constant, and its key is one that no object has. */
static bool heap_choice_init(struct heap_tracker *tracker, const struct event_selection *selected)
{
    struct event_selection everything;
    event_selection_init(&everything);
    id_table_init(&tracker->verdicts, sizeof(uint32_t));
    id_table_init(&tracker->recent_at, sizeof(struct heap_recent));
    id_table_init(&tracker->recent_of, sizeof(struct heap_recent));
    trace_filter_init(&tracker->filter, selected != NULL ? selected : &everything);
    tracker->selects = !tracker->filter.everything;
    return !tracker->selects || heap_cells_put(&tracker->cells, &hidden) == HEAP_HIDDEN_CELL;
}

static void heap_choice_reset(struct heap_tracker *tracker)
{
    trace_filter_reset(&tracker->filter);
    id_table_reset(&tracker->verdicts);
    id_table_reset(&tracker->recent_at);
    id_table_reset(&tracker->recent_of);
}

/* Patterns of methods look at the innermost frame, those of sites at each frame of the stack.  The
 * result depends on the site alone, so it is computed once for each site, of which there are far
 * fewer than objects. */
static bool site_is_wanted(const struct heap_tracker *tracker, uint32_t site)
{
    const struct trace_names *names = tracker->sites.names;
    const struct event_selection *selected = &tracker->filter.selected;
    const struct heap_site *inner = &tracker->sites.items[site];
    uint32_t mask = 0;
    if (selected->methods.count > 0 &&
        !selected_globs_accept(&selected->methods,
                               site == 0 ? 0
                                         : trace_filter_frame_mask(names, &selected->methods,
                                                                   inner->method_id, inner->line)))
        return false;
    for (uint32_t at = site; selected->sites.count > 0 && at != 0;) {
        const struct heap_site *item = &tracker->sites.items[at];
        mask |= trace_filter_frame_mask(names, &selected->sites, item->method_id, item->line);
        at = item->parent;
    }
    return selected_globs_accept(&selected->sites, mask);
}

/* What does not depend on the site is asked first and for each object: its class, thread, size and
 * time.  A result that finds no memory in the cache is computed again the next time. */
static bool heap_choice_takes(struct heap_tracker *tracker, const struct trace_event *event,
                              uint32_t site)
{
    if (!trace_filter_takes_object(&tracker->filter, tracker->sites.names, event))
        return false;
    if (tracker->filter.selected.sites.count == 0 && tracker->filter.selected.methods.count == 0)
        return true;
    uint32_t *note = id_table_get(&tracker->verdicts, site);
    if (note != NULL && *note != 0)
        return (*note & WANTED) != 0;
    bool wanted = site_is_wanted(tracker, site);
    if (note != NULL)
        *note = LOOKED_AT | (wanted ? WANTED : 0);
    return wanted;
}

static void take_off(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects -= amount->objects;
    sum->bytes -= amount->bytes;
    sum->ages_us -= amount->ages_us;
}

/* Removes the excluded objects from a snapshot.  Their row is replaced by the last one, which
 * changes the order of rows: it comes after all that relies on the order. */
static void heap_choice_show(const struct heap_tracker *tracker, struct heap_snapshot *snapshot)
{
    size_t i = 0;
    while (tracker->selects && i < snapshot->count && snapshot->rows[i].key.site != hidden.site)
        i++;
    if (!tracker->selects || i == snapshot->count)
        return;
    take_off(&snapshot->live, &snapshot->rows[i].live);
    take_off(&snapshot->allocated, &snapshot->rows[i].allocated);
    take_off(&snapshot->existing, &snapshot->rows[i].existing);
    snapshot->rows[i] = snapshot->rows[--snapshot->count];
}

/* Finds the earliest moment after `after_ns`, so that an event costs one comparison, however many
 * moments were asked for.  Moments need not be sorted, and several may have the same time: it is
 * passed for all of them at once.  At first a moment at time 0 counts as well. */
static void find_next_time(struct heap_tracker *tracker, uint64_t after_ns, bool is_first)
{
    const struct heap_tracker_options *options = &tracker->options;
    tracker->next_ns = options->every_ns != 0 ? tracker->series_ns : UINT64_MAX;
    for (size_t i = 0; i < options->moment_count; i++) {
        const struct heap_moment *moment = &options->moments[i];
        if (moment->kind == HEAP_AT_TIME && (is_first || moment->value > after_ns) &&
            moment->value < tracker->next_ns)
            tracker->next_ns = moment->value;
    }
}

void heap_tracker_select(struct event_selection *selected, const struct event_selection *objects)
{
    event_selection_init(selected);
    selected->untracked = true;
    selected->derives_stacks = true;
    selected->kinds = HEAP_KINDS;
    selected->dtd_path = objects->dtd_path;
    selected->needs_all = objects->needs_all;
    event_selection_mark_phases(selected, objects);
}

bool heap_tracker_init(struct heap_tracker *tracker, const struct event_source *source,
                       const struct heap_tracker_options *options)
{
    *tracker = (struct heap_tracker){.options = *options,
                                     .unit = event_source_time_unit(source),
                                     .zero_is_size = source->content == TRACE_OF_ALLOCATIONS,
                                     .series_ns = options->every_ns};
    bool follow_peak = false;
    for (size_t i = 0; i < options->moment_count; i++)
        follow_peak = follow_peak || options->moments[i].kind == HEAP_AT_PEAK;
    find_next_time(tracker, 0, true);
    tracker->samples.unit = tracker->unit;
    bool ok = heap_sites_init(&tracker->sites, &source->names);
    heap_cells_init(&tracker->cells, follow_peak);
    return ok && heap_choice_init(tracker, options->selected);
}

enum step_status heap_tracker_weigh(struct heap_tracker *tracker, struct event_source *source,
                                    struct step_error *error)
{
    tracker->deaths.are_missing =
        (event_source_not_recorded(source) & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
    return sample_weights_read(&tracker->samples.weights, source, error);
}

void heap_tracker_reset(struct heap_tracker *tracker)
{
    heap_choice_reset(tracker);
    heap_sites_reset(&tracker->sites);
    heap_cells_reset(&tracker->cells);
    cell_samples_reset(&tracker->samples);
    collection_clock_reset(&tracker->clock);
    object_table_reset(&tracker->live);
}

static enum step_status heap_tracker_no_memory(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET,
                          "out of memory for the heap");
}

/* The order of the steps matters.  Samples are matched with rows by the order of the cells, so they
 * come before the hidden row is removed; the totals of samples come after it, as they are those of
 * the rows that remain. */
static enum step_status heap_tracker_give(struct heap_tracker *tracker,
                                          const struct heap_moment *moment, uint64_t time_ns,
                                          bool at_peak, struct step_error *error)
{
    struct heap_snapshot snapshot = {.moment = *moment,
                                     .time_ns = at_peak ? tracker->cells.peak_ns : time_ns,
                                     .unit = tracker->unit,
                                     .deaths = tracker->deaths,
                                     .lacks_sizes = tracker->lacks_sizes,
                                     .is_whole = moment->kind == HEAP_AT_END &&
                                                 event_selection_is_all(&tracker->filter.selected),
                                     .collections = at_peak ? tracker->cells.peak_collections
                                                            : tracker->collections};
    if (!heap_cells_snapshot(&tracker->cells, at_peak, &snapshot) ||
        !heap_samples_show(tracker, &snapshot)) {
        heap_snapshot_reset(&snapshot);
        return heap_tracker_no_memory(error);
    }
    heap_choice_show(tracker, &snapshot);
    heap_samples_total(&snapshot);
    return tracker->options.receive(tracker->options.user, &snapshot, error);
}

/* Takes the snapshots for times that have passed. */
static enum step_status give_times(struct heap_tracker *tracker, uint64_t now_ns,
                                   struct step_error *error)
{
    const struct heap_tracker_options *options = &tracker->options;
    while (tracker->next_ns < now_ns) {
        uint64_t time_ns = tracker->next_ns;
        enum step_status status = STEP_STATUS_OK;
        for (size_t i = 0; i < options->moment_count && status == STEP_STATUS_OK; i++)
            if (options->moments[i].kind == HEAP_AT_TIME && options->moments[i].value == time_ns)
                status = heap_tracker_give(tracker, &options->moments[i], time_ns, false, error);
        if (status == STEP_STATUS_OK && options->every_ns != 0 && tracker->series_ns == time_ns) {
            const struct heap_moment moment = {HEAP_AT_TIME, time_ns};
            status = heap_tracker_give(tracker, &moment, time_ns, false, error);
            if (__builtin_add_overflow(time_ns, options->every_ns, &tracker->series_ns))
                tracker->series_ns = UINT64_MAX;
        }
        if (status != STEP_STATUS_OK)
            return status;
        find_next_time(tracker, time_ns, false);
    }
    return STEP_STATUS_OK;
}

/* With exact deaths, dead objects were removed before their collection: the rest was reachable.
 * `collections` is set after the times before the collection, whose snapshots must not count it,
 * and before its own, which must. */
static enum step_status heap_tracker_end_collection(struct heap_tracker *tracker,
                                                    const struct collection *over,
                                                    struct step_error *error)
{
    const struct heap_tracker_options *options = &tracker->options;
    const struct heap_moment moment = {HEAP_AT_COLLECTION, over->number};
    enum step_status status =
        over->time > tracker->next_ns ? give_times(tracker, over->time, error) : STEP_STATUS_OK;
    tracker->collections = over->number;
    for (size_t i = 0; i < options->moment_count && status == STEP_STATUS_OK; i++)
        if (options->moments[i].kind == HEAP_AT_COLLECTION &&
            options->moments[i].value == over->number)
            status = heap_tracker_give(tracker, &moment, over->time, false, error);
    if (status == STEP_STATUS_OK && options->every_collection)
        status = heap_tracker_give(tracker, &moment, over->time, false, error);
    if (status == STEP_STATUS_OK && options->collected != NULL &&
        !options->collected(options->user, over))
        status = heap_tracker_no_memory(error);
    return status;
}

static bool heap_tracker_tell(const struct heap_tracker *tracker, const struct trace_event *event,
                              uint32_t cell, const struct live_object *born)
{
    const struct heap_tracker_options *options = &tracker->options;
    return options->follow == NULL || options->follow(options->follower, event, cell, born);
}

static bool heap_tracker_is_wanted(struct heap_tracker *tracker, const struct trace_event *event,
                                   uint32_t site)
{
    return !tracker->selects || heap_choice_takes(tracker, event, site);
}

/* Finds the cell of a birth: number UINT32_MAX if out of memory. */
static uint32_t heap_tracker_find_cell(struct heap_tracker *tracker,
                                       const struct trace_event *event, bool *wanted)
{
    const struct heap_key key = {event->class_id,
                                 heap_sites_of_frame(&tracker->sites, event->stack_id),
                                 tracker->options.by_thread ? event->thread_id : 0};
    *wanted = heap_tracker_is_wanted(tracker, event, key.site);
    return *wanted ? heap_cells_put(&tracker->cells, &key) : HEAP_HIDDEN_CELL;
}

/* Mostly the objects of a place are of one class or two. */
static uint32_t heap_tracker_cell_of(struct heap_tracker *tracker, const struct trace_event *event,
                                     bool *wanted)
{
    if (tracker->selects)
        return heap_tracker_find_cell(tracker, event, wanted);
    uint32_t thread_id = tracker->options.by_thread ? event->thread_id : 0;
    struct heap_recent *recent = event->stack_id != 0
                                     ? id_table_get(&tracker->recent_at, event->stack_id)
                                     : id_table_get(&tracker->recent_of, event->class_id);
    *wanted = true;
    if (recent == NULL)
        return UINT32_MAX;
    for (unsigned i = 0; i < 2; i++)
        if (recent->cells[i].cell != 0 && recent->cells[i].class_id == event->class_id &&
            recent->cells[i].thread_id == thread_id)
            return recent->cells[i].cell - 1;
    recent->cells[1] = recent->cells[0];
    recent->cells[0].class_id = event->class_id;
    recent->cells[0].thread_id = thread_id;
    recent->cells[0].cell = heap_tracker_find_cell(tracker, event, wanted) + 1;
    return recent->cells[0].cell - 1;
}

/* The cell is saved before it changes, and the peak is looked at after it has grown.  Only an
 * allocation can make a peak, and it does so with the sum of all objects: excluded ones count in it
 * through the hidden cell.
 *
 * An object of a native program may have 0 bytes.  Otherwise a size of 0 means that the trace does
 * not have it, which a report must say.  An object that is allocated twice without a free replaces
 * its entry: the first stays in the sums for good, as the trace never says that it died. */
static bool heap_tracker_put_alloc(struct heap_tracker *tracker, const struct trace_event *event)
{
    struct heap_cells *cells = &tracker->cells;
    bool wanted;
    uint32_t number = heap_tracker_cell_of(tracker, event, &wanted);
    uint64_t birth_us = time_age(event->time_ns, tracker->unit);
    bool is_existing = (event->flags & TRACE_EXISTING) != 0;
    bool is_sample = cell_samples_are_counted(&tracker->samples);
    if (number == UINT32_MAX ||
        (is_sample && !cell_samples_add(&tracker->samples, number, event)) ||
        !object_table_put(&tracker->live, &(struct live_object){event->object, event->time_ns,
                                                                event->size, number}))
        return false;
    tracker->lacks_sizes |= wanted && event->size == 0 && !tracker->zero_is_size;
    heap_cell_save(cells, &cells->items[number]);
    heap_sums_add(&cells->items[number].now, event->size, birth_us, is_existing);
    peak_passed(&cells->items[number].most, cells->items[number].now.bytes,
                cells->items[number].now.objects);
    heap_sums_add(&cells->all, event->size, birth_us, is_existing);
    if (heap_cells_note_peak(cells, event->time_ns, tracker->collections))
        tracker->peak_event = tracker->event_count;
    return heap_tracker_tell(tracker, event, number, NULL);
}

/* The clock of collections sees the free first, even of an object that is not known: it counts in
 * its collection.  The object's cell is in the table of live objects, so a free needs no site or
 * class. */
static bool heap_tracker_put_free(struct heap_tracker *tracker, const struct trace_event *event)
{
    struct heap_cells *cells = &tracker->cells;
    struct live_object born;
    bool is_sample = cell_samples_are_counted(&tracker->samples);
    if (!collection_clock_put_free(&tracker->clock, event))
        return false;
    tracker->collections = collection_clock_begun(&tracker->clock);
    death_dates_put(&tracker->deaths, event);
    if (!object_table_take(&tracker->live, event->object, &born)) {
        tracker->unknown_frees++;
        return (!is_sample || cell_samples_remove(&tracker->samples, NULL, event)) &&
               heap_tracker_tell(tracker, event, UINT32_MAX, NULL);
    }
    struct heap_cell *cell = &cells->items[born.class_id];
    heap_cell_save(cells, cell);
    uint64_t birth_us = time_age(born.value, tracker->unit);
    uint64_t death_us = time_age(event->time_ns, tracker->unit);
    heap_sums_remove(&cell->now, born.size, birth_us, death_us);
    heap_sums_remove(&cells->all, born.size, birth_us, death_us);
    return (!is_sample || cell_samples_remove(&tracker->samples, &born, event)) &&
           heap_tracker_tell(tracker, event, born.class_id, &born);
}

static bool is_left_out(const struct heap_tracker *tracker, const struct trace_event *event)
{
    return (event->flags & TRACE_EXISTING) != 0 && tracker->options.without_existing;
}

static bool leave_out(struct heap_tracker *tracker, const struct trace_event *event)
{
    tracker->left_out += heap_tracker_is_wanted(
        tracker, event, heap_sites_of_frame(&tracker->sites, event->stack_id));
    return heap_tracker_tell(tracker, event, UINT32_MAX, NULL);
}

static bool heap_tracker_put_event(struct heap_tracker *tracker, const struct trace_event *event)
{
    switch (event->kind) {
    case EVENT_OBJECT_ALLOC:
        if (event->object == 0) /* none */
            return true;
        return is_left_out(tracker, event) ? leave_out(tracker, event)
                                           : heap_tracker_put_alloc(tracker, event);
    case EVENT_OBJECT_FREE:
        return heap_tracker_put_free(tracker, event);
    default:
        return true;
    }
}

static void draw(struct heap_tracker *tracker)
{
    static const struct heap_sums nothing;
    const struct heap_cells *cells = &tracker->cells;
    const struct heap_sums *hidden_now =
        tracker->selects ? &cells->items[HEAP_HIDDEN_CELL].now : &nothing;
    level_curve_put(tracker->options.curve, tracker->now_ns, cells->all.bytes - hidden_now->bytes,
                    cells->all.objects - hidden_now->objects);
}

/* Before an event changes the heap, all moments before it are dealt with: first the collections
 * that are over by then, in each of which the times before it come first, then the remaining times.
 * An event of the same time as a moment belongs to it, hence the comparison without equality.
 * Times may go back within a stream, which nothing sorts; the latest is the present. */
enum step_status heap_tracker_put(struct heap_tracker *tracker, const struct trace_event *events,
                                  size_t count, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    struct collection over;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        if (tracker->event_limit != 0 && tracker->event_count == tracker->event_limit)
            break;
        tracker->event_count++;
        while (status == STEP_STATUS_OK &&
               collection_clock_ends_before(&tracker->clock, event, &over))
            status = heap_tracker_end_collection(tracker, &over, error);
        if (status == STEP_STATUS_OK && event->time_ns > tracker->next_ns)
            status = give_times(tracker, event->time_ns, error);
        if (status != STEP_STATUS_OK)
            return status;
        if (event->time_ns > tracker->now_ns)
            tracker->now_ns = event->time_ns;
        if (!heap_tracker_put_event(tracker, event))
            return heap_tracker_no_memory(error);
        if (tracker->options.curve != NULL)
            draw(tracker);
    }
    return STEP_STATUS_OK;
}

/* Reports a moment that the trace does not reach. */
static enum step_status give_nothing(struct heap_tracker *tracker, const struct heap_moment *moment,
                                     struct step_error *error)
{
    struct heap_snapshot snapshot = {
        .moment = *moment, .time_ns = UINT64_MAX, .collections = tracker->collections};
    return tracker->options.receive(tracker->options.user, &snapshot, error);
}

/* A moment in time that is not before `next_ns` was not given yet.  It is given now if the trace
 * came as far, because events at its very time may have been the last ones. */
enum step_status heap_tracker_finish(struct heap_tracker *tracker, struct step_error *error)
{
    const struct heap_tracker_options *options = &tracker->options;
    enum step_status status = STEP_STATUS_OK;
    struct collection over;
    while (status == STEP_STATUS_OK && collection_clock_finish(&tracker->clock, &over))
        status = heap_tracker_end_collection(tracker, &over, error);
    for (size_t i = 0; i < options->moment_count && status == STEP_STATUS_OK; i++) {
        const struct heap_moment *moment = &options->moments[i];
        if ((moment->kind == HEAP_AT_COLLECTION && moment->value > tracker->collections) ||
            (moment->kind == HEAP_AT_TIME && moment->value > tracker->now_ns))
            status = give_nothing(tracker, moment, error);
        else if (moment->kind == HEAP_AT_END || moment->kind == HEAP_AT_PEAK ||
                 (moment->kind == HEAP_AT_TIME && moment->value >= tracker->next_ns))
            status = heap_tracker_give(tracker, moment, tracker->now_ns,
                                       moment->kind == HEAP_AT_PEAK, error);
    }
    const struct heap_moment end = {.kind = HEAP_AT_END};
    if (status == STEP_STATUS_OK && (options->every_ns != 0 || options->every_collection))
        status = heap_tracker_give(tracker, &end, tracker->now_ns, false, error);
    return status;
}
