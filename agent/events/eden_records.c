/* SPDX-License-Identifier: Apache-2.0 */
/* Records of walks.
 *
 * Rows that wait have their classes' numbers already, since a collection may unload a class. Those
 * that survive a young collection, which unloads none, get their numbers when they are found. */
#include "agent/events/eden_records.h"

#include "agent/events/eden_rows.h"
#include "agent/events/eden_survived.h"
#include "format/core/grow.h"

struct kept_row {
    uint64_t word; /* of the class */
    struct eden_class_totals totals;
};

static struct {
    struct session *session; /* of the call that runs */
    bool waits;
    bool has_older;
    struct eden_walk_totals walk;
    struct kept_row *rows;
    size_t count, room;
} state;

void eden_records_begin(void)
{
    state.waits = false;
}

bool eden_records_wait(void)
{
    return state.waits;
}

static void put_unknown(uint64_t bytes)
{
    fact_eden_class(state.session, &(struct eden_class_totals){.collection = state.walk.collection,
                                                               .bytes = bytes});
}

/* A row whose class has no number counts as unknown. */
static void put_row(void *unused, struct eden_row *row)
{
    (void) unused;
    const struct eden_class_totals totals = {
        .collection = state.walk.collection,
        .class = row->objects != 0 ? eden_row_class(state.session, row) : 0,
        .objects = row->objects,
        .bytes = row->bytes};
    if (totals.class == 0)
        return;
    state.walk.known_bytes += row->bytes;
    if (state.waits && STEP_MAKE_ROOM(state.rows, state.room, state.count + 1))
        state.rows[state.count++] = (struct kept_row){row->word, totals};
    else
        fact_eden_class(state.session, &totals);
}

static void put_rows(struct session *session, const struct eden_walk_totals *walk)
{
    state.session = session;
    state.walk = *walk;
    state.count = 0;
    if (walk->how == STEP_LIVE_EDEN_WALKED)
        eden_rows_each(put_row, NULL);
}

static void put_totals(void)
{
    if (state.walk.counted_bytes > state.walk.known_bytes)
        put_unknown(state.walk.counted_bytes - state.walk.known_bytes);
    fact_eden_walk(state.session, &state.walk);
}

void eden_records_put(struct session *session, const struct eden_walk_totals *walk,
                      uint64_t from_ns)
{
    live_stand_still(session->global, true);
    state.waits = false;
    put_rows(session, walk);
    state.walk.took_ns = clock_monotonic_ns() - from_ns;
    put_totals();
    live_stand_still(session->global, false);
}

void eden_records_keep(struct session *session, const struct eden_walk_totals *walk, bool has_older,
                       uint64_t from_ns)
{
    live_stand_still(session->global, true);
    state.waits = true;
    state.has_older = has_older;
    put_rows(session, walk);
    live_stand_still(session->global, false);
    state.walk.took_ns = clock_monotonic_ns() - from_ns;
}

/* ---- survivors ---- */

/* Sets what the row's class has left of the objects of the walk. Returns false if that is not
 * known.
 */
static bool find_survived(const struct eden_row *row, struct eden_class_totals *totals)
{
    const struct survived_class *found = eden_survived_of(row);
    if (found == NULL)
        return true;
    totals->survived = found->objects[0] + found->objects[1] + found->outside_objects;
    totals->survived_bytes = found->bytes[0] + found->bytes[1] + found->outside_bytes;
    return !found->is_unclear;
}

bool eden_records_allow_survivors(void)
{
    for (size_t i = 0; i < state.count && !state.has_older; i++) {
        struct eden_class_totals totals = state.rows[i].totals;
        const struct eden_row *row = eden_row_of(state.rows[i].word);
        if (row == NULL || (find_survived(row, &totals) && (totals.survived > totals.objects ||
                                                            totals.survived_bytes > totals.bytes)))
            return false;
    }
    return true;
}

static void put_kept_row(const struct kept_row *kept, bool is_known)
{
    struct eden_class_totals totals = kept->totals;
    const struct eden_row *row = is_known ? eden_row_of(kept->word) : NULL;
    if (row != NULL && find_survived(row, &totals))
        fact_eden_survived(state.session, &totals);
    else
        fact_eden_class(state.session, &totals);
}

static void put_ages(void *unused, struct eden_row *row)
{
    (void) unused;
    const struct survived_class *found = eden_survived_of(row);
    uint64_t class = 0;
    for (unsigned age = 1; found != NULL && age < OBJECT_AGES; age++) {
        if (found->objects[age] == 0)
            continue;
        class = class != 0 ? class : eden_row_class(state.session, row);
        fact_eden_age(state.session, &(struct eden_age_totals){.collection = state.walk.collection,
                                                               .class = class,
                                                               .age = age,
                                                               .objects = found->objects[age],
                                                               .bytes = found->bytes[age]});
    }
}

uint64_t eden_records_put_kept(struct session *session, bool are_counted, bool are_dated,
                               uint64_t from_ns)
{
    live_stand_still(session->global, true);
    state.session = session;
    state.waits = false;
    for (size_t i = 0; i < state.count; i++)
        put_kept_row(&state.rows[i], are_counted && are_dated && !state.has_older);
    if (are_counted)
        eden_rows_each(put_ages, NULL);
    state.walk.took_ns += clock_monotonic_ns() - from_ns;
    put_totals();
    live_stand_still(session->global, false);
    return state.walk.took_ns;
}
