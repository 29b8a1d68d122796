/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the objects that a selection chooses by their deaths.  Keeps each birth until the death, or
 * the end of the trace, decides. */
#include "converter/formats/input.h"

#include <inttypes.h>
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/containers/peak.h"
#include "converter/trace/collection_clock.h"
#include "format/core/grow.h"
#include "format/core/search.h"

#define BATCH ((size_t) 512)
/* The VM's death is needed because objects live until the end of the trace. */
#define OBJECT_KINDS                                                                               \
    (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE) |                      \
     TRACE_KIND_BIT(EVENT_VM_DEATH))

/* `class_id` of a kept birth stores the number of collections before it, and these flags. */
#define BORN_BEFORE_MOMENT (UINT32_C(1) << 31)
#define EXISTED (UINT32_C(1) << 30)
#define COLLECTION_MASK (EXISTED - 1)

struct choice {
    const struct event_selection *selected;
    enum time_unit unit;        /* of the trace's times */
    struct id_set *out;         /* NULL: only looks for the peak */
    struct object_table births; /* value: time; size: index of the allocation */
    struct object_table sizes;  /* used to find the peak */
    uint64_t event_count;
    uint64_t peak_event;
    struct peak peak;
    uint64_t live_bytes, live_objects;
    uint64_t alloc_count;
    struct collection_clock clock;
    uint64_t *times_ns; /* of all collections; set if the trace has exact deaths */
    size_t time_count, time_capacity;
    bool needs_times; /* found during the pass: deaths are exact, so times_ns is needed */
    uint64_t last_ns;
    bool moment_passed; /* the moment of --alive-at */
};

/* ---- moments ---- */

static bool follow_collections(struct choice *choice, const struct trace_event *event)
{
    const struct heap_moment *moment = &choice->selected->alive_at;
    struct collection over;
    while (collection_clock_ends_before(&choice->clock, event, &over))
        continue;
    if ((moment->kind == HEAP_AT_TIME && event->time_ns > moment->value) ||
        (moment->kind == HEAP_AT_COLLECTION && choice->clock.ended >= moment->value) ||
        (moment->kind == HEAP_AT_PEAK && choice->event_count >= choice->peak_event))
        choice->moment_passed = true;
    return event->kind != EVENT_OBJECT_FREE || collection_clock_put_free(&choice->clock, event);
}

static bool add_time(struct choice *choice, uint64_t time_ns)
{
    if (!STEP_MAKE_ROOM(choice->times_ns, choice->time_capacity, choice->time_count + 1))
        return false;
    choice->times_ns[choice->time_count++] = time_ns;
    return true;
}

/* Collects the times of collections first, because an exact death may refer to a later
 * collection. */
static bool note_collections(struct choice *choice, const struct trace_event *event)
{
    struct collection over;
    while (collection_clock_ends_before(&choice->clock, event, &over))
        if (!add_time(choice, over.time))
            return false;
    return event->kind != EVENT_OBJECT_FREE || collection_clock_put_free(&choice->clock, event);
}

/* The peak is the time with most live bytes, and among equals most objects. */
static bool look_for_peak(struct choice *choice, const struct trace_event *event)
{
    struct live_object object = {.object = event->object, .size = event->size};
    choice->event_count++;
    if (event->kind == EVENT_OBJECT_FREE) {
        if (object_table_take(&choice->sizes, event->object, &object)) {
            choice->live_bytes -= object.size;
            choice->live_objects--;
        }
        return true;
    }
    if (event->kind != EVENT_OBJECT_ALLOC || event->object == 0)
        return true;
    choice->live_bytes += event->size;
    choice->live_objects++;
    if (peak_passed(&choice->peak, choice->live_bytes, choice->live_objects))
        choice->peak_event = choice->event_count;
    return object_table_put(&choice->sizes, &object);
}

/* ---- objects ---- */

