/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the spaces before and after a pause.
 *
 * A young collection copies what lives into the other survivor space (Serial, Parallel) or into new
 * regions (G1), and what is old enough, or has no room there, behind the last object of the old
 * space or into old regions. Whatever else a pause can be shows: the JVM counts young and full
 * collections; where an object could not be moved, a young space is not empty, or a region that was
 * young is an old one.
 *
 * G1 may move objects of old regions as well. Then some old region is gone; or, if there was no
 * room for them, no free region was left. */
#include "agent/hotspot/eden_survivors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/java_versions.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/vm_structs.h"
#include "format/core/grow.h"

/* What a region was when the pause began. */
struct region_before {
    int64_t tag; /* -1: there was none */
    uintptr_t top;
};

static struct {
    const volatile int64_t *young, *full;      /* the JVM's counters of collections */
    const volatile int64_t *ages[OBJECT_AGES]; /* of bytes; NULL: this collector has none */
    int64_t young_before, full_before;
    bool is_dated;
    uintptr_t from, eden_top, old_top; /* Serial and Parallel: when the pause began */
    struct region_before *regions;     /* G1 */
    size_t region_count;
    struct survivor_piece *pieces;
    size_t piece_count, piece_room;
} state;

void eden_survivors_use(const volatile int64_t *young, const volatile int64_t *full)
{
    state.young = young;
    state.full = full;
}

const char *eden_survivors_find(void)
{
    eden_survivors_use(vm_counter("sun.gc.collector.0.invocations"),
                       vm_counter("sun.gc.collector.1.invocations"));
    for (unsigned age = 1; age < OBJECT_AGES; age++) {
        char name[64];
        snprintf(name, sizeof name, "sun.gc.generation.0.agetable.bytes.%02u", age);
        state.ages[age] = vm_counter(name);
    }
    if (state.young == NULL || state.full == NULL)
        return "the JVM does not count its collections (-XX:-UsePerfData)";
    return NULL;
}

void eden_survivors_begin(void)
{
    state.is_dated = false;
    state.piece_count = 0;
}

bool eden_survivors_are_dated(void)
{
    return state.is_dated;
}

static bool add_survivors(uintptr_t from, uintptr_t to, bool is_old)
{
    if (from >= to)
        return true;
    if (!STEP_MAKE_ROOM(state.pieces, state.piece_room, state.piece_count + 1))
        return false;
    state.pieces[state.piece_count++] = (struct survivor_piece){{from, to}, is_old};
    return true;
}

/* ---- Serial and Parallel ---- */

static uintptr_t top_of(uintptr_t space)
{
    return vm_word(space, eden_layout.space_top);
}

static bool is_empty(uintptr_t space)
{
    return top_of(space) == vm_word(space, eden_layout.space_bottom);
}

static void spaces_before(void)
{
    state.from = eden_space_at(SPACE_FROM);
    state.eden_top = top_of(eden_space_at(SPACE_EDEN));
    state.old_top = top_of(eden_space_at(SPACE_OLD));
}

/* Before JVMs announced each collection on its own, the pause ended with the allocation that caused
 * it, in eden if there was room. If there was none, memory at the end of another space may have no
 * object yet. */
static bool list_spaces_after(void)
{
    uintptr_t eden = eden_space_at(SPACE_EDEN), from = eden_space_at(SPACE_FROM);
    uintptr_t old_top = top_of(eden_space_at(SPACE_OLD));
    if (from == state.from || !is_empty(state.from) || old_top < state.old_top)
        return false;
    if (is_empty(eden) ? tracer.java_major < JAVA_ANNOUNCES_ALL : top_of(eden) >= state.eden_top)
        return false;
    return add_survivors(vm_word(from, eden_layout.space_bottom), top_of(from), false) &&
           add_survivors(state.old_top, old_top, true);
}

/* ---- G1 ---- */

static bool regions_before(void)
{
    size_t count = eden_region_count();
    if (state.region_count != count) {
        free(state.regions);
        state.regions = calloc(count, sizeof *state.regions);
        state.region_count = state.regions != NULL ? count : 0;
    }
    for (size_t i = 0; i < state.region_count; i++) {
        int64_t tag = eden_region_tag(i);
        state.regions[i] = (struct region_before){
            tag, tag >= 0 ? vm_word(eden_region_at(i), eden_layout.region_top) : 0};
    }
    return state.region_count == count;
}

static bool is_old(int64_t tag)
{
    return tag >= 0 && (tag & eden_layout.old_mask) != 0;
}

static bool is_free(int64_t tag)
{
    return tag < 0 || tag == eden_layout.free_tag;
}

/* Lists what is new in the region. Returns false if something stayed where it was. */
static bool list_region_after(size_t i, bool *is_mixed)
{
    struct region_before before = state.regions[i];
    int64_t tag = eden_region_tag(i);
    bool is_survivor = tag == eden_layout.survivor_tag;
    if (is_old(before.tag) && !is_old(tag))
        *is_mixed = true;
    if (!is_survivor && !is_old(tag))
        return true;
    uintptr_t region = eden_region_at(i);
    uintptr_t top = vm_word(region, eden_layout.region_top);
    if (is_free(before.tag))
        return add_survivors(vm_word(region, eden_layout.region_bottom), top, !is_survivor);
    return is_old(before.tag) && is_old(tag) && top >= before.top &&
           add_survivors(before.top, top, true);
}

static bool list_regions_after(bool *is_mixed)
{
    size_t was_free = 0, is_used = 0;
    for (size_t i = 0; i < state.region_count; i++) {
        int64_t tag = eden_region_tag(i);
        bool is_target = tag == eden_layout.survivor_tag || is_old(tag);
        if (!list_region_after(i, is_mixed))
            return false;
        was_free += is_free(state.regions[i].tag);
        is_used += is_free(state.regions[i].tag) && is_target;
    }
    if (is_used == was_free)
        *is_mixed = true;
    return state.region_count == eden_region_count();
}

static bool has_no_survivors(void)
{
    if (eden_layout.heap != EDEN_G1)
        return is_empty(eden_space_at(SPACE_FROM));
    for (size_t i = 0; i < state.region_count; i++)
        if (eden_region_tag(i) == eden_layout.survivor_tag)
            return false;
    return true;
}

/* ---- all ---- */

bool eden_survivors_pause_begins(void)
{
    state.young_before = *state.young;
    state.full_before = *state.full;
    if (eden_layout.heap == EDEN_G1)
        return regions_before();
    spaces_before();
    return true;
}

bool eden_survivors_pause_ends(struct eden_survivors *out)
{
    int64_t young = *state.young - state.young_before, full = *state.full - state.full_before;
    *out = (struct eden_survivors){.count = 0};
    if (young == 0 && full == 0)
        return false;
    state.piece_count = 0;
    bool is_one =
        young == 1 && full == 0 &&
        (eden_layout.heap == EDEN_G1 ? list_regions_after(&out->is_mixed) : list_spaces_after());
    state.is_dated = is_one || has_no_survivors();
    if (!is_one)
        state.piece_count = 0;
    eden_survivors_last(out);
    return is_one;
}

void eden_survivors_last(struct eden_survivors *out)
{
    out->pieces = state.pieces;
    out->count = state.piece_count;
}

bool eden_survivors_agree(const uint64_t bytes[OBJECT_AGES])
{
    for (unsigned age = 1; age < OBJECT_AGES; age++)
        if (state.ages[age] != NULL && (uint64_t) *state.ages[age] != bytes[age])
            return false;
    return true;
}
