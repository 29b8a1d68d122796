/* SPDX-License-Identifier: Apache-2.0 */
/* Replays allocations and deaths against all models at once. */
#include "analyses/simulate/simulation.h"

#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"

#define ITEM_ROOM 64u
#define SIZE_MOST (UINT64_C(1) << 50)

static bool simulation_add(struct size_list *list, uint64_t size, const char **fault)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->sizes[i] == size)
            return true;
    *fault = "at most 64 sizes are possible";
    if (list->count == SIZE_LIST_MOST)
        return false;
    size_t place = list->count++;
    for (; place > 0 && list->sizes[place - 1] > size; place--)
        list->sizes[place] = list->sizes[place - 1];
    list->sizes[place] = size;
    return true;
}

static bool add_range(struct size_list *list, uint64_t first, uint64_t last, const char **fault)
{
    uint64_t size = first;
    for (; size < last; size *= 2)
        if (!simulation_add(list, size, fault))
            return false;
    return simulation_add(list, last, fault);
}

/* `item` is a size, or a range of sizes. */
static bool add_item(struct size_list *list, char *item, const char **fault)
{
    uint64_t first;
    uint64_t last;
    char *dots = strstr(item, "..");
    if (dots != NULL)
        *dots = '\0';
    if (!take_size(&first, item, fault))
        return false;
    last = first;
    if (dots != NULL && !take_size(&last, dots + 2, fault))
        return false;
    *fault = "sizes are expected, as 4m,6m or 4m..512m";
    return first > 0 && first <= last && last <= SIZE_MOST && add_range(list, first, last, fault);
}

bool take_size_list(void *list_target, const char *value, const char **fault)
{
    struct size_list *list = list_target;
    for (const char *at = value;; at++) {
        char item[ITEM_ROOM];
        size_t length = strcspn(at, ",");
        *fault = "sizes are expected, as 4m,6m or 4m..512m";
        if (length >= sizeof item)
            return false;
        memcpy(item, at, length);
        item[length] = '\0';
        if (!add_item(list, item, fault))
            return false;
        at += length;
        if (*at == '\0')
            return true;
    }
}

#define GENERATIONS 3 /* the heap in young generations: NewRatio 2 */

static void divide(struct least_heap *least)
{
    uint64_t third = least->heap / GENERATIONS;
    uint64_t young = least->young != 0 ? least->young : third - third % SPACE_ALIGNMENT;
    least->in = young_spaces_of(young, least->options);
    least->old = least->heap - young;
}

void least_heap_init(struct least_heap *least, uint64_t young,
                     const struct generation_options *options)
{
    uint64_t least_bytes = young + SPACE_ALIGNMENT;
    *least = (struct least_heap){.options = options, .young = young};
    least->heap = (least_bytes + HEAP_ALIGNMENT - 1) / HEAP_ALIGNMENT * HEAP_ALIGNMENT;
    divide(least);
}

/* After a collection of the whole heap, what lives, the new object included, is in the old
 * generation as far as it fits.  If not all fits, the rest and the new object are in eden, where
 * the object needs room in one piece. */
static bool simulation_fits(const struct least_heap *least, uint64_t living, uint64_t size)
{
    return living <= least->old ||
           (size <= least->in.eden && living <= least->old + least->in.eden);
}

static void set_heap(struct least_heap *least, uint64_t units)
{
    least->heap = units * HEAP_ALIGNMENT;
    divide(least);
}

/* Finds the least heap in which the object has room, by doubling and halving in units of the heap's
 * alignment.  Halving needs that a heap which is large enough stays so when it grows: a larger heap
 * has a larger old generation, and an eden that is not smaller (a survivor space gets a third of
 * what the young generation gets, or less). So the number of steps is that of the bits of a size,
 * not the size.  The heap never shrinks from one call to the next. */
void least_heap_put(struct least_heap *least, uint64_t living, uint64_t size)
{
    if (simulation_fits(least, living, size))
        return;
    uint64_t too_small = least->heap / HEAP_ALIGNMENT, enough = too_small;
    while (!simulation_fits(least, living, size)) {
        too_small = enough;
        enough *= 2;
        set_heap(least, enough);
    }
    while (enough - too_small > 1) {
        uint64_t middle = too_small + (enough - too_small) / 2;
        set_heap(least, middle);
        if (simulation_fits(least, living, size))
            enough = middle;
        else
            too_small = middle;
    }
    set_heap(least, enough);
}

#define YOUNG_LAST (UINT64_C(512) << 20)
#define POSITION_MOST (UINT64_C(1) << 62)

