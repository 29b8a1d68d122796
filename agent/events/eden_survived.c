/* SPDX-License-Identifier: Apache-2.0 */
/* Walks survivors.
 *
 * In the survivor space an object is as old as the number of collections that it has survived:
 * those of age 1 were in eden. What was moved into the old space keeps the age that it had before:
 * those of age 0 were in eden, those of other ages in the survivor space. The JVM's own fillers
 * have the age 0 everywhere. Where they have no class of their own, and where old objects may have
 * been moved as well, nothing can tell such an object of the old space from one of eden.
 *
 * A young collection leaves the old space of Serial and Parallel alone, so what was allocated there
 * has survived. A humongous array of G1 has, if its region still is one. */
#include "agent/events/eden_survived.h"

#include <stdlib.h>

#include "agent/hotspot/eden_layout.h"
#include "format/core/grow.h"

struct humongous {
    uint64_t word, bytes;
    size_t region;
};

static struct {
    struct survived_class *classes; /* by a row's `survived`, from 1 */
    size_t count, room;
    struct humongous *humongous;
    size_t humongous_count, humongous_room;
} state;

void eden_survived_begin(void)
{
    state.count = 0;
    state.humongous_count = 0;
}

/* Returns NULL if out of memory. */
static struct survived_class *class_of_row(struct eden_row *row)
{
    if (row->survived == 0) {
        if (!STEP_MAKE_ROOM(state.classes, state.room, state.count + 1))
            return NULL;
        state.classes[state.count++] = (struct survived_class){.is_unclear = false};
        row->survived = (uint32_t) state.count;
    }
    return &state.classes[row->survived - 1];
}

const struct survived_class *eden_survived_of(const struct eden_row *row)
{
    return row->survived != 0 ? &state.classes[row->survived - 1] : NULL;
}

/* ---- outside of eden ---- */

static bool add_outside(struct eden_row *row, uint64_t bytes)
{
    struct survived_class *class = class_of_row(row);
    if (class == NULL)
        return false;
    class->outside_objects++;
    class->outside_bytes += bytes;
    return true;
}

static bool take_humongous(const struct eden_piece *piece)
{
    const struct eden_row *row = eden_row_of(header_class_word(piece->span.from));
    if (row == NULL ||
        !STEP_MAKE_ROOM(state.humongous, state.humongous_room, state.humongous_count + 1))
        return false;
    state.humongous[state.humongous_count++] = (struct humongous){
        row->word, eden_object_bytes(row, piece->span.from, EDEN_HEADER_MOST), piece->region};
    return true;
}

/* The walk has found these to be objects. */
static bool take_old(const struct eden_piece *piece)
{
    for (uintptr_t at = piece->span.from; at < piece->span.to;) {
        uint64_t bytes;
        struct eden_row *row = eden_row_at(at, piece->span.to, &bytes);
        if (row == NULL || !add_outside(row, bytes))
            return false;
        at += bytes;
    }
    return true;
}

bool eden_survived_take_outside(const struct eden_piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((pieces[i].kind == EDEN_ONE && !take_humongous(&pieces[i])) ||
            (pieces[i].kind == EDEN_OLD && !take_old(&pieces[i])))
            return false;
    return true;
}

static bool add_humongous(void)
{
    for (size_t i = 0; i < state.humongous_count; i++) {
        const struct humongous *one = &state.humongous[i];
        if (eden_region_tag(one->region) != eden_layout.humongous_tag)
            continue;
        struct eden_row *row = eden_row_of(one->word);
        if (row == NULL || !add_outside(row, one->bytes))
            return false;
    }
    return true;
}

/* ---- what was moved ---- */

/* Serial closes no gaps. */
static bool may_be_filler(const struct eden_row *row)
{
    return row->fills == ROW_PERHAPS_FILLER && eden_layout.heap != EDEN_SERIAL;
}

/* Returns false if the age is wrong. */
static bool count_object(struct eden_row *row, unsigned age, uint64_t bytes, bool is_old,
                         bool is_mixed)
{
    if (row->fills == ROW_FILLER || (is_old && age != 0 && age != OBJECT_AGES))
        return true;
    if (age == OBJECT_AGES)
        return false;
    if (age == 0 && !is_old)
        return may_be_filler(row);
    struct survived_class *class = class_of_row(row);
    if (class == NULL)
        return false;
    class->objects[age]++;
    class->bytes[age] += bytes;
    class->is_unclear |= is_old && (is_mixed || may_be_filler(row));
    return true;
}

static bool count_piece(const struct survivor_piece *piece, bool is_mixed)
{
    uintptr_t at = piece->span.from, to = piece->span.to;
    while (at < to) {
        uint64_t bytes;
        struct eden_row *row = eden_row_at(at, to, &bytes);
        if (row == NULL || !count_object(row, object_age(at), bytes, piece->is_old, is_mixed))
            return false;
        at += bytes;
    }
    return true;
}

static bool piece_has_ages(const struct survivor_piece *piece)
{
    uintptr_t at = piece->span.from, to = piece->span.to;
    while (at < to) {
        uint64_t bytes;
        const struct eden_row *row = eden_row_at(at, to, &bytes);
        if (row == NULL ||
            (object_age(at) % OBJECT_AGES == 0 && row->fills != ROW_FILLER && !may_be_filler(row)))
            return false;
        at += bytes;
    }
    return true;
}

/* Classes may have been unloaded since the last walk, so what it knew of them does not count. */
bool eden_survived_have_ages(void)
{
    struct eden_survivors last;
    if (!eden_rows_clear())
        return true;
    eden_survivors_last(&last);
    for (size_t i = 0; i < last.count; i++)
        if (!last.pieces[i].is_old && !piece_has_ages(&last.pieces[i]))
            return false;
    return true;
}

/* The collector's own sums by age. */
static bool sums_agree(void)
{
    uint64_t bytes[OBJECT_AGES] = {0};
    for (size_t i = 0; i < state.count; i++)
        for (unsigned age = 1; age < OBJECT_AGES; age++)
            bytes[age] += state.classes[i].bytes[age];
    return eden_survivors_agree(bytes);
}

bool eden_survived_count(const struct eden_survivors *survivors)
{
    for (size_t i = 0; i < survivors->count; i++)
        if (!count_piece(&survivors->pieces[i], survivors->is_mixed))
            return false;
    return add_humongous() && sums_agree();
}
