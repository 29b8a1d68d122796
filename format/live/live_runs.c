/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes runs of the most frequent raw records directly into the writer's columns: method events
 * and consecutive allocations.
 *
 * They are nearly all records of a trace with method events, and the drain must keep up with all
 * threads of the program.  One record at a time costs a call, a look-up of its row, and a copy to
 * rows which later becomes columns.  A run stores each field where it will be encoded.  It must
 * give the same records as the slow way: whatever the loops below do not cover ends the run, and is
 * decoded by the slow way.
 */
#include "format/live/live_records.h"

#include <string.h>

#include "steptrace/java_trace.h"

enum {
    ENTRY_SLOTS = 4,
    EXIT_SLOTS = 3,
    ALLOC_SLOTS = 6,
    ALLOC_AT_SLOTS = 7,
    ALLOC_WORDS = 2,
    ENTRY_WORDS = 3
};

/* Columns of a run of frees, which are the slots. */
enum { FREE_TIME, FREE_THREAD, FREED, FREE_COLUMNS };

/* Columns of a run's layouts. */
enum { TIME, THREAD, METHOD, OBJECT, CLASS, SIZE, ALLOCATED, PADDING, STACK, COLUMNS };

#define METHODS ((unsigned) LIVE_RUN_METHODS)
#define ALLOCATIONS ((unsigned) LIVE_RUN_ALLOCATIONS)
#define OBJECTS ((unsigned) LIVE_RUN_OBJECTS)
#define STACKS ((unsigned) LIVE_RUN_STACKS)

/* By raw kind. */
static const struct {
    uint16_t group; /* METHODS, ALLOCATIONS, OBJECTS or STACKS; 0: never in runs */
    uint16_t type;  /* of allocations: without a stack */
} rows[1u << STEP_LIVE_KIND_BITS] = {
    [STEP_LIVE_ENTRY_SHORT] = {METHODS, STEP_JAVA_METHOD_ENTRY},
    [STEP_LIVE_EXIT_SHORT] = {METHODS, STEP_JAVA_METHOD_EXIT},
    [STEP_LIVE_FRAME_POP_SHORT] = {METHODS, STEP_JAVA_FRAME_POP},
    [STEP_LIVE_ALLOC_NEXT] = {ALLOCATIONS, STEP_JAVA_OBJECT_ALLOC},
    [STEP_LIVE_ENTRY] = {OBJECTS, STEP_JAVA_METHOD_ENTRY},
    [STEP_LIVE_STACK] = {STACKS, 0}, /* no record, but the stack of those that follow */
};

#define METHOD_KINDS                                                                               \
    (1u << STEP_LIVE_ENTRY_SHORT | 1u << STEP_LIVE_EXIT_SHORT | 1u << STEP_LIVE_FRAME_POP_SHORT)

/* The writer says in which column each slot of a record is.  If a definition puts slots that should
 * be common into different columns, there are no runs, and everything still works. */
static bool find_free_columns(struct step_run_layout *layout, const struct step_writer *writer)
{
    layout->count = FREE_COLUMNS;
    for (size_t slot = 0; slot < FREE_COLUMNS; slot++) {
        uint32_t column = step_writer_run_column(writer, STEP_JAVA_OBJECT_FREE, FREE_COLUMNS, slot);
        if (column == UINT32_MAX)
            return false;
        layout->columns[slot] = (struct step_run_column){column, slot == FREE_THREAD, true};
    }
    return true;
}

