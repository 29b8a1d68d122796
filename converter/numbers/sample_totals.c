/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps totals and samples by class and interval, and divides the totals among the samples. */
#include "converter/numbers/sample_totals.h"

#include <math.h>
#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/search.h"

#define WAITING_LEAST 64u /* cells: fewer are not put in order */

void sample_totals_reset(struct sample_totals *totals)
{
    for (size_t i = 0; i < totals->class_room; i++)
        free(totals->classes[i].cells);
    free(totals->classes);
    free(totals->ends_ns);
    free(totals->kinds);
    name_index_reset(&totals->names);
    *totals = (struct sample_totals){.classes = NULL};
}

/* ---- filling in ---- */

static struct totals_class *totals_class_get(struct sample_totals *totals, struct step_bytes name,
                                             uint64_t loader)
{
    bool is_new;
    uint32_t number = name_index_put(&totals->names, 0, name, &is_new);
    if (number == 0 ||
        !STEP_MAKE_ZEROED_ROOM(totals->classes, totals->class_room, (size_t) number + 1))
        return NULL;
    struct totals_class *class = &totals->classes[number];
    class->known.is_of_several |= class->is_named && class->loader != loader;
    class->is_one_size = class_has_one_size(name);
    class->loader = loader;
    class->is_named = true;
    return class;
}

