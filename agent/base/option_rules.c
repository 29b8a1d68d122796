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
};

void option_rules_apply(struct option_parse *parse)
{
    struct options *options = parse->options;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (!rules[i].is_broken(options))
            continue;
        log_message("%s", rules[i].fault);
        parse->faults++;
    }
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