bool live_runs_init(struct step_run_layout layouts[LIVE_RUN_LAYOUTS],
                    struct step_run_layout *of_frees, const struct step_writer *writer)
{
    if (!find_free_columns(of_frees, writer))
        return false;
    static const struct {
        uint32_t record;
        uint8_t slots, slot;
        uint8_t column;
        bool same; /* the other records have the same fields, except for an object */
        uint8_t groups;
    } fields[] = {
        {STEP_JAVA_METHOD_ENTRY, ENTRY_SLOTS, 0, TIME, false, METHODS | ALLOCATIONS | OBJECTS},
        {STEP_JAVA_METHOD_ENTRY, ENTRY_SLOTS, 1, THREAD, true, METHODS | ALLOCATIONS | OBJECTS},
        {STEP_JAVA_METHOD_ENTRY, ENTRY_SLOTS, 2, METHOD, false, METHODS | OBJECTS},
        {STEP_JAVA_METHOD_ENTRY, ENTRY_SLOTS, 3, OBJECT, true, METHODS | OBJECTS},
        {STEP_JAVA_METHOD_EXIT, EXIT_SLOTS, 0, TIME, false, METHODS},
        {STEP_JAVA_METHOD_EXIT, EXIT_SLOTS, 1, THREAD, true, METHODS},
        {STEP_JAVA_METHOD_EXIT, EXIT_SLOTS, 2, METHOD, false, METHODS},
        {STEP_JAVA_FRAME_POP, EXIT_SLOTS, 0, TIME, false, METHODS},
        {STEP_JAVA_FRAME_POP, EXIT_SLOTS, 1, THREAD, true, METHODS},
        {STEP_JAVA_FRAME_POP, EXIT_SLOTS, 2, METHOD, false, METHODS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 0, TIME, false, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 1, THREAD, true, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 2, CLASS, false, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 3, SIZE, false, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 4, ALLOCATED, false, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 5, PADDING, false, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 0, TIME, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 1, THREAD, true, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 2, CLASS, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 3, SIZE, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 4, ALLOCATED, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 5, PADDING, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 6, STACK, false, STACKS},
    };
    for (unsigned groups = 0; groups < LIVE_RUN_LAYOUTS; groups++) {
        layouts[groups].count = COLUMNS;
        for (size_t i = 0; i < COLUMNS; i++)
            layouts[groups].columns[i] = (struct step_run_column){UINT32_MAX, false, false};
        for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
            struct step_run_column *column = &layouts[groups].columns[fields[i].column];
            uint32_t found =
                step_writer_run_column(writer, fields[i].record, fields[i].slots, fields[i].slot);
            /* fields that records have in common share a column */
            if (found == UINT32_MAX || (column->column != UINT32_MAX && column->column != found))
                return false;
            if ((fields[i].groups & groups) != 0)
                *column = (struct step_run_column){
                    found,
                    fields[i].same && !(fields[i].column == OBJECT && (groups & OBJECTS) != 0),
                    fields[i].column == TIME};
        }
    }
    return true;
}

bool live_starts_run(uint64_t word)
{
    return rows[live_kind(word)].group != 0;
}

/* Converts a stream's stamps to ticks.  Most need no arithmetic: stamps from `base` to `base` +
 * `sure` have the ticks of `base`. A tick has many stamps, and the conversion is a multiplication
 * of 128 bits and a division.  `sure` is rounded down, so that a stamp at the end of a tick is
 * converted rather than guessed. */
struct ticker {
    struct step_live_header clock;
    struct stream_state state; /* its ticks */
    uint64_t stamps_per_ns;    /* in units of 2 ^ -32, rounded down */
    uint64_t base, sure;
};

static uint64_t ticks_of(struct ticker *ticker, uint64_t stamp)
{
    const struct step_live_header *clock = &ticker->clock;
    uint64_t ticks = live_later_ticks(clock, &ticker->state, stamp);
    uint64_t ns = live_stamp_ns(clock, stamp);
    uint64_t past = ns - ticker->state.last_ns;
    uint64_t left = past < clock->resolution_ns ? clock->resolution_ns - past - 1 : 0;
    ticker->base = stamp;
    ticker->sure = (uint64_t) ((unsigned __int128) left * ticker->stamps_per_ns >> 32);
    return ticks;
}

static struct ticker start_ticker(const struct live_decoder *decoder,
                                  const struct stream_state *state)
{
    return (struct ticker){.clock = {.clock_multiplier = decoder->streams.clock.clock_multiplier,
                                     .clock_shift = decoder->streams.clock.clock_shift,
                                     .resolution_ns = decoder->streams.clock.resolution_ns},
                           .state = *state,
                           .stamps_per_ns = decoder->stamps_per_ns};
}

/* State of filling a run. */
struct filling {
    struct step_run *run;
    uint64_t *times, *methods;
    uint16_t *types;
    uint64_t *objects; /* of entries; NULL: no entry has one */
    size_t records, entries, allocations, stacks;
};

