/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects a young generation, and the whole heap.
 *
 * A collection computes what lives of each cohort, moves the cohorts to their next age, and decides
 * at which age the next one promotes, as HotSpot's Serial does (docs/simulate.md names the
 * parameters). Objects are never looked at.  Where the collector's choice would depend on the order
 * of references or addresses, as when survivors do not fit, the model takes the same part of each
 * cohort (`share`).
 */
#include "analyses/simulate/simulation.h"

#include <math.h>
#include <stdlib.h>

#include "format/core/grow.h"

static bool generations_append(struct segments *segments)
{
    if (segments->count == UINT32_MAX ||
        !STEP_MAKE_ROOM(segments->items, segments->capacity, (size_t) segments->count + 1))
        return false;
    segments->items[segments->count++] = (struct segment){.living = 0};
    segments->is_last_used = false;
    return true;
}

bool segments_init(struct segments *segments)
{
    *segments = (struct segments){.items = NULL};
    bool ok = generations_append(segments);
    return generations_append(segments) && ok;
}

void segments_reset(struct segments *segments)
{
    object_table_reset(&segments->births);
    free(segments->items);
    *segments = (struct segments){.items = NULL};
}

bool segments_begin(struct segments *segments)
{
    return !segments->is_last_used || generations_append(segments);
}

/* An object that is born again without having died replaces the one before: frees may be
 * missing. */
static bool put_into(struct segments *segments, uint32_t number, uint64_t object, uint64_t size)
{
    segments_take(segments, object);
    segments->items[number].living += size;
    segments->living += size;
    return object_table_put(&segments->births,
                            &(struct live_object){.object = object, .value = number, .size = size});
}

bool segments_put(struct segments *segments, uint64_t object, uint64_t size)
{
    segments->is_last_used = true;
    return put_into(segments, segments->count - 1, object, size);
}

bool segments_put_existing(struct segments *segments, uint64_t object, uint64_t size)
{
    return put_into(segments, 0, object, size);
}

bool segments_put_large(struct segments *segments, uint64_t object, uint64_t size)
{
    if (!segments_begin(segments))
        return false;
    segments->items[segments->count - 1].large = size;
    return segments_put(segments, object, size) && segments_begin(segments);
}

bool segments_take(struct segments *segments, uint64_t object)
{
    struct live_object birth;
    if (!object_table_take(&segments->births, object, &birth))
        return false;
    segments->items[birth.value].living -= birth.size;
    segments->living -= birth.size;
    return true;
}

/* Returns the living bytes of the segments from `first` up to, not including, `end`, without those
 * of objects larger than `largest`. */
static uint64_t segments_living(const struct segments *segments, uint32_t first, uint32_t end,
                                uint64_t largest)
{
    uint64_t living = 0;
    for (uint32_t i = first; i < end; i++)
        if (segments->items[i].large <= largest)
            living += segments->items[i].living;
    return living;
}

#define FULL_MOST 65536u    /* a heap with more full collections is too small */
#define PROMOTED_WEIGHT 10u /* per cent: of the last one, in what the JVM expects of the next */
#define PROMOTED_PADDING 3  /* deviations above the mean */
#define FREE_LEAST 10000u   /* bytes of the old generation that a young collection leaves free */
/* A full collection leaves dead objects at the bottom of the old generation where they are, up to a
 * part of it (MarkSweepDeadRatio), but for each fourth one (MarkSweepAlwaysCompactCount). */
#define DEAD_PARTS 20u
#define COMPACT_EACH 4u

/* One collection, while it goes on. */
struct young_collection {
    uint64_t living[AGE_MOST + 1]; /* bytes in the young generation, by age */
    uint64_t staying;              /* bytes that should go to the other survivor space */
};

struct young_spaces young_spaces_of(uint64_t young, const struct generation_options *options)
{
    uint64_t part = young / (options->survivor_ratio + 2);
    uint64_t survivor = part > SPACE_ALIGNMENT ? part - part % SPACE_ALIGNMENT : SPACE_ALIGNMENT;
    return (struct young_spaces){young - young % SPACE_ALIGNMENT - 2 * survivor, survivor};
}

