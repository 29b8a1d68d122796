/* SPDX-License-Identifier: Apache-2.0 */
/* The raw records that come most, short method events and, without stacks, allocations in a row:
 * straight into the writer's columns. */
#include "live_records.h"
#include "steptrace/java_trace.h"

enum { ENTRY_SLOTS = 4, EXIT_SLOTS = 3, ALLOC_SLOTS = 5 };

/* Of a run: the columns of its layouts. */
enum { TIME, THREAD, METHOD, OBJECT, CLASS, SIZE, ALLOCATED, COLUMNS };

#define METHODS ((unsigned) LIVE_RUN_METHODS)
#define ALLOCATIONS ((unsigned) LIVE_RUN_ALLOCATIONS)

/* By raw kind. */
static const struct {
    uint16_t group; /* METHODS or ALLOCATIONS; 0: no such record */
    uint16_t type;
} rows[1u << STEP_LIVE_KIND_BITS] = {
    [STEP_LIVE_ENTRY_SHORT] = {METHODS, JAVA_METHOD_ENTRY},
    [STEP_LIVE_EXIT_SHORT] = {METHODS, JAVA_METHOD_EXIT},
    [STEP_LIVE_FRAME_POP_SHORT] = {METHODS, JAVA_FRAME_POP},
    [STEP_LIVE_ALLOC_NEXT] = {ALLOCATIONS, JAVA_OBJECT_ALLOC},
};

static uint32_t kind_of(uint64_t word)
{
    return (uint32_t) (word & ((1u << STEP_LIVE_KIND_BITS) - 1));
}

bool live_runs_init(struct step_run_layout layouts[LIVE_RUN_LAYOUTS],
                    const struct step_writer *writer)
{
    static const struct {
        uint32_t record;
        uint8_t slots, slot;
        uint8_t column;
        bool same;
        uint8_t groups;
    } fields[] = {
        {JAVA_METHOD_ENTRY, ENTRY_SLOTS, 0, TIME, false, METHODS | ALLOCATIONS},
        {JAVA_METHOD_ENTRY, ENTRY_SLOTS, 1, THREAD, true, METHODS | ALLOCATIONS},
        {JAVA_METHOD_ENTRY, ENTRY_SLOTS, 2, METHOD, false, METHODS},
        {JAVA_METHOD_ENTRY, ENTRY_SLOTS, 3, OBJECT, true, METHODS},
        {JAVA_METHOD_EXIT, EXIT_SLOTS, 0, TIME, false, METHODS},
        {JAVA_METHOD_EXIT, EXIT_SLOTS, 1, THREAD, true, METHODS},
        {JAVA_METHOD_EXIT, EXIT_SLOTS, 2, METHOD, false, METHODS},
        {JAVA_FRAME_POP, EXIT_SLOTS, 0, TIME, false, METHODS},
        {JAVA_FRAME_POP, EXIT_SLOTS, 1, THREAD, true, METHODS},
        {JAVA_FRAME_POP, EXIT_SLOTS, 2, METHOD, false, METHODS},
        {JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 0, TIME, false, ALLOCATIONS},
        {JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 1, THREAD, true, ALLOCATIONS},
        {JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 2, CLASS, false, ALLOCATIONS},
        {JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 3, SIZE, false, ALLOCATIONS},
        {JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 4, ALLOCATED, false, ALLOCATIONS},
    };
    for (unsigned groups = 0; groups < LIVE_RUN_LAYOUTS; groups++) {
        layouts[groups].count = COLUMNS;
        for (size_t i = 0; i < COLUMNS; i++)
            layouts[groups].columns[i] = (struct step_run_column){UINT32_MAX, false};
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            struct step_run_column *column = &layouts[groups].columns[fields[i].column];
            uint32_t found =
                step_writer_run_column(writer, fields[i].record, fields[i].slots, fields[i].slot);
            /* records that have a field in common have its column in common */
            if (found == UINT32_MAX || (column->column != UINT32_MAX && column->column != found))
                return false;
            if ((fields[i].groups & groups) != 0)
                *column = (struct step_run_column){found, fields[i].same};
        }
    }
    return true;
}

bool live_starts_run(uint64_t word)
{
    return rows[kind_of(word)].group != 0;
}

/* Fills in the records of `groups` at `words`; returns how many, and `*taken` words. */
static size_t fill_run(const struct live_decoder *decoder, struct stream_state *stream,
                       const uint64_t *words, size_t count, unsigned groups, struct step_run *run,
                       size_t *taken)
{
    /* copies that no store into the columns can change */
    struct stream_state state = *stream;
    struct step_live_header clock = {.clock_multiplier = decoder->clock.clock_multiplier,
                                     .clock_shift = decoder->clock.clock_shift,
                                     .resolution_ns = decoder->clock.resolution_ns};
    uint64_t *times = run->values[TIME];
    uint64_t *method = run->values[METHOD];
    uint16_t *types = run->types;
    size_t most = run->most, entries = 0, allocations = 0, records = 0, at = 0;
    while (records < most && at < count) {
        uint64_t payload = words[at] >> STEP_LIVE_KIND_BITS;
        uint32_t kind = kind_of(words[at]);
        if ((rows[kind].group & groups) == 0)
            break;
        if (rows[kind].group == ALLOCATIONS) {
            if (count - at < 2)
                break;
            state.last_stamp = payload;
            run->values[CLASS][allocations] = words[at + 1] & UINT32_MAX;
            run->values[SIZE][allocations] = (words[at + 1] >> 32) * 8;
            run->values[ALLOCATED][allocations++] = ++state.last_object;
            at += 2;
        } else {
            state.last_stamp += payload >> STEP_LIVE_METHOD_BITS;
            *method++ = payload & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
            entries += kind == STEP_LIVE_ENTRY_SHORT;
            at++;
        }
        times[records] = live_later_ticks(&clock, &state, state.last_stamp);
        types[records++] = rows[kind].type;
    }
    run->counts[TIME] = run->counts[THREAD] = records;
    run->counts[METHOD] = records - allocations;
    run->counts[OBJECT] = entries;
    run->counts[CLASS] = run->counts[SIZE] = run->counts[ALLOCATED] = allocations;
    state.next_record += records;
    *stream = state;
    *taken = at;
    return records;
}

enum step_status live_take_run(struct live_decoder *decoder, uint64_t stream,
                               struct stream_state *state, const uint64_t *words, size_t count,
                               size_t *taken)
{
    struct step_run run;
    *taken = 0;
    if (!decoder->has_runs || (state->window != NULL && window_is_open(state->window)) ||
        state->next_record < state->resumed)
        return STEP_STATUS_OK;
    state->run_groups |= rows[kind_of(words[0])].group;
    unsigned groups = state->run_groups & (state->stack != 0 ? METHODS : METHODS | ALLOCATIONS);
    const struct step_run_layout *layout = &decoder->run_layouts[groups];
    if ((rows[kind_of(words[0])].group & groups) == 0)
        return STEP_STATUS_OK;
    enum step_status status = step_writer_begin_run(decoder->writer, stream, layout, count, &run);
    if (status != STEP_STATUS_OK || run.most == 0)
        return status;
    run.same_values[THREAD] = state->thread;
    run.same_values[OBJECT] = 0;
    size_t records = fill_run(decoder, state, words, count, groups, &run, taken);
    return step_writer_end_run(decoder->writer, layout, &run, records);
}
