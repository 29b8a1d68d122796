/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers up to where each space is known.
 *
 * A look is not always followed by a collection that empties eden: G1 announces pauses of its
 * marking, too. Then objects may follow behind what is known, and in the rests of buffers that were
 * open. A collection ends with the allocation that caused it, so eden may have one new object then,
 * whose header is not written yet; it is seen by the next look. After a full collection eden may
 * have older objects instead. */
#include "agent/hotspot/eden_spaces.h"

#include <stdlib.h>
#include <string.h>

#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/vm_structs.h"
#include "format/core/grow.h"

#define KNOWN_HUMONGOUS ((uintptr_t) 1)

static struct {
    struct eden_piece *pieces;
    size_t piece_count, piece_room;
    struct eden_span *rests; /* of buffers that were open at the last look */
    size_t rest_count, rest_room;
    uintptr_t known[EDEN_SPACES]; /* up to where; 0: from the beginning */
    uintptr_t doubtful_to;        /* what eden had when a collection ended */
    uintptr_t *regions;           /* G1: up to where each is known, or KNOWN_HUMONGOUS */
    uintptr_t *tops;              /* of eden's regions when the pause began; 0: it is none */
    size_t region_count;
    bool has_older; /* what was listed is not all that is in eden */
} state;

void eden_spaces_begin(void)
{
    state.rest_count = 0;
    state.doubtful_to = 0;
    memset(state.known, 0, sizeof state.known);
    if (state.regions != NULL)
        memset(state.regions, 0, state.region_count * sizeof *state.regions);
}

static bool add(uintptr_t from, uintptr_t to, enum eden_piece_kind kind)
{
    if (from >= to)
        return true;
    if (!STEP_MAKE_ROOM(state.pieces, state.piece_room, state.piece_count + 1))
        return false;
    state.pieces[state.piece_count++] = (struct eden_piece){.span = {from, to}, .kind = kind};
    return true;
}

/* The same of a region of G1. */
static bool add_of_region(size_t i, uintptr_t from, uintptr_t to, enum eden_piece_kind kind)
{
    size_t count = state.piece_count;
    if (!add(from, to, kind))
        return false;
    if (state.piece_count != count) {
        state.pieces[count].region = i;
        state.pieces[count].region_end = vm_word(eden_region_at(i), eden_layout.region_end);
    }
    return true;
}

/* ---- Serial and Parallel ---- */

static bool list_spaces(void)
{
    bool added = true;
    for (enum eden_space i = SPACE_EDEN; i < EDEN_SPACES && added; i++) {
        uintptr_t bottom = vm_word(eden_space_at(i), eden_layout.space_bottom);
        uintptr_t top = vm_word(eden_space_at(i), eden_layout.space_top);
        uintptr_t from =
            state.known[i] >= bottom && state.known[i] <= top ? state.known[i] : bottom;
        if (i == SPACE_EDEN && state.doubtful_to > bottom && state.doubtful_to <= top) {
            added = add(bottom, state.doubtful_to, EDEN_IF_ONE);
            from = state.doubtful_to;
        } else if (i == SPACE_EDEN) {
            state.has_older |= from != bottom;
        }
        added = added && add(from, top, i == SPACE_OLD ? EDEN_OLD : EDEN_OBJECTS);
    }
    return added;
}

static void know_spaces(void)
{
    for (enum eden_space i = SPACE_EDEN; i < EDEN_SPACES; i++)
        state.known[i] = vm_word(eden_space_at(i), eden_layout.space_top);
    state.doubtful_to = 0;
}

/* ---- G1 ---- */

static bool prepare_regions(void)
{
    size_t count = eden_region_count();
    if (state.region_count == count)
        return true;
    free(state.regions);
    free(state.tops);
    state.regions = calloc(count, sizeof *state.regions);
    state.tops = calloc(count, sizeof *state.tops);
    state.region_count = state.regions != NULL && state.tops != NULL ? count : 0;
    return state.region_count == count;
}

static bool list_region(size_t i)
{
    uintptr_t at = eden_region_at(i), known = state.regions[i];
    int64_t tag = eden_region_tag(i);
    if (tag != eden_layout.eden_tag && tag != eden_layout.humongous_tag)
        return true;
    uintptr_t bottom = vm_word(at, eden_layout.region_bottom);
    uintptr_t top = vm_word(at, eden_layout.region_top);
    if (tag != eden_layout.eden_tag)
        return known == KNOWN_HUMONGOUS || add_of_region(i, bottom, top, EDEN_ONE);
    uintptr_t from = known >= bottom && known <= top ? known : bottom;
    state.has_older |= from != bottom;
    return add_of_region(i, from, top, EDEN_OBJECTS);
}