void generations_init(struct generations *model, uint64_t young,
                      const struct generation_options *options)
{
    struct young_spaces spaces = young_spaces_of(young, options);
    *model = (struct generations){.options = options,
                                  .young = young,
                                  .eden = spaces.eden,
                                  .survivor = spaces.survivor,
                                  .largest = spaces.eden,
                                  .full_at = spaces.eden,
                                  .threshold = (unsigned) options->max_tenuring};
    model->ages[0] = (struct cohort){.first = 1, .end = 1, .share = 1};
}

void generations_init_whole(struct generations *model, uint64_t heap, uint64_t capacity)
{
    *model = (struct generations){
        .heap = heap, .eden = capacity, .full_at = capacity, .largest = UINT64_MAX};
}

static uint64_t rounded_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void generations_init_regions(struct generations *model, uint64_t young,
                              const struct generation_options *options)
{
    generations_init(model, young, options);
    model->region = options->region;
    model->largest = options->region / 2;
    model->eden = young - young % options->region;
    model->full_at = model->eden;
    model->survivor = rounded_up(
        (model->eden + options->survivor_ratio - 1) / options->survivor_ratio, options->region);
}

/* Returns the size of eden until the next collection: at least one region. */
static uint64_t next_eden(const struct generations *model)
{
    if (model->region == 0)
        return model->eden;
    uint64_t all = model->young - model->young % model->region;
    uint64_t survivors = rounded_up(model->in_from, model->region);
    return survivors < all ? all - survivors : model->region;
}

void generations_put_old(struct generations *model, uint64_t size)
{
    if (model->is_too_small)
        return;
    model->old += size;
    model->full_at += size;
}

static uint64_t living_of(const struct generations *model, const struct cohort *cohort,
                          const struct segments *segments)
{
    if (cohort->share <= 0)
        return 0;
    uint64_t living = segments_living(segments, cohort->first, cohort->end, model->largest);
    return cohort->share >= 1 ? living : (uint64_t) (cohort->share * (double) living);
}

static void note_occupied(struct generations *model, uint64_t position)
{
    uint64_t in_eden = model->eden - (model->full_at - position);
    uint64_t occupied = in_eden + model->in_from + model->old;
    if (occupied > model->peak)
        model->peak = occupied;
}

static void promote(struct generations *model, uint64_t bytes)
{
    model->promoted += bytes;
    model->old += bytes;
}

/* Moves each cohort to its next age, from the oldest to the youngest, as each takes the place of
 * the one above it.  What does not fit is promoted: the same part of each cohort, since which
 * objects come last depends on the order of the references. */
static void age_cohorts(struct generations *model, struct young_collection *collection)
{
    double fits = 1;
    if (collection->staying > model->survivor) {
        fits = (double) model->survivor / (double) collection->staying;
        model->overflows++;
    }
    model->in_from = 0;
    for (unsigned age = AGE_MOST; age > 0; age--) {
        struct cohort *cohort = &model->ages[age];
        uint64_t living = collection->living[age - 1];
        *cohort = model->ages[age - 1];
        if (age > model->threshold) {
            cohort->share = 0;
            collection->living[age] = 0;
            continue;
        }
        uint64_t staying = fits < 1 ? (uint64_t) (fits * (double) living) : living;
        cohort->share *= fits;
        promote(model, living - staying);
        model->copied += staying;
        model->in_from += staying;
        collection->living[age] = staying;
    }
    collection->living[0] = 0;
}

/* Chooses the age at which the next collection promotes: the least at which the survivors up to
 * that age take more than their part of the survivor space (TargetSurvivorRatio). So the space is
 * not filled up, and the next survivors find room in it. */