/* Returns the first of the ordered cells that is not of an earlier interval. */
static size_t find_cell(const struct totals_class *class, uint32_t interval)
{
    size_t low = 0, high = class->ordered;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (class->cells[middle].interval < interval)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int compare_cells(const void *one, const void *other)
{
    uint32_t a = ((const struct totals_cell *) one)->interval;
    uint32_t b = ((const struct totals_cell *) other)->interval;
    return (a > b) - (a < b);
}

static void cell_add(struct totals_cell *to, const struct totals_cell *from)
{
    if (from->samples > 0) {
        to->least = to->samples > 0 ? fmin(to->least, from->least) : from->least;
        to->most = fmax(to->most, from->most);
    }
    to->bytes += from->bytes;
    to->objects += from->objects;
    to->samples += from->samples;
    to->seen_bytes += from->seen_bytes;
    to->beyond += from->beyond;
    to->beyond_by_size += from->beyond_by_size;
    to->beyond_bytes += from->beyond_bytes;
    to->beyond_square_bytes += from->beyond_square_bytes;
    to->square_bytes += from->square_bytes;
}

/* Orders the cells, and makes one of those of one interval, of which one at most has totals. */
static void order_cells(struct totals_class *class)
{
    size_t count = 0;
    if (class->ordered < class->count)
        qsort(class->cells, class->count, sizeof class->cells[0], compare_cells);
    for (size_t i = 0; i < class->count; i++) {
        if (count > 0 && class->cells[count - 1].interval == class->cells[i].interval)
            cell_add(&class->cells[count - 1], &class->cells[i]);
        else
            class->cells[count++] = class->cells[i];
    }
    class->count = class->ordered = count;
}

/* Returns the cell of an interval, a new one if there is none; NULL: out of memory. Totals come in
 * order, and a sample mostly has one. Other new cells wait at the end until there are as many:
 * among the others, each would have to move all later ones. */
static struct totals_cell *cell_get(struct totals_class *class, uint32_t interval)
{
    if (class->count - class->ordered > class->ordered + WAITING_LEAST)
        order_cells(class);
    size_t at = find_cell(class, interval);
    if (at < class->ordered && class->cells[at].interval == interval)
        return &class->cells[at];
    if (!STEP_MAKE_ROOM(class->cells, class->room, class->count + 1))
        return NULL;
    class->ordered += at == class->count;
    class->cells[class->count] = (struct totals_cell){.interval = interval, .factor = 1};
    return &class->cells[class->count++];
}

bool sample_totals_add_class(struct sample_totals *totals, struct step_bytes name, uint64_t loader,
                             uint32_t class_id, uint64_t objects, uint64_t bytes)
{
    struct totals_class *class = totals_class_get(totals, name, loader);
    struct totals_cell *cell =
        class != NULL ? cell_get(class, (uint32_t) totals->interval_count) : NULL;
    if (cell == NULL)
        return false;
    class->known.class_id = class_id;
    cell->objects += (double) objects;
    cell->bytes += (double) bytes;
    return true;
}

bool sample_totals_end(struct sample_totals *totals, uint64_t time_ns, enum totals_kind kind,
                       uint64_t counted)
{
    size_t need = totals->interval_count + 1;
    if (!STEP_MAKE_ROOM(totals->ends_ns, totals->end_room, need) ||
        !STEP_MAKE_ROOM(totals->kinds, totals->kind_room, need))
        return false;
    uint32_t interval = (uint32_t) totals->interval_count++;
    totals->ends_ns[interval] = time_ns;
    totals->kinds[interval] = kind;
    totals->lacks_one |= kind == TOTALS_OF_NOTHING;
    totals->has_classes |= kind == TOTALS_OF_CLASSES;
    if (kind != TOTALS_OF_NOTHING)
        totals->counted_bytes += (double) counted;
    if (kind == TOTALS_OF_PROGRAM)
        totals->unknown_bytes += (double) counted;
    return true;
}

/* Returns the interval of a time; their number: it is after the last one. */
static uint32_t interval_of(const struct sample_totals *totals, uint64_t time_ns)
{
    return (uint32_t) step_lower_bound(totals->ends_ns, totals->interval_count, time_ns);
}

static enum totals_kind kind_of(const struct sample_totals *totals, uint32_t interval)
{
    return interval < totals->interval_count ? totals->kinds[interval] : TOTALS_OF_NOTHING;
}

static double inverse_of(double size)
{
    return 1 / fmax(size, 1);
}

bool sample_totals_add_sample(struct sample_totals *totals, struct step_bytes name, uint64_t loader,
                              uint32_t class_id, uint64_t time_ns, uint64_t size_bytes,
                              uint64_t interval_bytes)
{
    struct totals_class *class = totals_class_get(totals, name, loader);
    uint32_t interval = interval_of(totals, time_ns);
    struct totals_cell *cell = class != NULL ? cell_get(class, interval) : NULL;
    if (cell == NULL)
        return false;
    class->known.class_id = class_id;
    double size = (double) size_bytes, beyond = sample_weight(size_bytes, interval_bytes) - 1;
    const struct totals_cell sample = {.samples = 1,
                                       .seen_bytes = size,
                                       .least = size,
                                       .most = size,
                                       .beyond = beyond,
                                       .beyond_by_size = beyond * inverse_of(size),
                                       .beyond_bytes = beyond * size,
                                       .beyond_square_bytes = beyond * size * size,
                                       .square_bytes = beyond * beyond * size * size};
    cell_add(cell, &sample);
    if (kind_of(totals, interval) == TOTALS_OF_PROGRAM)
        totals->unknown_by_chance += (1 + beyond) * size;
    return true;
}

/* ---- factors ---- */

/* Cells of one class that have one factor. */
struct totals_group {
    size_t from, to;
    uint64_t samples;
    double bytes, seen_bytes, beyond, beyond_bytes;
};

static void set_factor(struct totals_class *class, const struct totals_group *group)
{
    double unseen = group->bytes - group->seen_bytes;
    double factor = group->beyond_bytes <= 0 ? 1 : unseen > 0 ? unseen / group->beyond_bytes : 0;
    for (size_t i = group->from; i < group->to; i++) {
        class->cells[i].factor = factor;
        class->cells[i].middle = group->beyond_bytes > 0 ? group->beyond / group->beyond_bytes : 0;
    }
}

static void group_add(struct totals_group *group, const struct totals_group *other)
{
    group->samples += other->samples;
    group->bytes += other->bytes;
    group->seen_bytes += other->seen_bytes;
    group->beyond += other->beyond;
    group->beyond_bytes += other->beyond_bytes;
}

/* Groups the cells of intervals whose classes are known.  Groups may enclose cells of others, which
 * get their factors elsewhere.
 *
 * The JVM reports a sample when its object has been made, and a collection may lie between: then
 * the object is of the interval before the sample's.  So samples may have more bytes than their
 * group, which then goes on; if the last one has, all cells of the class are one group. */
static void find_factors(struct totals_class *class, const struct sample_totals *totals)
{
    struct totals_group group = {.from = 0}, before = {.from = 0}, all = {.to = class->count};
    for (size_t i = 0; i < class->count; i++) {
        const struct totals_cell *cell = &class->cells[i];
        group.to = i + 1;
        if (kind_of(totals, cell->interval) != TOTALS_OF_CLASSES)
            continue;
        const struct totals_group one = {.samples = cell->samples,
                                         .bytes = cell->bytes,
                                         .seen_bytes = cell->seen_bytes,
                                         .beyond = cell->beyond,
                                         .beyond_bytes = cell->beyond_bytes};
        group_add(&group, &one);
        group_add(&all, &one);
        if (group.samples < TOTALS_SAMPLES_LEAST || group.seen_bytes > group.bytes)
            continue;
        set_factor(class, &group);
        before = group;
        group = (struct totals_group){.from = group.to};
    }
    if (before.samples > 0) { /* the last ones go to those before */
        group.from = before.from;
        group_add(&group, &before);
    }
    group.to = class->count;
    set_factor(class, group.seen_bytes > group.bytes ? &all : &group);
}

#define SPREAD_LEAST 1e-6 /* of sizes: below, they count as equal */

/* What a tilt does to the samples of a class. */
struct totals_tilt {
    uint64_t samples;
    double least;          /* of their sizes */
    double objects, bytes; /* of the class */
    double missing;        /* objects without a tilt, */
    double moved;          /* with one of 1, */
    double spread;         /* and at most */
    double low, high;      /* bounds of a tilt */
};

static void tilt_add(struct totals_tilt *tilt, const struct totals_cell *cell)
{
    double above = inverse_of(cell->least) - cell->middle;
    double below = cell->middle - inverse_of(cell->most);
    tilt->objects += cell->objects;
    tilt->bytes += cell->bytes;
    tilt->missing += cell->objects - (double) cell->samples - cell->factor * cell->beyond;
    if (cell->samples == 0)
        return;
    tilt->samples += cell->samples;
    tilt->least = fmin(tilt->least, cell->least);
    tilt->moved += cell->factor * (cell->beyond_by_size - cell->middle * cell->beyond);
    tilt->spread += cell->factor * cell->beyond_by_size;
    if (above > 0) {
        tilt->low = fmax(tilt->low, -1 / above);
        tilt->high = fmin(tilt->high, (TOTALS_TILT_MOST - 1) / above);
    }
    if (below > 0) {
        tilt->low = fmax(tilt->low, (1 - TOTALS_TILT_MOST) / below);
        tilt->high = fmin(tilt->high, 1 / below);
    }
}

/* Returns the tilt that makes the samples stand for the class's number of objects, too, or for as
 * near as it can be while none stands for less than itself or for too many more.  With the factors
 * alone, small objects that are sampled too often, or that chance has given too few samples, are
 * too many, or too few; the bytes do not show it where large ones have most of them.  A tilt leaves
 * the bytes as they are, and changes most what the smallest stand for, whose number is known least.
 * If all are above the mean of the class, what is missing is smaller than any of them. */
static double tilt_of(const struct totals_class *class, const struct sample_totals *totals)
{
    struct totals_tilt tilt = {.least = INFINITY, .low = -INFINITY, .high = INFINITY};
    for (size_t i = 0; i < class->count; i++)
        if (kind_of(totals, class->cells[i].interval) == TOTALS_OF_CLASSES)
            tilt_add(&tilt, &class->cells[i]);
    bool is_unseen = tilt.missing > 0 && tilt.least * tilt.objects > tilt.bytes;
    if (tilt.samples < TOTALS_SAMPLES_LEAST || is_unseen ||
        !(tilt.moved > tilt.spread * SPREAD_LEAST))
        return 0;
    return fmin(fmax(tilt.missing / tilt.moved, tilt.low), tilt.high);
}

/* If no class is known, all samples have one scale.  If only what is beyond the samples were
 * corrected, a few large objects whose samples are missing (a thread's first one is) would count as
 * a great many small ones. */
static double scale_of_program(const struct sample_totals *totals)
{
    return totals->unknown_by_chance > 0 && totals->unknown_bytes > 0 && !totals->has_classes
               ? totals->unknown_bytes / totals->unknown_by_chance
               : 1;
}

/* Returns how much of what doubtful samples stand for may be none: as much as all samples of the
 * class may stand for too much by chance.  Their variance has room for one more sample: large
 * objects that are surely sampled have none. */
static double doubt_of(const struct totals_class *class, const struct sample_totals *totals)
{
    double interval = (double) sampling_interval(totals->sampling);
    double above = 0, variance = interval * interval;
    for (size_t i = 0; i < class->count; i++) {
        const struct totals_cell *cell = &class->cells[i];
        if (kind_of(totals, cell->interval) != TOTALS_OF_CLASSES)
            continue;
        above += cell->seen_bytes + cell->beyond_bytes - cell->bytes;
        variance += cell->beyond_square_bytes + cell->square_bytes;
    }
    above += NORMAL_975 * sqrt(variance);
    return above > 0 && class->doubted > 0 ? fmin(above / class->doubted, 1) : 0;
}

static void settle_class(struct sample_totals *totals, struct totals_class *class)
{
    struct sample_known *known = &class->known;
    order_cells(class);
    find_factors(class, totals);
    double tilt = tilt_of(class, totals);
    class->doubt = doubt_of(class, totals);
    for (size_t i = 0; i < class->count; i++) {
        struct totals_cell *cell = &class->cells[i];
        if (kind_of(totals, cell->interval) != TOTALS_OF_CLASSES) {
            cell->factor = 1;
            continue;
        }
        cell->tilt = tilt;
        known->bytes += cell->bytes;
        known->objects += cell->objects;
    }
}

static bool has_late_sample(const struct totals_class *class, const struct sample_totals *totals)
{
    return class->count > 0 &&
           class->cells[class->count - 1].interval == (uint32_t) totals->interval_count;
}

void sample_totals_settle(struct sample_totals *totals)
{
    struct sample_known *all = &totals->all;
    totals->scale = scale_of_program(totals);
    for (size_t i = 1; i <= totals->names.count && i < totals->class_room; i++) {
        settle_class(totals, &totals->classes[i]);
        totals->lacks_one |= has_late_sample(&totals->classes[i], totals);
        all->objects += totals->classes[i].known.objects;
    }
    all->bytes = totals->counted_bytes;
    all->room = totals->lacks_one ? INFINITY : totals->unknown_bytes;
    all->room_of_bytes = totals->lacks_one ? INFINITY : 0;
    for (size_t i = 1; i <= totals->names.count && i < totals->class_room; i++) {
        struct totals_class *class = &totals->classes[i];
        class->known.room = class->known.room_of_bytes = all->room;
        class->known.rest.is_one_size = class->known.rest_of_bytes.is_one_size = class->is_one_size;
    }
}

/* ---- asking ---- */

static const struct totals_class *totals_class_find(const struct sample_totals *totals,
                                                    struct step_bytes name)
{
    uint32_t number = name_index_find(&totals->names, 0, name);
    return number != 0 && number < totals->class_room ? &totals->classes[number] : NULL;
}

const struct sample_sums *sample_totals_shared(const struct sample_totals *totals)
{
    return totals->lacks_one || totals->shared.samples == 0 || totals->has_classes
               ? NULL
               : &totals->shared;
}

const struct sample_known *sample_totals_of(const struct sample_totals *totals,
                                            struct step_bytes name)
{
    const struct totals_class *class = totals_class_find(totals, name);
    return class != NULL ? &class->known : NULL;
}

double sample_totals_weight(const struct sample_totals *totals, struct step_bytes name,
                            uint64_t time_ns, uint64_t size_bytes, double chance)
{
    const struct totals_class *class = totals_class_find(totals, name);
    uint32_t interval = interval_of(totals, time_ns);
    size_t at = class != NULL ? find_cell(class, interval) : 0;
    if (class == NULL || at == class->count || class->cells[at].interval != interval)
        return chance;
    const struct totals_cell *cell = &class->cells[at];
    double tilted = fmax(1 + cell->tilt * (inverse_of((double) size_bytes) - cell->middle), 0);
    return totals->scale * (1 + (chance - 1) * cell->factor * tilted);
}

void sample_totals_doubt_sample(struct sample_totals *totals, struct step_bytes name,
                                uint64_t time_ns, uint64_t size_bytes, uint64_t interval_bytes)
{
    uint32_t number = name_index_find(&totals->names, 0, name);
    if (number == 0 || number >= totals->class_room ||
        kind_of(totals, interval_of(totals, time_ns)) != TOTALS_OF_CLASSES)
        return;
    double beyond = sample_weight(size_bytes, interval_bytes) - 1;
    totals->classes[number].doubted += beyond * (double) size_bytes;
}

struct sample_doubt sample_totals_doubt(const struct sample_totals *totals, struct step_bytes name,
                                        double weight, double chance, bool is_doubtful)
{
    const struct totals_class *class = totals_class_find(totals, name);
    if (class == NULL || !totals->sampling->is_biased || !totals->has_classes)
        return (struct sample_doubt){0, 0};
    double none = is_doubtful ? class->doubt * (weight - 1) : 0;
    return (struct sample_doubt){fmax(fmax(weight - chance, none), 0), fmax(chance - weight, 0)};
}

void sample_totals_count_sample(struct sample_totals *totals, struct step_bytes name,
                                uint64_t time_ns, uint64_t size_bytes, uint64_t interval_bytes,
                                bool is_doubtful)
{
    uint32_t number = name_index_find(&totals->names, 0, name);
    if (number == 0 || number >= totals->class_room)
        return;
    struct sample_known *known = &totals->classes[number].known, *all = &totals->all;
    enum totals_kind kind = kind_of(totals, interval_of(totals, time_ns));
    double chance = sample_weight(size_bytes, interval_bytes);
    double weight = sample_totals_weight(totals, name, time_ns, size_bytes, chance);
    struct sample_doubt doubt = sample_totals_doubt(totals, name, weight, chance, is_doubtful);
    struct sample_sums *sums[] = {&known->rest, &known->rest_of_bytes, &all->rest,
                                  kind == TOTALS_OF_NOTHING ? &all->rest_of_bytes
                                                            : &totals->shared};
    size_t count = sizeof sums / sizeof sums[0];
    if (kind == TOTALS_OF_CLASSES) {
        sums[0] = &known->all;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        sample_sums_weigh(sums[i], size_bytes, weight, totals->sampling);
        sample_sums_doubt(sums[i], size_bytes, doubt.fewer, doubt.more);
    }
}

struct sample_sums sample_sums_of_class(struct sample_sums sums, struct step_bytes name)
{
    sums.is_one_size = class_has_one_size(name);
    if (sums.sampling != NULL && sums.sampling->totals != NULL && name.length > 0)
        sums.known = sample_totals_of(sums.sampling->totals, name);
    return sums;
}
