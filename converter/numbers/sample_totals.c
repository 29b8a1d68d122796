/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps totals and samples by class and interval, and divides the totals among the samples. */
#include "converter/numbers/sample_totals.h"

#include <math.h>
#include <stdlib.h>

#include "format/core/grow.h"
#include "format/core/search.h"

void sample_totals_reset(struct sample_totals *totals)
{
    for (size_t i = 0; i < totals->class_room; i++)
        free(totals->classes[i].cells);
    free(totals->classes);
    free(totals->ends_ns);
    free(totals->are_walked);
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

/* Returns the cell of an interval, a new one if there is none; NULL: out of memory. Totals come in
 * order, and a sample mostly has one. Other new cells wait at the end for order_cells(): among the
 * others, each would have to move all later ones. */
static struct totals_cell *cell_get(struct totals_class *class, uint32_t interval)
{
    size_t at = find_cell(class, interval);
    if (at < class->ordered && class->cells[at].interval == interval)
        return &class->cells[at];
    if (!STEP_MAKE_ROOM(class->cells, class->room, class->count + 1))
        return NULL;
    class->ordered += at == class->count;
    class->cells[class->count] = (struct totals_cell){.interval = interval, .factor = 1};
    return &class->cells[class->count++];
}

static int compare_cells(const void *one, const void *other)
{
    uint32_t a = ((const struct totals_cell *) one)->interval;
    uint32_t b = ((const struct totals_cell *) other)->interval;
    return (a > b) - (a < b);
}

/* Orders the cells, and makes one of those of one interval, of which one at most has totals. */
static void order_cells(struct totals_class *class)
{
    size_t count = 0;
    if (class->ordered < class->count)
        qsort(class->cells, class->count, sizeof class->cells[0], compare_cells);
    for (size_t i = 0; i < class->count; i++) {
        const struct totals_cell *from = &class->cells[i];
        struct totals_cell *to = &class->cells[count];
        if (count == 0 || to[-1].interval != from->interval) {
            *to = *from;
            count++;
            continue;
        }
        to[-1].bytes += from->bytes;
        to[-1].objects += from->objects;
        to[-1].samples += from->samples;
        to[-1].seen_bytes += from->seen_bytes;
        to[-1].beyond += from->beyond;
        to[-1].beyond_bytes += from->beyond_bytes;
        to[-1].squares += from->squares;
        to[-1].square_bytes += from->square_bytes;
        to[-1].beyond_square_bytes += from->beyond_square_bytes;
    }
    class->count = class->ordered = count;
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

bool sample_totals_end(struct sample_totals *totals, uint64_t time_ns, bool is_walked,
                       uint64_t counted, uint64_t unknown)
{
    size_t need = totals->interval_count + 1;
    if (!STEP_MAKE_ROOM(totals->ends_ns, totals->end_room, need) ||
        !STEP_MAKE_ROOM(totals->are_walked, totals->walked_room, need))
        return false;
    totals->ends_ns[totals->interval_count] = time_ns;
    totals->are_walked[totals->interval_count++] = is_walked && unknown == 0;
    totals->unknown_bytes += is_walked && unknown == 0 ? 0 : (double) counted;
    totals->counted_bytes += (double) counted;
    return true;
}

/* Returns the interval of a time; their number: it is after the last one. */
static uint32_t interval_of(const struct sample_totals *totals, uint64_t time_ns)
{
    return (uint32_t) step_lower_bound(totals->ends_ns, totals->interval_count, time_ns);
}

static bool is_walked(const struct sample_totals *totals, uint32_t interval)
{
    return interval < totals->interval_count && totals->are_walked[interval];
}

bool sample_totals_add_sample(struct sample_totals *totals, struct step_bytes name, uint64_t loader,
                              uint32_t class_id, uint64_t time_ns, uint64_t size_bytes,
                              uint64_t interval_bytes)
{
    struct totals_class *class = totals_class_get(totals, name, loader);
    uint32_t interval = interval_of(totals, time_ns);
    if (class == NULL)
        return false;
    class->known.class_id = class_id;
    double chance = sample_weight(size_bytes, interval_bytes), size = (double) size_bytes;
    if (!is_walked(totals, interval)) {
        sample_sums_weigh(&class->known.rest, size_bytes, chance, totals->sampling);
        class->known.rest.is_one_size = class_has_one_size(name);
        sample_sums_weigh(interval < totals->interval_count ? &totals->unwalked : &totals->late,
                          size_bytes, chance, totals->sampling);
        return true;
    }
    struct totals_cell *cell = cell_get(class, interval);
    if (cell == NULL)
        return false;
    double beyond = chance - 1;
    cell->samples++;
    cell->seen_bytes += size;
    cell->beyond += beyond;
    cell->beyond_bytes += beyond * size;
    cell->squares += beyond * beyond;
    cell->square_bytes += beyond * beyond * size * size;
    cell->beyond_square_bytes += beyond * size * size;
    return true;
}

/* ---- factors ---- */

/* Cells of one class that have one factor. */
struct totals_group {
    size_t from, to;
    uint64_t samples;
    double bytes, seen_bytes, beyond_bytes;
};

static void set_factor(struct totals_class *class, const struct totals_group *group)
{
    double unseen = group->bytes - group->seen_bytes;
    double factor = group->beyond_bytes <= 0 ? 1 : unseen > 0 ? unseen / group->beyond_bytes : 0;
    for (size_t i = group->from; i < group->to; i++)
        class->cells[i].factor = factor;
}

static void group_add(struct totals_group *group, const struct totals_group *other)
{
    group->samples += other->samples;
    group->bytes += other->bytes;
    group->seen_bytes += other->seen_bytes;
    group->beyond_bytes += other->beyond_bytes;
}

/* Groups the cells of intervals that were walked.  Groups may enclose cells of others, which have
 * no samples here, so that their factor does not matter.
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
        if (!is_walked(totals, cell->interval))
            continue;
        const struct totals_group one = {.samples = cell->samples,
                                         .bytes = cell->bytes,
                                         .seen_bytes = cell->seen_bytes,
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

/* Adds what the samples of a cell stand for.  With the factor f, a sample's weight is 1 + f b, and
 * its variance (1 + f b) f b, where b is what its chance alone adds to it. */
static void add_cell(struct sample_known *known, const struct totals_cell *cell)
{
    double f = cell->factor;
    known->bytes += cell->bytes;
    known->objects += cell->objects;
    known->all.samples += cell->samples;
    known->all.objects += (double) cell->samples + f * cell->beyond;
    known->all.bytes += cell->seen_bytes + f * cell->beyond_bytes;
    known->all.seen_bytes += cell->seen_bytes;
    known->all.objects_variance += f * cell->beyond + f * f * cell->squares;
    known->all.bytes_variance += f * cell->beyond_square_bytes + f * f * cell->square_bytes;
}

void sample_totals_settle(struct sample_totals *totals)
{
    struct sample_known *all = &totals->all;
    bool is_late = totals->late.samples > 0; /* some objects are of no interval */
    all->room = is_late ? INFINITY : totals->unknown_bytes;
    all->room_of_bytes = is_late ? INFINITY : 0;
    for (size_t i = 1; i <= totals->names.count && i < totals->class_room; i++) {
        struct totals_class *class = &totals->classes[i];
        order_cells(class);
        find_factors(class, totals);
        for (size_t k = 0; k < class->count; k++)
            if (is_walked(totals, class->cells[k].interval))
                add_cell(&class->known, &class->cells[k]);
        class->known.rest_of_bytes = class->known.rest;
        class->known.room = class->known.room_of_bytes = all->room;
        all->objects += class->known.objects;
    }
    all->bytes = totals->counted_bytes;
    all->rest = totals->unwalked;
    sample_sums_merge(&all->rest, &totals->late);
    all->rest_of_bytes = totals->late;
}

/* ---- asking ---- */

static const struct totals_class *totals_class_find(const struct sample_totals *totals,
                                                    struct step_bytes name)
{
    uint32_t number = name_index_find(&totals->names, 0, name);
    return number != 0 && number < totals->class_room ? &totals->classes[number] : NULL;
}

const struct sample_known *sample_totals_of(const struct sample_totals *totals,
                                            struct step_bytes name)
{
    const struct totals_class *class = totals_class_find(totals, name);
    return class != NULL ? &class->known : NULL;
}

double sample_totals_weight(const struct sample_totals *totals, struct step_bytes name,
                            uint64_t time_ns, double chance)
{
    const struct totals_class *class = totals_class_find(totals, name);
    uint32_t interval = interval_of(totals, time_ns);
    size_t at = class != NULL ? find_cell(class, interval) : 0;
    if (class == NULL || !is_walked(totals, interval) || at == class->count ||
        class->cells[at].interval != interval)
        return chance;
    return 1 + (chance - 1) * class->cells[at].factor;
}

struct sample_sums sample_sums_of_class(struct sample_sums sums, struct step_bytes name)
{
    sums.is_one_size = class_has_one_size(name);
    if (sums.sampling != NULL && sums.sampling->totals != NULL && name.length > 0)
        sums.known = sample_totals_of(sums.sampling->totals, name);
    return sums;
}