/* Decodes the short method events at the start of `words`.  Returns their number. */
static inline size_t live_runs_put_methods(struct filling *filling, struct ticker *ticker,
                                           const uint64_t *words, size_t count, bool with_objects)
{
    /* copies that stores into the columns cannot change */
    uint64_t *times = filling->times + filling->records;
    uint64_t *methods = filling->methods + filling->records - filling->allocations;
    uint16_t *types = filling->types + filling->records;
    uint64_t stamp = ticker->state.last_stamp, ticks = ticker->state.last_ticks;
    uint64_t base = ticker->base, sure = ticker->sure;
    uint64_t *objects = with_objects ? filling->objects + filling->entries : NULL;
    size_t entries = 0, i = 0;
    for (; i < count; i++) {
        uint32_t kind = live_kind(words[i]);
        uint64_t payload = words[i] >> STEP_LIVE_KIND_BITS;
        if ((METHOD_KINDS >> kind & 1) == 0)
            break;
        stamp += payload >> STEP_LIVE_METHOD_BITS;
        if (stamp - base > sure) {
            ticks = ticks_of(ticker, stamp);
            base = ticker->base;
            sure = ticker->sure;
        }
        times[i] = ticks;
        methods[i] = payload & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
        types[i] = rows[kind].type;
        if (with_objects)
            objects[entries] = 0; /* overwritten if this is not an entry */
        entries += kind == STEP_LIVE_ENTRY_SHORT;
    }
    ticker->state.last_stamp = stamp;
    filling->entries += entries;
    filling->records += i;
    return i;
}

/* Returns the ticks of one stamp. */
static inline uint64_t ticks_at(struct ticker *ticker, uint64_t stamp)
{
    ticker->state.last_stamp = stamp;
    return stamp - ticker->base > ticker->sure ? ticks_of(ticker, stamp) : ticker->state.last_ticks;
}

static void live_runs_put_entry(struct filling *filling, struct ticker *ticker,
                                const uint64_t *words)
{
    filling->times[filling->records] = ticks_at(ticker, words[0] >> STEP_LIVE_KIND_BITS);
    filling->methods[filling->records - filling->allocations] = words[1];
    filling->objects[filling->entries++] = words[2];
    filling->types[filling->records++] = STEP_JAVA_METHOD_ENTRY;
}

static void put_allocation(struct filling *filling, struct ticker *ticker, const uint64_t *words)
{
    struct step_run *run = filling->run;
    size_t place = filling->allocations++;
    filling->times[filling->records] = ticks_at(ticker, words[0] >> STEP_LIVE_KIND_BITS);
    run->values[CLASS][place] = step_live_alloc_class(words[1]);
    run->values[SIZE][place] = step_live_alloc_size(words[1]);
    run->values[PADDING][place] = step_live_alloc_padding(words[1]);
    run->values[ALLOCATED][place] = ++ticker->state.last_object;
    uint64_t stack = ticker->state.stack;
    if (stack != 0)
        run->values[STACK][filling->stacks++] = stack;
    filling->types[filling->records++] =
        stack != 0 ? STEP_JAVA_OBJECT_ALLOC_AT : STEP_JAVA_OBJECT_ALLOC;
}