static bool is_temporary(struct choice *choice, const struct live_object *birth,
                         const struct trace_event *death)
{
    uint64_t before = birth->class_id & COLLECTION_MASK;
    if ((birth->class_id & EXISTED) != 0)
        return false;
    if (choice->selected->temporary_allocs != 0)
        return choice->alloc_count - birth->size < choice->selected->temporary_allocs;
    if ((death->flags & TRACE_DATED) == 0)
        return before + 1 == (collection_clock_begun(&choice->clock) & COLLECTION_MASK);
    choice->needs_times = choice->times_ns == NULL;
    uint64_t found = step_lower_bound(choice->times_ns, choice->time_count, death->collected_ns);
    return before == (found & COLLECTION_MASK);
}

/* An object alive at the end has an age instead of a lifetime.  It is selected only if the range
 * has no upper limit and the age reaches the lower one. */
static bool chosen_judge(struct choice *choice, const struct live_object *birth,
                         const struct trace_event *death)
{
    bool is_dead = death != NULL;
    uint64_t time_ns = is_dead ? death->time_ns : choice->last_ns;
    const struct event_selection *selected = choice->selected;
    const struct selected_range *range = &selected->lifetime;
    uint64_t lived = time_ns > birth->value ? time_ns - birth->value : 0;
    if (range->is_set && !(is_dead ? selected_range_has(range, lived)
                                   : lived >= range->least && range->most == UINT64_MAX))
        return true;
    if (selected->has_alive_at &&
        !((birth->class_id & BORN_BEFORE_MOMENT) != 0 && choice->moment_passed))
        return true;
    if (selected->temporary && !(is_dead && is_temporary(choice, birth, death)))
        return true;
    bool is_new;
    return id_set_add(choice->out, birth->object, &is_new);
}

static bool chosen_put_event(struct choice *choice, const struct trace_event *event)
{
    struct live_object birth = {.object = event->object, .value = event->time_ns};
    if (!follow_collections(choice, event))
        return false;
    choice->event_count++;
    choice->last_ns = event->time_ns > choice->last_ns ? event->time_ns : choice->last_ns;
    if (event->kind == EVENT_OBJECT_FREE)
        return !object_table_take(&choice->births, event->object, &birth) ||
               chosen_judge(choice, &birth, event);
    if (event->kind != EVENT_OBJECT_ALLOC)
        return true;
    birth.size = ++choice->alloc_count;
    birth.class_id = ((uint32_t) collection_clock_begun(&choice->clock) & COLLECTION_MASK) |
                     (choice->moment_passed ? 0 : BORN_BEFORE_MOMENT) |
                     ((event->flags & TRACE_EXISTING) != 0 ? EXISTED : 0);
    return object_table_put(&choice->births, &birth);
}

/* Judges objects alive at the end.  Reports a moment of --alive-at that the trace does not
 * reach. */
static enum step_status chosen_finish(struct choice *choice, const char *path,
                                      struct step_error *error)
{
    const struct heap_moment *moment = &choice->selected->alive_at;
    struct collection over;
    while (collection_clock_finish(&choice->clock, &over))
        continue;
    bool is_late = (moment->kind == HEAP_AT_COLLECTION && choice->clock.ended < moment->value) ||
                   (moment->kind == HEAP_AT_TIME && choice->last_ns < moment->value);
    if (choice->selected->has_alive_at && is_late)
        return heap_moment_missing(STEP_STATUS_NOT_FOUND, path, choice->last_ns, choice->unit,
                                   choice->clock.ended, error);
    choice->moment_passed = true;
    struct object_cursor cursor = {0};
    struct live_object birth;
    while (object_table_next(&choice->births, &cursor, &birth))
        if (!chosen_judge(choice, &birth, NULL))
            return no_memory(error);
    return STEP_STATUS_OK;
}

/* ---- passes ---- */

typedef bool (*put_function)(struct choice *choice, const struct trace_event *event);

