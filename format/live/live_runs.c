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

#include "format/live/live_between.h"
#include "format/live/ticker.h"
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
#define PADDINGS ((unsigned) LIVE_RUN_PADDINGS)

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
        layout->columns[slot] = (struct step_run_column){column, slot != FREED, true};
    }
    return true;
}

/* Returns the group in whose presence a column of common values has values of its own. */
static unsigned varies_with(uint8_t column)
{
    return column == OBJECT ? OBJECTS : column == PADDING ? PADDINGS : 0;
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
        bool same; /* all records of a run have one value, but for varies_with() */
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
        {STEP_JAVA_OBJECT_ALLOC, ALLOC_SLOTS, 5, PADDING, true, ALLOCATIONS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 0, TIME, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 1, THREAD, true, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 2, CLASS, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 3, SIZE, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 4, ALLOCATED, false, STACKS},
        {STEP_JAVA_OBJECT_ALLOC_AT, ALLOC_AT_SLOTS, 5, PADDING, true, STACKS},
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
                    found, fields[i].same && (groups & varies_with(fields[i].column)) == 0,
                    fields[i].column == TIME};
        }
    }
    return true;
}

bool live_starts_run(uint64_t word)
{
    return rows[live_kind(word)].group != 0;
}

/* State of filling a run. */
struct filling {
    struct step_run *run;
    uint64_t *times, *methods;
    uint16_t *types;
    uint64_t *objects; /* of entries; NULL: no entry has one */
    size_t records, entries, allocations, stacks;
};

/* Decodes the short method events at the start of `words`, `most` at most.  Returns their number.
 */
static inline size_t live_runs_put_methods(struct filling *filling, struct ticker *ticker,
                                           const uint64_t *words, size_t count, size_t most,
                                           bool with_objects)
{
    uint64_t *times = filling->times + filling->records;
    uint64_t *methods = filling->methods + filling->records - filling->allocations;
    uint16_t *types = filling->types + filling->records;
    uint64_t stamp = ticker->state.last_stamp;
    struct live_between between = ticker->state.between;
    struct quick_ticker quick = quick_ticker_begin(ticker);
    uint64_t *objects = with_objects ? filling->objects + filling->entries : NULL;
    size_t entries = 0, i = 0;
    for (; i < most; i++) {
        uint32_t kind = live_kind(words[i]);
        uint64_t payload = words[i] >> STEP_LIVE_KIND_BITS;
        uint64_t past = payload >> STEP_LIVE_METHOD_BITS;
        if ((METHOD_KINDS >> kind & 1) == 0)
            break;
        if (past == 0)
            times[i] = quick.ticks;
        else if (past == STEP_LIVE_PAST_SPARED)
            times[i] = quick_ticker_at(
                &quick, ticker,
                live_between_next(&between, &ticker->clock, stamp, words + i, count - i));
        else
            times[i] = quick_ticker_at(&quick, ticker, stamp += past);
        methods[i] = payload & ((UINT64_C(1) << STEP_LIVE_METHOD_BITS) - 1);
        types[i] = rows[kind].type;
        if (with_objects)
            objects[entries] = 0; /* overwritten if this is not an entry */
        entries += kind == STEP_LIVE_ENTRY_SHORT;
    }
    quick_ticker_end(&quick, ticker);
    ticker->state.last_stamp = stamp;
    ticker->state.between = between;
    filling->entries += entries;
    filling->records += i;
    return i;
}

static void live_runs_put_entry(struct filling *filling, struct ticker *ticker,
                                const uint64_t *words)
{
    struct quick_ticker quick = quick_ticker_begin(ticker);
    ticker->state.last_stamp = words[0] >> STEP_LIVE_KIND_BITS;
    filling->times[filling->records] = quick_ticker_at(&quick, ticker, ticker->state.last_stamp);
    quick_ticker_end(&quick, ticker);
    filling->methods[filling->records - filling->allocations] = words[1];
    filling->objects[filling->entries++] = words[2];
    filling->types[filling->records++] = STEP_JAVA_METHOD_ENTRY;
}

/* Decodes the allocations at the start of `words`, `most` at most, and the stacks between them if
 * `with_stacks`.  One with a padding ends them unless `with_paddings`.  Returns the number of
 * words. */
