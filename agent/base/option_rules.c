/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints between options: a table of rules, in the order in which they are reported. */
#include "agent/base/option_rules.h"

#include "agent/base/agent_options.h"
#include "capture/log.h"

static bool has_snapshots(const struct options *options)
{
    return options->snapshots != 0 || options->snapshot_every_ns != 0;
}

static bool has_triggers(const struct options *options)
{
    return options->start_at.count != 0 || options->stop_at.count != 0;
}

static bool frees_alone(const struct options *options)
{
    return (options->events & EVENT_FREE) != 0 && (options->events & EVENT_ALLOC) == 0;
}

static bool references_of_jvmti(const struct options *options)
{
    return (options->events & EVENT_REFERENCE) != 0 && options->engine != ENGINE_BYTECODE;
}

static bool collects_with_jvmti(const struct options *options)
{
    return options->collects && options->engine != ENGINE_BYTECODE;
}

/* Reference events imply allocs and frees. */
static bool snapshots_without_objects(const struct options *options)
{
    return (has_snapshots(options) || options->collects) &&
           (options->events & EVENT_REFERENCE) == 0 &&
           (~options->events & (EVENT_ALLOC | EVENT_FREE)) != 0;
}

static bool references_without_times(const struct options *options)
{
    return options->resolution_ns == 0 &&
           ((options->events & EVENT_REFERENCE) != 0 || has_snapshots(options));
}

static bool triggers_with_jvmti(const struct options *options)
{
    return options->engine != ENGINE_BYTECODE && has_triggers(options);
}

/* Counted methods imply method events. */
static bool triggers_without_events(const struct options *options)
{
    return has_triggers(options) && options->method != METHOD_COUNT &&
           (options->events & (EVENT_ALLOC | EVENT_METHOD | EVENT_REFERENCE)) == 0;
}

static bool phases_without_events(const struct options *options)
{
    return (options->events & EVENT_PHASE) != 0 && options->method != METHOD_COUNT &&
           (options->events & (EVENT_ALLOC | EVENT_METHOD | EVENT_REFERENCE)) == 0;
}

/* The method's call would wait for all slices. That of a window does so for a limited time. */
static bool gentle_with_start(const struct options *options)
{
    return options->gentle == GENTLE_YES && options->start_at.count != 0 && options->window_ns == 0;
}

static bool is_sampled(const struct options *options)
{
    return options->engine == ENGINE_SAMPLED;
}

static bool sample_of_others(const struct options *options)
{
    return (options->named & NAMED_SAMPLE) != 0 && !is_sampled(options);
}

static bool keeps_one_file(const struct options *options)
{
    return (options->named & NAMED_KEEP) != 0 && options->rotate_ns == 0;
}

static bool window_of_others(const struct options *options)
{
    return options->window_ns != 0 &&
           (options->engine != ENGINE_BYTECODE || (options->events & EVENT_ALLOC) == 0 ||
            (options->events & EVENT_REFERENCE) != 0 || has_snapshots(options));
}

#define SAMPLED_RESOLUTION_MOST_NS 1000000u

/* Readers order births, deaths and objects that were given up by their times. */
static bool sampled_without_times(const struct options *options)
{
    return is_sampled(options) &&
           (options->resolution_ns == 0 || options->resolution_ns > SAMPLED_RESOLUTION_MOST_NS);
}

static bool sampled_without_allocs(const struct options *options)
{
    return is_sampled(options) && (options->events & EVENT_ALLOC) == 0;
}

static bool sampled_with_methods(const struct options *options)
{
    return is_sampled(options) && ((options->events & (EVENT_METHOD | EVENT_PHASE)) != 0 ||
                                   options->method == METHOD_COUNT);
}

static bool sampled_with_existing(const struct options *options)
{
    return is_sampled(options) &&
           ((options->named & NAMED_EXISTING) != 0 || has_snapshots(options));
}

static bool sampled_with_check(const struct options *options)
{
    return is_sampled(options) && options->walk == WALK_CHECK;
}

/* Probes shift the indexes of a method's own code. */
static bool indexes_of_probed_code(const struct options *options)
{
    return options->indexes && (options->engine != ENGINE_JVMTI || options->stack == 0);
}

static bool layout_without_objects(const struct options *options)
{
    return options->layout &&
           (is_sampled(options) || (options->events & (EVENT_ALLOC | EVENT_REFERENCE)) == 0);
}

static const struct rule {
    bool (*is_broken)(const struct options *options);
    const char *fault;
} rules[] = {
    {frees_alone, "option events: free needs alloc"},
    {references_of_jvmti, "option events: reference needs engine=bytecode"},
    {collects_with_jvmti, "option collect: it needs engine=bytecode"},
    {snapshots_without_objects, "options snapshot, collect: they need alloc and free events"},
    {references_without_times, "option resolution: references and snapshots need times"},
    {triggers_with_jvmti, "options start, stop: they need engine=bytecode"},
    {triggers_without_events, "options start, stop: they need alloc or method events"},
    {phases_without_events, "option phase: it needs alloc or method events"},
    {gentle_with_start, "options gentle, start: a method of start= does not wait for slices"},
    {sample_of_others, "options sample, rate, live, rotate: they need engine=sampled"},
    {keeps_one_file, "option keep: it needs rotate"},
    {window_of_others,
     "option window: it needs engine=bytecode and alloc events; references and snapshots are not "
     "possible"},
    {sampled_without_times, "option resolution: engine=sampled needs times, of 1 ms at most"},
    {sampled_without_allocs, "option events: engine=sampled needs alloc"},
    {sampled_with_methods, "options events, method, phase: methods and phases need probes, which "
                           "engine=sampled does not use"},
    {sampled_with_existing, "options existing, snapshot: engine=sampled has samples of new objects "
                            "only"},
    {layout_without_objects, "option layout: it needs alloc events, of all objects"},
    {indexes_of_probed_code, "option places: bytecode needs engine=jvmti and stack=N"},
    {sampled_with_check, "option walk: engine=sampled finds stacks by JVMTI only"},
};

/* internals= says what may be used: nothing is. */
static void settle_sampled(struct options *options)
{
    if ((options->named & NAMED_STACK) == 0)
        options->stack = OPTION_SAMPLED_STACK;
    options->existing = false;
    options->internals = 0;
    options->walk = WALK_JVMTI;
}

void option_rules_apply(struct option_parse *parse)
{
    struct options *options = parse->options;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].is_broken(options))
            continue;
        log_message("%s", rules[i].fault);
        parse->faults++;
    }
    if (is_sampled(options))
        settle_sampled(options);
    if ((options->events & EVENT_REFERENCE) != 0)
        options->events |= EVENT_ALLOC | EVENT_FREE;
    if (options->method == METHOD_COUNT)
        options->events |= EVENT_METHOD;
}

bool option_rules_allow_jvmti(const struct options *options)
{
    return !options->engine_named && !options->collects && !has_triggers(options) &&
           (options->events & EVENT_REFERENCE) == 0 && options->method != METHOD_COUNT;
}