static enum step_status chosen_go_through(struct event_source *source, put_function put,
                                          struct choice *choice, struct step_error *error)
{
    struct trace_event events[BATCH];
    size_t count;
    enum step_status status;
    while ((status = source->operations->read(source, events, BATCH, &count, error)) ==
           STEP_STATUS_OK)
        for (size_t i = 0; i < count; i++)
            if (!put(choice, &events[i]))
                return no_memory(error);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

/* Objects that are not in the trace would have a part in the choice. */
static enum step_status check_samples(const struct choice *choice,
                                      const struct event_source *source, struct step_error *error)
{
    const struct event_selection *selected = choice->selected;
    bool is_at_peak = selected->has_alive_at && selected->alive_at.kind == HEAP_AT_PEAK;
    if (event_source_sample_interval(source) == 0 || (!selected->temporary && !is_at_peak))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_CORRUPT, source->path, STEP_NO_OFFSET,
                          "it has a sample of the objects (engine=sampled), and %s needs all of "
                          "them",
                          selected->temporary ? "--temporary" : "--alive-at=peak");
}

static enum step_status chosen_pass(const char *path, const struct trace_format *format,
                                    put_function put, struct choice *choice,
                                    struct step_error *error)
{
    struct event_selection objects;
    struct event_source *source;
    event_selection_init(&objects);
    objects.kinds = OBJECT_KINDS;
    objects.untracked = true;
    objects.dtd_path = choice->selected->dtd_path;
    objects.needs_all = choice->selected->needs_all;
    enum step_status status = trace_open_events(path, format, &objects, &source, NULL, error);
    if (status != STEP_STATUS_OK)
        return status;
    choice->unit = event_source_time_unit(source);
    status = check_samples(choice, source, error);
    if (status == STEP_STATUS_OK)
        status = chosen_go_through(source, put, choice, error);
    source->operations->destroy(source);
    choice->event_count = 0;
    return status;
}

/* Repeats the pass for exact deaths, which are only known by now, after a pass over the
 * collections. */
static enum step_status pass_again(const char *path, const struct trace_format *format,
                                   struct choice *again, struct step_error *error)
{
    struct collection over;
    enum step_status status = chosen_pass(path, format, note_collections, again, error);
    bool ok = true;
    while (collection_clock_finish(&again->clock, &over))
        ok = ok && add_time(again, over.time);
    collection_clock_reset(&again->clock);
    if (status == STEP_STATUS_OK && !ok)
        status = no_memory(error);
    return status == STEP_STATUS_OK ? chosen_pass(path, format, chosen_put_event, again, error)
                                    : status;
}

/* Selects the objects, in one pass or in two. */
static enum step_status chosen_choose(const char *path, const struct trace_format *format,
                                      struct choice *choice, struct step_error *error)
{
    const struct choice first = *choice;
    enum step_status status = chosen_pass(path, format, chosen_put_event, choice, error);
    if (status != STEP_STATUS_OK || !choice->needs_times)
        return status;
    collection_clock_reset(&choice->clock);
    object_table_reset(&choice->births);
    id_set_reset(choice->out);
    *choice = first;
    return pass_again(path, format, choice, error);
}

enum step_status chosen_objects_find(const char *path, const struct trace_format *format,
                                     const struct event_selection *selected, struct id_set *out,
                                     struct step_error *error)
{
    struct choice choice = {.selected = selected, .out = out};
    enum step_status status = STEP_STATUS_OK;
    if (selected->has_alive_at && selected->alive_at.kind == HEAP_AT_PEAK)
        status = chosen_pass(path, format, look_for_peak, &choice, error);
    object_table_reset(&choice.sizes);
    if (status == STEP_STATUS_OK)
        status = chosen_choose(path, format, &choice, error);
    if (status == STEP_STATUS_OK)
        status = chosen_finish(&choice, path, error);
    object_table_reset(&choice.births);
    collection_clock_reset(&choice.clock);
    free(choice.times_ns);
    return status;
}
