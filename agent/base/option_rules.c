/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints between options: a table of rules, in the order in which they are reported. */
#include "agent/base/option_values.h"

#include "agent/base/agent_options.h"
#include "agent/base/internals.h"
#include "capture/log.h"

/* What the rules are about, a bit each. */
enum fact {
    BYTECODE = 1 << 0,
    JVMTI = 1 << 1,
    SAMPLED = 1 << 2,
    ALLOC = 1 << 3,
    FREE = 1 << 4,
    METHOD = 1 << 5, /* events, or counted */
    REFERENCE = 1 << 6,
    PHASE = 1 << 7,
    ALLOCS = 1 << 8,  /* named, or implied by references */
    OBJECTS = 1 << 9, /* the same of allocations and deaths */
    EVENTS = 1 << 10, /* that methods or phases can be about */
    SNAPSHOTS = 1 << 11,
    COLLECTS = 1 << 12,
    VISITS = 1 << 13,  /* snapshots or collections, of the end too */
    ORDERED = 1 << 14, /* what needs times */
    TIMES = 1 << 15,
    FINE_TIMES = 1 << 16,
    TRIGGERS = 1 << 17,
    START = 1 << 18,
    WINDOW = 1 << 19,
    GENTLE = 1 << 20,
    OF_SAMPLE = 1 << 21,
    KEEP = 1 << 22,
    ROTATE = 1 << 23,
    EXISTING = 1 << 24, /* existing=yes was given */
    CHECK = 1 << 25,
    STACK = 1 << 26,
    INDEXES = 1 << 27,
    LAYOUT = 1 << 28,
    PROBES = 1 << 29, /* they stay */
    WALKS = 1 << 30
};

#define SAMPLED_RESOLUTION_MOST_NS 1000000u

static uint32_t facts_of(const struct options *options)
{
    uint32_t events = options->events;
    bool counts = options->method == METHOD_COUNT;
    bool references = (events & TRACED_REFERENCE) != 0;
    bool snapshots = options->snapshots != 0 || options->snapshot_every_ns != 0;
    const struct {
        bool is;
        enum fact fact;
    } facts[] = {
        {options->engine == ENGINE_BYTECODE, BYTECODE},
        {options->engine == ENGINE_JVMTI, JVMTI},
        {options->engine == ENGINE_SAMPLED, SAMPLED},
        {options->engine == ENGINE_WALK, WALKS},
        {(events & TRACED_ALLOC) != 0, ALLOC},
        {(events & TRACED_FREE) != 0, FREE},
        {(events & TRACED_METHOD) != 0 || counts, METHOD},
        {references, REFERENCE},
        {(events & TRACED_PHASE) != 0, PHASE},
        {(events & (TRACED_ALLOC | TRACED_REFERENCE)) != 0, ALLOCS},
        {references || (~events & (TRACED_ALLOC | TRACED_FREE)) == 0, OBJECTS},
        {counts || (events & (TRACED_ALLOC | TRACED_METHOD | TRACED_REFERENCE)) != 0, EVENTS},
        {snapshots, SNAPSHOTS},
        {options->collects, COLLECTS},
        {snapshots || options->collects || options->end == END_COLLECTED, VISITS},
        {snapshots || references, ORDERED},
        {options->resolution_ns != 0, TIMES},
        {options->resolution_ns - 1 < SAMPLED_RESOLUTION_MOST_NS, FINE_TIMES},
        {options->start_at.count + options->stop_at.count != 0, TRIGGERS},
        {options->start_at.count != 0, START},
        {options->window_ns != 0, WINDOW},
        {options->gentle == GENTLE_YES, GENTLE},
        {(options->named & NAMED_SAMPLE) != 0, OF_SAMPLE},
        {(options->named & NAMED_KEEP) != 0, KEEP},
        {options->rotate_ns != 0, ROTATE},
        {(options->named & NAMED_EXISTING) != 0, EXISTING},
        {options->walk == WALK_CHECK, CHECK},
        {options->stack != 0, STACK},
        {options->indexes, INDEXES},
        {options->layout, LAYOUT},
        {options->probes == PROBES_KEPT, PROBES},
    };
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        all |= facts[i].is ? (uint32_t) facts[i].fact : 0;
    return all;
}

/* A snapshot that is taken only if it is quick is left out where none is possible. */
static void settle_snapshot(struct options *options)
{
    const uint32_t facts = facts_of(options);
    bool is_possible =
        (facts & (OBJECTS | TIMES)) == (OBJECTS | TIMES) && (facts & (SAMPLED | WINDOW)) == 0;
    if (options->snapshot_most_ns != 0 && !is_possible) {
        options->snapshots &= ~(uint32_t) SNAPSHOT_END;
        options->snapshot_most_ns = 0;
    }
}