/* ---- the position at which the next collection happens ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void find_nearest(struct simulation *simulation)
{
    simulation->nearest_full = UINT64_MAX;
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
        for (size_t i = 0; i < simulation->lists[kind].count; i++)
            simulation->nearest_full =
                least(simulation->nearest_full, simulation->lists[kind].items[i].full_at);
}

/* ---- life ---- */

void simulation_options_add_young(struct simulation_options *options, uint64_t first)
{
    for (uint64_t size = first; size <= YOUNG_LAST; size *= 2)
        options->young.sizes[options->young.count++] = size;
}

static void init_list(struct simulation *simulation, enum model_kind kind,
                      const struct size_list *sizes)
{
    struct model_list *list = &simulation->lists[kind];
    list->count = sizes->count;
    for (size_t i = 0; i < list->count; i++) {
        struct generations *model = &list->items[i];
        uint64_t size = sizes->sizes[i];
        if (kind == MODEL_YOUNG)
            generations_init(model, size, &simulation->options);
        else if (kind == MODEL_REGIONS)
            generations_init_regions(model, size, &simulation->options);
        else
            generations_init_whole(model, size, kind == MODEL_SEMI_SPACE ? size / 2 : size);
        simulation->largest = least(simulation->largest, model->largest);
    }
}

size_t simulation_options_heaps(const struct simulation_options *options)
{
    size_t count = 0;
    for (size_t i = 0; i < options->young.count; i++)
        for (size_t j = 0; j < options->heap.count; j++)
            count += options->heap.sizes[j] > options->young.sizes[i];
    return count;
}

/* Instead of each young generation, it with each larger heap. */
static void init_limited(struct simulation *simulation, const struct simulation_options *options)
{
    struct model_list *list = &simulation->lists[MODEL_YOUNG];
    if (options->heap.count == 0)
        return;
    list->count = 0;
    for (size_t i = 0; i < options->young.count; i++)
        for (size_t j = 0; j < options->heap.count && list->count < SIZE_LIST_MOST; j++) {
            if (options->heap.sizes[j] <= options->young.sizes[i])
                continue;
            struct generations *model = &list->items[list->count++];
            generations_init(model, options->young.sizes[i], &simulation->options);
            model->heap = options->heap.sizes[j];
        }
}

static void init_least(struct simulation *simulation, const struct simulation_options *options)
{
    least_heap_init(&simulation->least, 0, &simulation->options);
    simulation->least_count = options->heap.count == 0 ? options->young.count : 0;
    for (size_t i = 0; i < simulation->least_count; i++)
        least_heap_init(&simulation->least_of_young[i], options->young.sizes[i],
                        &simulation->options);
}

bool simulation_init(struct simulation *simulation, const struct simulation_options *options)
{
    *simulation = (struct simulation){.options = options->generations,
                                      .existing_is_old = options->existing_is_old,
                                      .largest = UINT64_MAX};
    init_list(simulation, MODEL_YOUNG, &options->young);
    init_list(simulation, MODEL_REGIONS, &options->regions);
    init_list(simulation, MODEL_SEMI_SPACE, &options->semi_space);
    init_list(simulation, MODEL_MARK_COMPACT, &options->mark_compact);
    init_limited(simulation, options);
    init_least(simulation, options);
    find_nearest(simulation);
    return segments_init(&simulation->segments);
}

void simulation_reset(struct simulation *simulation)
{
    segments_reset(&simulation->segments);
}

/* ---- births ---- */

/* Makes room for an object in a model.  Returns false if out of memory. */
/* A model of one space collects when it is full.  Of two generations, an object that is born old
 * asks for room in the old one, and any other for room in eden.  The segment begins before the
 * collection, so that the object which causes it is not part of what is collected. */
static bool simulation_collect(struct simulation *simulation, struct generations *model,
                               uint64_t size, bool is_existing)
{
    struct segments *segments = &simulation->segments;
    bool is_full = simulation->position + size > model->full_at;
    bool is_old = is_existing || size > model->largest;
    if (model->young == 0) {
        if (is_full)
            generations_collect_whole(model, segments, simulation->position, size);
        return true;
    }
    if (is_old ? generations_is_old_full(model, size) : is_full) {
        if (!segments_begin(segments))
            return false;
        if (is_old)
            generations_collect_old(model, segments, simulation->position, size);
        else
            generations_collect(model, segments, simulation->position, size);
    }
    if (is_old)
        generations_put_old(model, size);
    return true;
}

/* The same in all models that have none. */
static bool simulation_make_room(struct simulation *simulation, uint64_t size, bool is_existing)
{
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
        for (size_t i = 0; i < simulation->lists[kind].count; i++)
            if (!simulation_collect(simulation, &simulation->lists[kind].items[i], size,
                                    is_existing))
                return false;
    find_nearest(simulation);
    return true;
}