/* Decodes the records of `groups` at `words`.  Returns their number, and `*taken` words. */
static size_t fill_run(const struct live_decoder *decoder, struct stream_state *state,
                       const uint64_t *words, size_t count, unsigned groups, struct step_run *run,
                       size_t *taken)
{
    struct ticker ticker = start_ticker(decoder, state);
    struct filling filling = {.run = run,
                              .times = run->values[TIME],
                              .methods = run->values[METHOD],
                              .types = run->types,
                              .objects = run->values[OBJECT]};
    size_t at = 0;
    while (filling.records < run->most && at < count) {
        unsigned group = rows[live_kind(words[at])].group & groups;
        size_t most = run->most - filling.records;
        most = most < count - at ? most : count - at;
        if (group == METHODS) {
            at += filling.objects != NULL
                      ? live_runs_put_methods(&filling, &ticker, words + at, most, true)
                      : live_runs_put_methods(&filling, &ticker, words + at, most, false);
        } else if (group == OBJECTS && count - at >= ENTRY_WORDS) {
            live_runs_put_entry(&filling, &ticker, words + at);
            at += ENTRY_WORDS;
        } else if (group == ALLOCATIONS && count - at >= ALLOC_WORDS) {
            put_allocation(&filling, &ticker, words + at);
            at += ALLOC_WORDS;
        } else if (group == STACKS) {
            ticker.state.stack = words[at++] >> STEP_LIVE_KIND_BITS;
        } else {
            break;
        }
    }
    run->counts[TIME] = run->counts[THREAD] = filling.records;
    run->counts[METHOD] = filling.records - filling.allocations;
    run->counts[OBJECT] = filling.entries;
    run->counts[CLASS] = run->counts[SIZE] = run->counts[ALLOCATED] = filling.allocations;
    run->counts[PADDING] = filling.allocations;
    run->counts[STACK] = filling.stacks;
    *state = ticker.state;
    state->next_record += filling.records;
    *taken = at;
    return filling.records;
}

uint64_t live_runs_stamps_per_ns(const struct step_live_header *clock)
{
    unsigned __int128 most =
        clock->clock_multiplier != 0
            ? ((unsigned __int128) 1 << (clock->clock_shift + 32)) / clock->clock_multiplier
            : 0;
    return most <= UINT64_MAX ? (uint64_t) most : UINT64_MAX;
}

static uint64_t sum_of(const uint64_t *values, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* A stream's groups only grow (`run_groups`): where kinds of records alternate, a run would
 * otherwise end at each change.  Records that wait in a window, or that the trace file has already,
 * must be treated one by one. */
enum step_status live_take_run(struct live_decoder *decoder, uint64_t stream,
                               struct stream_state *state, const uint64_t *words, size_t count,
                               size_t *taken)
{
    struct step_run run;
    *taken = 0;
    if (!decoder->has_runs || (state->window != NULL && window_is_open(state->window)) ||
        state->next_record < state->resumed)
        return STEP_STATUS_OK;
    unsigned group = rows[live_kind(words[0])].group;
    /* a full entry without object is the first of a chunk, or follows a long pause */
    if (group == OBJECTS && (count < ENTRY_WORDS || words[2] == 0))
        return STEP_STATUS_OK;
    if (group == STACKS || state->stack != 0)
        group |= STACKS | ALLOCATIONS;
    state->run_groups |= group;
    unsigned groups = state->run_groups;
    const struct step_run_layout *layout = &decoder->run_layouts[groups];
    enum step_status status =
        step_writer_begin_run(decoder->streams.writer, stream, layout, count, &run);
    if (status != STEP_STATUS_OK || run.most == 0)
        return status;
    run.same_values[THREAD] = state->thread;
    run.same_values[OBJECT] = 0;
    size_t records = fill_run(decoder, state, words, count, groups, &run, taken);
    if (decoder->counts_bytes && run.counts[SIZE] != 0)
        live_add_bytes(decoder, state->thread, sum_of(run.values[SIZE], run.counts[SIZE]));
    return step_writer_end_run(decoder->streams.writer, layout, &run, records);
}

enum step_status live_put_free_run(struct live_decoder *decoder, const uint64_t *ids, size_t count,
                                   uint64_t ticks, size_t *taken)
{
    const struct step_run_layout *layout = &decoder->free_layout;
    struct step_run run;
    *taken = 0;
    if (!decoder->has_runs)
        return STEP_STATUS_OK;
    enum step_status status =
        step_writer_begin_run(decoder->streams.writer, STEP_LIVE_STREAM_FREES, layout, count, &run);
    if (status != STEP_STATUS_OK || run.most == 0)
        return status;
    size_t records = run.most;
    for (size_t i = 0; i < records; i++) {
        run.types[i] = STEP_JAVA_OBJECT_FREE;
        run.values[FREE_TIME][i] = ticks;
    }
    memcpy(run.values[FREED], ids, records * sizeof *ids);
    run.same_values[FREE_THREAD] = 0;
    for (size_t i = 0; i < FREE_COLUMNS; i++)
        run.counts[i] = records;
    *taken = records;
    return step_writer_end_run(decoder->streams.writer, layout, &run, records);
}