static bool list_regions(void)
{
    bool added = prepare_regions();
    for (size_t i = 0; i < state.region_count && added; i++)
        added = list_region(i);
    return added;
}

static void know_regions(void)
{
    for (size_t i = 0; i < state.region_count; i++) {
        uintptr_t at = eden_region_at(i);
        int64_t tag = eden_region_tag(i);
        state.regions[i] = tag == eden_layout.eden_tag        ? vm_word(at, eden_layout.region_top)
                           : tag == eden_layout.humongous_tag ? KNOWN_HUMONGOUS
                                                              : 0;
    }
}

/* ---- all ---- */

bool eden_spaces_list(const struct eden_piece **pieces, size_t *count)
{
    state.piece_count = 0;
    state.has_older = state.rest_count != 0;
    bool added = true;
    for (size_t i = 0; i < state.rest_count && added; i++)
        added = add(state.rests[i].from, state.rests[i].to, EDEN_OBJECTS);
    added = added && (eden_layout.heap == EDEN_G1 ? list_regions() : list_spaces());
    *pieces = state.pieces;
    *count = state.piece_count;
    return added;
}

bool eden_spaces_have_older(void)
{
    return state.has_older;
}

bool eden_spaces_looked(const struct eden_threads *threads)
{
    if (!STEP_MAKE_ROOM(state.rests, state.rest_room, threads->rest_count + 1))
        return false;
    if (threads->rest_count != 0)
        memcpy(state.rests, threads->rests, threads->rest_count * sizeof *state.rests);
    state.rest_count = threads->rest_count;
    if (eden_layout.heap == EDEN_G1)
        know_regions();
    else
        know_spaces();
    return true;
}

/* Some of G1's pauses collect nothing in eden, though the JVM counts them: then each region of eden
 * is as it was. */
static bool regions_are_as_before(void)
{
    for (size_t i = 0; i < state.region_count; i++)
        if (state.tops[i] != 0 &&
            (eden_region_tag(i) != eden_layout.eden_tag ||
             vm_word(eden_region_at(i), eden_layout.region_top) != state.tops[i]))
            return false;
    return true;
}

/* Forgets humongous arrays that are gone. One that is new was allocated at the end of the pause, or
 * was moved by a full collection: it is taken for known if another one is gone, and then counts as
 * unknown. */
static void forget_humongous(void)
{
    bool any_gone = false;
    for (size_t i = 0; i < state.region_count; i++)
        if (state.regions[i] == KNOWN_HUMONGOUS &&
            eden_region_tag(i) != eden_layout.humongous_tag) {
            state.regions[i] = 0;
            any_gone = true;
        }
    for (size_t i = 0; i < state.region_count && any_gone; i++)
        if (eden_region_tag(i) == eden_layout.humongous_tag)
            state.regions[i] = KNOWN_HUMONGOUS;
}

static bool regions_pause_ends(bool left_out)
{
    bool emptied = !regions_are_as_before();
    forget_humongous();
    for (size_t i = 0; i < state.region_count && emptied; i++)
        if (left_out && eden_region_tag(i) == eden_layout.humongous_tag)
            state.regions[i] = KNOWN_HUMONGOUS;
        else if (state.regions[i] != KNOWN_HUMONGOUS)
            state.regions[i] = 0;
    return emptied;
}

/* In the old space of Serial and Parallel the collection has put objects behind what was known. */
static void spaces_are_emptied(void)
{
    know_spaces();
    state.doubtful_to = state.known[0];
}

bool eden_spaces_pause_begins(void)
{
    if (eden_layout.heap != EDEN_G1)
        return true;
    if (!prepare_regions())
        return false;
    for (size_t i = 0; i < state.region_count; i++) {
        uintptr_t at = eden_region_at(i);
        state.tops[i] =
            eden_region_tag(i) == eden_layout.eden_tag ? vm_word(at, eden_layout.region_top) : 0;
    }
    return true;
}

bool eden_spaces_pause_ends(bool counted, bool left_out)
{
    bool emptied = eden_layout.heap == EDEN_G1 ? regions_pause_ends(left_out) : counted;
    if (emptied)
        state.rest_count = 0;
    if (emptied && eden_layout.heap != EDEN_G1)
        spaces_are_emptied();
    return emptied;
}