static unsigned next_threshold(const struct generations *model,
                               const struct young_collection *collection)
{
    uint64_t desired =
        (uint64_t) ((double) model->survivor * (double) model->options->target_survivor / 100);
    uint64_t total = 0;
    unsigned age = 1;
    for (; age < model->options->max_tenuring; age++) {
        total += collection->living[age];
        if (total > desired)
            break;
    }
    return age < model->options->max_tenuring ? age : (unsigned) model->options->max_tenuring;
}

/* ---- the whole heap ---- */

static uint64_t old_capacity(const struct generations *model)
{
    return model->heap - model->young;
}

bool generations_is_old_full(const struct generations *model, uint64_t size)
{
    return model->heap != 0 && !model->is_too_small &&
           (model->old > old_capacity(model) || size > old_capacity(model) - model->old);
}

static void generations_give_up(struct generations *model, uint64_t position)
{
    model->is_too_small = true;
    model->failed_at = position;
    model->full_at = UINT64_MAX;
}

/* What lives stays, moved together or copied to the other half, and the rest of the space is free:
 * the next collection is that many births away.  If the object has no room even so, the heap is too
 * small. */
void generations_collect_whole(struct generations *model, const struct segments *segments,
                               uint64_t position, uint64_t size)
{
    uint64_t living = segments->living;
    note_occupied(model, position);
    model->collections++;
    model->marked += living;
    if (living > model->eden || size > model->eden - living)
        generations_give_up(model, position);
    else
        model->full_at = position + (model->eden - living);
}

static uint64_t living_young(const struct generations *model, const struct segments *segments)
{
    uint64_t living = 0;
    for (unsigned age = 0; age <= AGE_MOST; age++)
        living += living_of(model, &model->ages[age], segments);
    return living;
}

/* The old generation's dead are not known one by one: what lives in it is all that lives, less what
 * lives in the young generation. */
static uint64_t dead_old(const struct generations *model, const struct segments *segments)
{
    uint64_t young = living_young(model, segments);
    uint64_t living_old = segments->living > young ? segments->living - young : 0;
    return model->old > living_old ? model->old - living_old : 0;
}

/* Returns how much of what is dead in the old generation stays there. */
static uint64_t left_dead(const struct generations *model, const struct segments *segments)
{
    uint64_t dead = dead_old(model, segments), most = old_capacity(model) / DEAD_PARTS;
    if (model->full % COMPACT_EACH == 0)
        return 0;
    return dead < most ? dead : most;
}

/*
 * Moves what lives together: into the old generation, and what does not fit there into eden, as a
 * cohort of age 1. Which objects these are depends on the order of their addresses: the model takes
 * the same part of each cohort.
 *
 * All cohorts become one, as survivor spaces are empty afterwards.  `is_crowded` remembers that
 * something was left in eden: Serial then collects the whole heap again the next time.
 */
static void collect_all(struct generations *model, const struct segments *segments,
                        uint64_t position, bool compacts_all)
{
    uint32_t now = segments->count - 1;
    uint64_t living = segments->living, capacity = old_capacity(model);
    note_occupied(model, position);
    model->ages[0].end = now;
    model->full++;
    model->marked += living;
    uint64_t dead = compacts_all ? 0 : left_dead(model, segments);
    uint64_t in_eden = living + dead > capacity ? living + dead - capacity : 0;
    model->old = living + dead - in_eden;
    model->in_from = 0;
    for (unsigned age = 0; age <= AGE_MOST; age++)
        model->ages[age].share = 0;
    model->ages[0] = (struct cohort){.first = now, .end = now, .share = 1};
    model->ages[1] = (struct cohort){
        .first = 1, .end = now, .share = living > 0 ? (double) in_eden / (double) living : 0};
    model->is_crowded = in_eden > 0;
    model->full_at = position + (in_eden < model->eden ? model->eden - in_eden : 0);
    if ((in_eden > model->eden && compacts_all) || model->full > FULL_MOST)
        generations_give_up(model, position);
}