static void simulation_count_birth(struct simulation *simulation, const struct trace_event *event)
{
    if ((event->flags & TRACE_EXISTING) != 0) {
        simulation->existing += event->size;
    } else {
        simulation->objects++;
        simulation->allocated += event->size;
    }
}

/* Returns whether the object is in the old generation from the beginning.  Most of what existed
 * when the VM was ready had just been allocated by it, unless it came out of an archive.  What
 * existed when tracing began later has survived for some time. */
static bool is_old(const struct simulation *simulation, const struct trace_event *event)
{
    return (event->flags & TRACE_EXISTING) != 0 &&
           (simulation->existing_is_old || !simulation->has_init ||
            event->time_ns != simulation->init_ns);
}

/* The most that lives at one time decides, and objects that do not fit into every eden.  Other
 * births cannot ask for more than an earlier one did, so nearly all are passed over by one
 * comparison. */
static void put_living(struct simulation *simulation, uint64_t size)
{
    uint64_t living = simulation->segments.living;
    if (living <= simulation->peak_living && size <= SPACE_ALIGNMENT)
        return;
    if (living > simulation->peak_living)
        simulation->peak_living = living;
    least_heap_put(&simulation->least, living, size);
    for (size_t i = 0; i < simulation->least_count; i++)
        least_heap_put(&simulation->least_of_young[i], living, size);
}

/* Most births change nothing but two sums: the nearest position at which any model collects
 * (`nearest_full`) is not reached yet.  An object too large for some eden gets a segment of its
 * own, so that each model can take it as its eden's or as the old generation's. */
static bool simulation_put_birth(struct simulation *simulation, const struct trace_event *event)
{
    struct segments *segments = &simulation->segments;
    uint64_t size = event->size;
    bool is_existing = is_old(simulation, event);
    bool is_large = size > simulation->largest;
    bool ok = true;
    if (is_existing || is_large || simulation->position + size > simulation->nearest_full)
        ok = simulation_make_room(simulation, size, is_existing);
    if (!ok)
        return false;
    simulation->position += size;
    simulation_count_birth(simulation, event);
    if (is_existing)
        ok = segments_put_existing(segments, event->object, size);
    else if (is_large)
        ok = segments_put_large(segments, event->object, size);
    else
        ok = segments_put(segments, event->object, size);
    put_living(simulation, size);
    return ok;
}

/* ---- all ---- */

enum step_status simulation_put(void *simulation_pointer, const struct trace_event *events,
                                size_t count, struct step_error *error)
{
    struct simulation *simulation = simulation_pointer;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == EVENT_OBJECT_FREE) {
            death_dates_put(&simulation->deaths, &events[i]);
            if (!segments_take(&simulation->segments, events[i].object))
                simulation->unknown_frees++;
        } else if (events[i].kind == EVENT_OBJECT_ALLOC) {
            if (events[i].size > POSITION_MOST - simulation->position)
                return step_error_set(error, STEP_STATUS_CORRUPT, simulation->path, STEP_NO_OFFSET,
                                      "the sizes of the objects add up to more than 2^62");
            if (!simulation_put_birth(simulation, &events[i]))
                return no_memory(error);
        } else if (events[i].kind == EVENT_VM_INIT) {
            simulation->has_init = true;
            simulation->init_ns = events[i].time_ns;
        }
    }
    return STEP_STATUS_OK;
}

void simulation_finish(struct simulation *simulation)
{
    for (unsigned kind = 0; kind < MODEL_KINDS; kind++)
        for (size_t i = 0; i < simulation->lists[kind].count; i++)
            generations_finish(&simulation->lists[kind].items[i], &simulation->segments,
                               simulation->position);
}

enum simulation_precision simulation_precision(const struct simulation *simulation)
{
    const struct death_dates *deaths = &simulation->deaths;
    if (simulation->frees_are_exact)
        return SIMULATION_EXACT;
    if (!death_dates_are_exact(deaths))
        return deaths->freed > 0 ? SIMULATION_DELAYED : SIMULATION_NONE;
    return deaths->bound + deaths->by_collection + deaths->freed == 0 ? SIMULATION_EXACT
                                                                      : SIMULATION_DATED;
}

bool simulation_is_coarse(const struct simulation *simulation, const struct generations *model)
{
    return simulation_precision(simulation) != SIMULATION_EXACT &&
           (simulation->collect == 0 || simulation->collect > model->eden);
}

const struct least_heap *simulation_least_heap(const struct simulation *simulation,
                                               const struct generations *model)
{
    if (model->region != 0 || model->heap != 0)
        return NULL;
    return &simulation->least_of_young[model - simulation->lists[MODEL_YOUNG].items];
}