/* What has all facts of `of` needs those of `needs` and none of `without`. */
static const struct rule {
    uint32_t of, needs, without;
    const char *fault;
} rules[] = {
    {FREE, ALLOC, 0, "option events: free needs alloc"},
    {REFERENCE, BYTECODE, 0, "option events: reference needs engine=bytecode"},
    {COLLECTS, BYTECODE, 0, "option collect: it needs engine=bytecode"},
    {VISITS, OBJECTS, 0, "options snapshot, collect, end: they need alloc and free events"},
    {ORDERED, TIMES, 0, "option resolution: references and snapshots need times"},
    {TRIGGERS, BYTECODE, 0, "options start, stop: they need engine=bytecode"},
    {TRIGGERS, EVENTS, 0, "options start, stop: they need alloc or method events"},
    {PHASE, EVENTS, 0, "option phase: it needs alloc or method events"},
    /* The method's call would wait for all slices. That of a window does so for a limited time. */
    {GENTLE | START, WINDOW, 0, "options gentle, start: gentle=yes cannot be combined with start="},
    {OF_SAMPLE, SAMPLED, 0, "options sample, rate, live, rotate: they need engine=sampled"},
    {KEEP, ROTATE, 0, "option keep: it needs rotate"},
    {WINDOW, BYTECODE | ALLOC, REFERENCE | SNAPSHOTS,
     "option window: it needs engine=bytecode and alloc events; references and snapshots are not "
     "possible"},
    /* Readers order births, deaths and objects that were given up by their times. */
    {SAMPLED, FINE_TIMES, 0, "option resolution: engine=sampled needs times, of 1 ms at most"},
    {SAMPLED, ALLOC, 0, "option events: engine=sampled needs alloc"},
    {SAMPLED, 0, METHOD | PHASE,
     "options events, method, phase: methods and phases need probes, which engine=sampled does not "
     "use"},
    {SAMPLED, 0, EXISTING | SNAPSHOTS,
     "options existing, snapshot: engine=sampled has samples of new objects only"},
    {PROBES, BYTECODE | ALLOC, METHOD | REFERENCE | TRIGGERS | WINDOW,
     "option probes: keep needs engine=bytecode and alloc events, without methods, references, "
     "start, "
     "stop, window"},
    {LAYOUT, ALLOCS, SAMPLED, "option layout: it needs alloc events, of all objects"},
    /* Probes shift the indexes of a method's own code. */
    {INDEXES, JVMTI | STACK, 0, "option places: bytecode needs engine=jvmti and stack=N"},
    /* Of one object it knows nothing. */
    {WALKS, ALLOC | TIMES, FREE | METHOD | PHASE | STACK | SNAPSHOTS | EXISTING | LAYOUT,
     "engine=walk has totals of classes alone: it needs alloc events and times, and has no free or "
     "method events, phases, stacks, snapshots, existing objects, layouts"},
    {SAMPLED, 0, CHECK, "option walk: engine=sampled finds stacks by JVMTI only"},
};

/* What a walk of eden reads. */
#define INTERNALS_OF_EDEN                                                                          \
    (UINT32_C(1) << INTERNAL_EDEN | UINT32_C(1) << INTERNAL_COUNTERS |                             \
     UINT32_C(1) << INTERNAL_HEADERS | UINT32_C(1) << INTERNAL_SLOTS)

/* What totals= of samples read; samples alone need no internals. */
static const uint32_t internals_of_totals[] = {
    [TOTALS_THREADS] = UINT32_C(1) << INTERNAL_COUNTERS, [TOTALS_WALK] = INTERNALS_OF_EDEN};

static void settle_sampled(struct options *options)
{
    if ((options->named & NAMED_STACK) == 0)
        options->stack = OPTION_SAMPLED_STACK;
    options->existing = false;
    options->internals &= internals_of_totals[options->totals];
    options->walk = WALK_JVMTI;
}

static void settle_walk(struct options *options)
{
    if ((options->named & NAMED_EVENTS) == 0)
        options->events &= ~(uint32_t) TRACED_FREE;
    options->events |= TRACED_CLASS; /* it names them */
    options->existing = (options->named & NAMED_EXISTING) != 0;
}

static void option_rules_check_walks(struct option_parse *parse)
{
    const struct options *options = parse->options;
    bool is_sampled = options->engine == ENGINE_SAMPLED;
    bool walks = options->engine == ENGINE_WALK || (is_sampled && options->totals == TOTALS_WALK);
    if (options->totals != TOTALS_NONE && !is_sampled) {
        log_message("option totals: it needs engine=sampled");
        parse->faults++;
    }
    if (options->totals == TOTALS_WALK && (options->events & TRACED_CLASS) == 0) {
        log_message("option totals: walk needs class events, which name the classes");
        parse->faults++;
    }
    if ((options->named & NAMED_SHARE) != 0 && !walks) {
        log_message("option share: it needs engine=walk, or totals=walk");
        parse->faults++;
    }
    if ((options->redact & REDACT_NAMES) != 0 && walks) {
        /* it names classes in pauses, where the JVM cannot say which are its own */
        log_message("option redact=names: %s has no other names",
                    is_sampled ? "totals=walk" : "engine=walk");
        parse->faults++;
    }
}

bool option_rules_memory_suffices(const struct options *options)
{
    if (options->engine != ENGINE_SAMPLED || options->memory_bytes == 0 ||
        options->memory_bytes >= OPTION_SAMPLED_MEMORY_LEAST)
        return true;
    log_message("option max-memory: engine=sampled needs 16m at least");
    return false;
}

void option_rules_apply(struct option_parse *parse)
{
    struct options *options = parse->options;
    if (options->engine == ENGINE_WALK)
        settle_walk(options);
    settle_snapshot(options);
    const uint32_t facts = facts_of(options);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if ((~facts & rules[i].of) != 0 ||
            ((~facts & rules[i].needs) == 0 && (facts & rules[i].without) == 0))
            continue;
        log_message("%s", rules[i].fault);
        parse->faults++;
    }
    option_rules_check_walks(parse);
    parse->faults += !option_rules_memory_suffices(options);
    if (options->engine == ENGINE_SAMPLED)
        settle_sampled(options);
    if ((options->events & TRACED_REFERENCE) != 0)
        options->events |= TRACED_ALLOC | TRACED_FREE;
    if (options->method == METHOD_COUNT)
        options->events |= TRACED_METHOD;
}

bool option_rules_allow_jvmti(const struct options *options)
{
    return (options->named & NAMED_ENGINE) == 0 && options->method != METHOD_COUNT &&
           (facts_of(options) & (COLLECTS | TRIGGERS | REFERENCE)) == 0;
}