void generations_collect_old(struct generations *model, const struct segments *segments,
                             uint64_t position, uint64_t size)
{
    collect_all(model, segments, position, true);
    if (generations_is_old_full(model, size))
        generations_give_up(model, position);
}

/* Serial collects the young generation alone if the old one has room for all of it, or for as much
 * as it expects by the collections before.  The expectation is the padded average of HotSpot: the
 * mean plus three deviations, so that it is rarely too low. */
static bool is_promotion_safe(const struct generations *model, uint64_t position)
{
    if (model->heap == 0)
        return true;
    uint64_t in_young = model->eden - (model->full_at - position) + model->in_from;
    uint64_t capacity = old_capacity(model);
    uint64_t room = model->old < capacity ? capacity - model->old : 0;
    double expected = model->promoted_mean + PROMOTED_PADDING * model->promoted_deviation;
    return room >= in_young || (double) room >= expected;
}

static void expect_promotion(struct generations *model, uint64_t promoted)
{
    unsigned weight = PROMOTED_WEIGHT; /* of the first ones, a plain mean */
    model->expectations++;
    if (model->expectations < 100 / PROMOTED_WEIGHT)
        weight = 100 / (unsigned) model->expectations;
    double part = weight / 100.0;
    model->promoted_mean += part * ((double) promoted - model->promoted_mean);
    double distance = fabs((double) promoted - model->promoted_mean);
    if (promoted > 0)
        model->promoted_deviation += part * (distance - model->promoted_deviation);
}

/* ---- the young generation ---- */

static void collect_young(struct generations *model, const struct segments *segments,
                          uint64_t position)
{
    uint64_t promoted = model->promoted;
    struct young_collection collection = {.staying = 0};
    uint32_t now = segments->count - 1;
    note_occupied(model, position);
    model->ages[0].end = now;
    for (unsigned age = 0; age <= AGE_MOST; age++) {
        collection.living[age] = living_of(model, &model->ages[age], segments);
        if (age < model->threshold)
            collection.staying += collection.living[age];
        else
            promote(model, collection.living[age]);
    }
    model->survived += collection.living[0];
    model->collections++;
    age_cohorts(model, &collection);
    model->threshold = next_threshold(model, &collection);
    model->ages[0] = (struct cohort){.first = now, .end = now, .share = 1};
    model->eden = next_eden(model);
    model->full_at = position + model->eden;
    expect_promotion(model, model->promoted - promoted);
}

/* In a crowded heap, each collection is one of all; the young one comes before it if it can. */
static void collect_crowded(struct generations *model, const struct segments *segments,
                            uint64_t position)
{
    if (is_promotion_safe(model, position))
        collect_young(model, segments, position);
    collect_all(model, segments, position, false);
}

static void collect_for_eden(struct generations *model, const struct segments *segments,
                             uint64_t position)
{
    if (!is_promotion_safe(model, position)) {
        expect_promotion(model, 0);
        collect_all(model, segments, position, false);
        return;
    }
    collect_young(model, segments, position);
    if (generations_is_old_full(model, FREE_LEAST))
        collect_all(model, segments, position, false);
}

/* A collection may not make enough room: then the whole heap is collected without leaving anything
 * dead, and only if that does not help either, the heap is too small. */
void generations_collect(struct generations *model, const struct segments *segments,
                         uint64_t position, uint64_t size)
{
    if (model->is_too_small)
        return;
    if (model->is_crowded)
        collect_crowded(model, segments, position);
    else
        collect_for_eden(model, segments, position);
    if (!model->is_too_small && position + size > model->full_at)
        collect_all(model, segments, position, true);
    if (!model->is_too_small && position + size > model->full_at)
        generations_give_up(model, position);
}

void generations_finish(struct generations *model, const struct segments *segments,
                        uint64_t position)
{
    if (model->is_too_small)
        return;
    note_occupied(model, position);
    model->ages[0].end = segments->count;
    model->dead_old = dead_old(model, segments);
}