static inline __attribute__((always_inline)) size_t live_runs_put_allocations(
    struct filling *filling, struct ticker *ticker, const uint64_t *words, size_t count,
    size_t most, bool with_stacks, bool with_paddings)
{
    struct step_run *run = filling->run;
    size_t first = filling->allocations;
    uint64_t *times = filling->times + filling->records;
    uint16_t *types = filling->types + filling->records;
    uint64_t *classes = run->values[CLASS] + first;
    uint64_t *sizes = run->values[SIZE] + first;
    uint64_t *allocated = run->values[ALLOCATED] + first;
    uint64_t *paddings = with_paddings ? run->values[PADDING] + first : NULL;
    uint64_t *stacks = with_stacks ? run->values[STACK] + filling->stacks : NULL;
    struct quick_ticker quick = quick_ticker_begin(ticker);
    uint64_t stamp = ticker->state.last_stamp, object = ticker->state.last_object;
    uint64_t stack = ticker->state.stack;
    size_t at = 0, i = 0, stack_count = 0;
    while (i < most && at + ALLOC_WORDS <= count) {
        uint64_t word = words[at], facts = words[at + 1];
        uint32_t kind = live_kind(word);
        if (with_stacks && kind == STEP_LIVE_STACK) {
            stack = word >> STEP_LIVE_KIND_BITS;
            at++;
            continue;
        }
        uint64_t padding = step_live_alloc_padding(facts);
        if (kind != STEP_LIVE_ALLOC_NEXT || (!with_paddings && padding != 0))
            break;
        stamp = word >> STEP_LIVE_KIND_BITS;
        times[i] = quick_ticker_at(&quick, ticker, stamp);
        classes[i] = step_live_alloc_class(facts);
        sizes[i] = step_live_alloc_size(facts);
        allocated[i] = ++object;
        if (with_paddings)
            paddings[i] = padding;
        if (with_stacks && stack != 0)
            stacks[stack_count++] = stack;
        types[i] = with_stacks && stack != 0 ? STEP_JAVA_OBJECT_ALLOC_AT : STEP_JAVA_OBJECT_ALLOC;
        at += ALLOC_WORDS;
        i++;
    }
    quick_ticker_end(&quick, ticker);
    ticker->state.last_stamp = stamp;
    ticker->state.last_object = object;
    ticker->state.stack = stack;
    filling->records += i;
    filling->allocations += i;
    filling->stacks += stack_count;
    return at;
}

static size_t live_runs_put_some(struct filling *filling, struct ticker *ticker,
                                 const uint64_t *words, size_t count, size_t most, unsigned groups)
{
    if ((groups & (STACKS | PADDINGS)) == 0)
        return live_runs_put_allocations(filling, ticker, words, count, most, false, false);
    if ((groups & PADDINGS) == 0)
        return live_runs_put_allocations(filling, ticker, words, count, most, true, false);
    if ((groups & STACKS) == 0)
        return live_runs_put_allocations(filling, ticker, words, count, most, false, true);
    return live_runs_put_allocations(filling, ticker, words, count, most, true, true);
}

/* Decodes the records of `groups` at `words`.  Returns their number, and `*taken` words. */
static size_t fill_run(const struct live_decoder *decoder, struct stream_state *state,
                       const uint64_t *words, size_t count, unsigned groups, struct step_run *run,
                       size_t *taken)
{
    struct ticker ticker = ticker_begin(&decoder->streams.clock, decoder->tick_rate, state);
    struct filling filling = {.run = run,
                              .times = run->values[TIME],
                              .methods = run->values[METHOD],
                              .types = run->types,
                              .objects = run->values[OBJECT]};
    size_t at = 0;
    while (filling.records < run->most && at < count) {
        unsigned group = rows[live_kind(words[at])].group & groups;
        size_t room = run->most - filling.records, left = count - at;
        size_t most = room < left ? room : left;
        size_t read = 0;
        if (group == METHODS) {
            read = filling.objects != NULL
                       ? live_runs_put_methods(&filling, &ticker, words + at, left, most, true)
                       : live_runs_put_methods(&filling, &ticker, words + at, left, most, false);
        } else if (group == OBJECTS && left >= ENTRY_WORDS) {
            live_runs_put_entry(&filling, &ticker, words + at);
            read = ENTRY_WORDS;
        } else if (group == ALLOCATIONS) {
            read = live_runs_put_some(&filling, &ticker, words + at, left, room, groups);
        } else if (group == STACKS) {
            ticker.state.stack = words[at] >> STEP_LIVE_KIND_BITS;
            read = 1;
        }
        if (read == 0)
            break;
        at += read;
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
    if (group == ALLOCATIONS && count >= ALLOC_WORDS && step_live_alloc_padding(words[1]) != 0)
        group |= PADDINGS;
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
    run.same_values[PADDING] = 0;
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
    for (size_t i = 0; i < records; i++)
        run.types[i] = STEP_JAVA_OBJECT_FREE;
    memcpy(run.values[FREED], ids, records * sizeof *ids);
    run.same_values[FREE_TIME] = ticks;
    run.same_values[FREE_THREAD] = 0;
    for (size_t i = 0; i < FREE_COLUMNS; i++)
        run.counts[i] = records;
    *taken = records;
    return step_writer_end_run(decoder->streams.writer, layout, &run, records);
}
