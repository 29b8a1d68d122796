/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: word lists, setters by kind of value, a row for each option with its
 * default, and the help that is printed from it. */
#include "agent/base/option_values.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agent/base/agent_options.h"
#include "agent/base/internals.h"
#include "capture/log.h"

static const struct option_word event_words[] = {
    {"class", TRACED_CLASS},   {"alloc", TRACED_ALLOC},   {"free", TRACED_FREE},
    {"thread", TRACED_THREAD}, {"method", TRACED_METHOD}, {"reference", TRACED_REFERENCE},
    {"all", TRACED_ALL},
};
static const struct option_word engine_words[] = {{"jvmti", ENGINE_JVMTI},
                                                  {"bytecode", ENGINE_BYTECODE},
                                                  {"sampled", ENGINE_SAMPLED},
                                                  {"walk", ENGINE_WALK}};
static const struct option_word totals_words[] = {
    {"none", TOTALS_NONE}, {"threads", TOTALS_THREADS}, {"walk", TOTALS_WALK}};
static const struct option_word ring_words[] = {{"memory", RING_MEMORY}, {"file", RING_FILE}};
static const struct option_word overflow_words[] = {{"block", OVERFLOW_BLOCK},
                                                    {"drop", OVERFLOW_DROP}};
static const struct option_word clock_words[] = {
    {"auto", CLOCK_AUTO}, {"tsc", CLOCK_TSC}, {"monotonic", CLOCK_MONOTONIC_NS}};
static const struct option_word walk_words[] = {
    {"auto", WALK_AUTO}, {"jvmti", WALK_JVMTI}, {"check", WALK_CHECK}};
static const struct option_word place_words[] = {{"line", 0}, {"bytecode", 1}};
static const struct option_word switch_words[] = {{"yes", 1}, {"no", 0}};
static const struct option_word gentle_words[] = {
    {"auto", GENTLE_AUTO}, {"yes", GENTLE_YES}, {"no", GENTLE_NO}};
static const struct option_word probes_words[] = {{"restore", PROBES_RESTORED},
                                                  {"keep", PROBES_KEPT}};
static const struct option_word method_words[] = {{"events", METHOD_EVENTS},
                                                  {"count", METHOD_COUNT}};
static const struct option_word redact_words[] = {
    {"none", 0}, {"names", REDACT_NAMES}, {"command-line", REDACT_COMMAND_LINE}};
static const struct option_word end_words[] = {{"none", END_AS_IT_IS}, {"collect", END_COLLECTED}};
static const struct option_word command_words[] = {
    {"start", COMMAND_START},   {"stop", COMMAND_STOP},         {"flush", COMMAND_FLUSH},
    {"status", COMMAND_STATUS}, {"snapshot", COMMAND_SNAPSHOT}, {"dormant", COMMAND_DORMANT}};

static const struct option_word internal_words[] = {
#define INTERNAL_WORD(name, text) {text, UINT32_C(1) << INTERNAL_##name},
    INTERNALS(INTERNAL_WORD)
#undef INTERNAL_WORD
        {"auto", INTERNALS_ALL},
    {"proven", INTERNALS_ALL},
    {"safe", INTERNALS_SAFE},
    {"none", 0},
};

/* ---- setters ---- */

static void *member_of(struct option_parse *parse, const struct option *option)
{
    return (char *) parse->options + option->at;
}

static void set_file(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_file(parse, option->key, value, parse->options->file, sizeof parse->options->file);
}

static void set_wake(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_file(parse, option->key, value, parse->options->wake, sizeof parse->options->wake);
}

static void set_events(struct option_parse *parse, const struct option *option, const char *value)
{
    uint32_t phase = parse->options->events & TRACED_PHASE;
    parse->options->events =
        option_parse_words(parse, option->key, value, option->words, option->word_count) | phase;
}

static void set_redact(struct option_parse *parse, const struct option *option, const char *value)
{
    parse->options->redact =
        option_parse_words(parse, option->key, value, option->words, option->word_count);
}

static void set_word(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_word(parse, option->key, value, option->words, option->word_count,
                      member_of(parse, option));
}

static void set_switch(struct option_parse *parse, const struct option *option, const char *value)
{
    uint32_t on = 0;
    if (option_parse_word(parse, option->key, value, option->words, option->word_count, &on))
        *(bool *) member_of(parse, option) = on != 0;
}

static void set_existing(struct option_parse *parse, const struct option *option, const char *value)
{
    set_switch(parse, option, value);
    parse->options->named &= ~(uint32_t) NAMED_EXISTING;
    parse->options->named |= parse->options->existing ? (uint32_t) NAMED_EXISTING : 0;
}

static void set_mode(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_mode(parse, option->key, value, &parse->options->mode);
}

static void set_quantity(struct option_parse *parse, const struct option *option, const char *value)
{
    uint64_t *out = member_of(parse, option);
    if (option->may_be_none && strcmp(value, "none") == 0)
        *out = 0;
    else
        option_parse_quantity(parse, option->key, value, option->units, option->least, option->most,
                              out);
}

/* A number of events leaves ticks as long as they are by default, a length of ticks gives each
 * event its stamp: the last value counts. */
static void set_resolution(struct option_parse *parse, const struct option *option,
                           const char *value)
{
    struct options *options = parse->options;
    options->stamp_events = 1;
    options->resolution_ns = OPTION_RESOLUTION_DEFAULT;
    if (strcasecmp(value + strspn(value, "0123456789"), "events") == 0)
        option_parse_quantity(parse, option->key, value, &option_events, 1,
                              OPTION_STAMP_EVENTS_MOST, &options->stamp_events);
    else
        set_quantity(parse, option, value);
}

static void set_share(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_share(parse, option->key, value, member_of(parse, option));
}

static void option_table_set_number(struct option_parse *parse, const struct option *option,
                                    const char *value)
{
    uint64_t number = 0;
    option_parse_quantity(parse, option->key, value, &option_numbers, option->least, option->most,
                          &number);
    *(uint32_t *) member_of(parse, option) = (uint32_t) number;
}

static void set_globs(struct option_parse *parse, const struct option *option, const char *value)
{
    option_parse_globs(parse, option->key, value, member_of(parse, option), option->of_methods);
}

static void add_snapshot(struct option_parse *parse, const char *key, const char *word)
{
    static const char every[] = "every:", at_end[] = "end:";
    struct options *options = parse->options;
    if (strcmp(word, "start") == 0)
        options->snapshots |= SNAPSHOT_START;
    else if (strcmp(word, "end") == 0)
        options->snapshots |= SNAPSHOT_END;
    else if (strncmp(word, at_end, sizeof at_end - 1) == 0) {
        options->snapshots |= SNAPSHOT_END;
        option_parse_quantity(parse, key, word + sizeof at_end - 1, &option_periods, 1000000,
                              UINT64_C(3600000000000), &options->snapshot_most_ns);
    } else if (strncmp(word, every, sizeof every - 1) == 0)
        option_parse_quantity(parse, key, word + sizeof every - 1, &option_periods, 1000000,
                              UINT64_C(86400000000000), &options->snapshot_every_ns);
    else {
        log_message("option %s: '%s' is not one of start, end, end:TIME, every:TIME", key, word);
        parse->faults++;
    }
}

static void set_snapshot(struct option_parse *parse, const struct option *option, const char *value)
{
    parse->options->snapshots = 0;
    parse->options->snapshot_every_ns = 0;
    parse->options->snapshot_most_ns = 0;
    for (const char *at = value;;) {
        char word[64];
        size_t length = strcspn(at, "+");
        snprintf(word, sizeof word, "%.*s", (int) length, at);
        add_snapshot(parse, option->key, word);
        if (at[length] == '\0')
            return;
        at += length + 1;
    }
}

static void set_collect(struct option_parse *parse, const struct option *option, const char *value)
{
    parse->options->collects = true;
    set_quantity(parse, option, value);
}

static void add_phase(struct option_parse *parse, const char *key, const char *item)
{
    static const char of_program[] = "program:", of_threads[] = "threads:";
    struct options *options = parse->options;
    size_t length = sizeof of_program - 1; /* of both */
    if (strcmp(item, "auto") == 0)
        options->phases_known = true;
    else if (strcmp(item, "none") == 0)
        options->phases = false;
    else if (strncmp(item, of_program, length) == 0 && item[length] != '\0')
        option_parse_globs(parse, key, item + length, &options->program_phase_at, true);
    else if (strncmp(item, of_threads, length) == 0 && item[length] != '\0')
        option_parse_globs(parse, key, item + length, &options->threads_phase_at, true);
    else
        option_parse_globs(parse, key, item, &options->phase_at, true);
}

static void set_phase(struct option_parse *parse, const struct option *option, const char *value)
{
    char items[OPTION_TEXT];
    struct options *options = parse->options;
    if ((options->events & TRACED_PHASE) == 0)
        options->phases_known = false;
    options->events |= TRACED_PHASE;
    options->phases = true;
    snprintf(items, sizeof items, "%s", value);
    for (char *rest = NULL, *item = strtok_r(items, "+", &rest); item != NULL;
         item = strtok_r(NULL, "+", &rest))
        add_phase(parse, option->key, item);
    if (!options->phases)
        options->events &= ~(uint32_t) TRACED_PHASE;
}

/* auto, proven, safe and none cannot be combined with other words. */
static void set_internals(struct option_parse *parse, const struct option *option,
                          const char *value)
{
    struct options *options = parse->options;
    size_t count = strchr(value, '+') != NULL ? (size_t) INTERNAL_COUNT : option->word_count;
    options->internals = option_parse_words(parse, option->key, value, option->words, count);
    options->internals_proven = strcmp(value, "proven") == 0;
}

#define WORDS(table) .words = (table), .word_count = sizeof(table) / sizeof(table)[0]
#define MEMBER(member) .at = offsetof(struct options, member)
#define WORD(member, table) .set = set_word, MEMBER(member), WORDS(table)
#define SWITCH(member) .set = set_switch, MEMBER(member), WORDS(switch_words)
#define RANGE(a, b) .least = (a), .most = (b)
#define QUANTITY(member, unit, a, b)                                                               \
    .set = set_quantity, MEMBER(member), .units = &option_##unit, RANGE(a, b)
#define GLOBS(member, methods) .set = set_globs, MEMBER(member), .of_methods = (methods)

const struct option option_table[] = {
    {"file", "NAME", OPTION_FILE_DEFAULT,
     "the trace; %p is the process id, %t the time, %h the host, %% a %", true, .set = set_file},
    {"overwrite", "yes|no", "no",
     "replace the user's own trace of that name; no: write NAME.2.step, NAME.3.step..", true,
     SWITCH(overwrite)},
    {"mode", "600..666", "600", "permissions of the files, octal; the umask is ignored", true,
     .set = set_mode},
    {"events", "class+alloc+free+thread+method+reference|all", "class+alloc+free+thread",
     "events to record", false, .set = set_events, WORDS(event_words), .named = NAMED_EVENTS},
    {"engine", "bytecode|jvmti|sampled|walk", "bytecode",
     "how the JVM is observed; sampled: a sample of the objects; walk: totals by class", false,
     WORD(engine, engine_words), .named = NAMED_ENGINE},
    {"sample", "1..1g", "512k",
     "engine=sampled: bytes allocated from one sample to the next, on average", false,
     QUANTITY(sample_bytes, sizes, 1, UINT64_C(1) << 30), .named = NAMED_SAMPLE},
    {"rate", "1..1m|none", "none",
     "engine=sampled: target rate in samples a second; with more, the interval grows", false,
     QUANTITY(rate, counts, 1, 1000000), .may_be_none = true, .named = NAMED_SAMPLE},
    {"live", "100..10m", "100k",
     "engine=sampled: objects observed until they die, at a time; others are given up", false,
     QUANTITY(live, counts, 100, 10000000), .named = NAMED_SAMPLE},
    {"rotate", "1s..43200min", "none",
     "engine=sampled: begin a new file at this interval: NAME.000001.step, NAME.000002.step..",
     false, QUANTITY(rotate_ns, periods, UINT64_C(1000000000), UINT64_C(30) * 86400 * 1000000000),
     .named = NAMED_SAMPLE},
    {"keep", "2..10000", "12", "with rotate: number of files to keep; older ones are removed",
     false, QUANTITY(keep, numbers, 2, 10000), .named = NAMED_KEEP},
    {"totals", "walk|threads|none", "none",
     "engine=sampled: exact totals correct the samples; walk: of classes, as engine=walk has them; "
     "threads: of all classes together, by the JVM's counters",
     false, WORD(totals, totals_words), .named = NAMED_OTHER},
    {"share", "1..100", "5",
     "engine=walk, totals=walk: percent of the time that walks may take; beyond, collections are "
     "left out",
     false, .set = option_table_set_number, MEMBER(share), RANGE(1, 100), .named = NAMED_SHARE},
    {"window", "1ms..60min", "none",
     "in a JVM that records a sample: record all objects for this time, then the sample again",
     false, QUANTITY(window_ns, periods, 1000000, UINT64_C(3600) * 1000000000)},
    {"duration", "1ms..43200min", "none", "the trace ends after this time", false,
     QUANTITY(duration_ns, periods, 1000000, UINT64_C(30) * 86400 * 1000000000)},
    {"resolution", "1ns..1s|Nevents|none", "1us",
     "resolution of the stored time stamps; 16events: the clock is read for every 16th event of a "
     "thread, times between are interpolated; none: no times",
     false, .set = set_resolution, MEMBER(resolution_ns), .units = &option_times,
     RANGE(1, 1000000000), .may_be_none = true},
    {"existing", "yes|no", "yes", "report the objects that exist when tracing starts", false,
     .set = set_existing, MEMBER(existing), WORDS(switch_words)},
    {"gentle", "auto|yes|no", "auto",
     "in a running JVM: change loaded classes in slices, with pauses between", false,
     WORD(gentle, gentle_words)},
    {"probes", "restore|keep", "restore",
     "keep: classes keep their probes after the trace, and the next one begins in milliseconds",
     false, WORD(probes, probes_words), .named = NAMED_OTHER},
    {"missed", "yes|no", "yes",
     "say what method calls that had begun before the trace allocate, which it lacks", false,
     SWITCH(missed)},
    {"layout", "yes|no", "no",
     "record fields of classes and lengths of arrays, for `steptrace layout`", false,
     SWITCH(layout)},
    {"stack", "0..1024", "0; sampled: 16", "frames to record of each allocation's call stack", true,
     .set = option_table_set_number, MEMBER(stack), RANGE(0, OPTION_STACK_MAX),
     .named = NAMED_STACK},
    {"places", "line|bytecode", "line",
     "bytecode: record each frame's bytecode index too, for `steptrace escape`", false,
     .set = set_switch, MEMBER(indexes), WORDS(place_words), .named = NAMED_OTHER},
    {"walk", "auto|jvmti|check", "auto",
     "how call stacks are walked; check: both ways, and compare them", false,
     WORD(walk, walk_words)},
    {"include", "GLOB+GLOB..", "the application's",
     "classes whose methods are traced; ** matches all", false, GLOBS(include, false)},
    {"exclude", "GLOB+GLOB..", "none", "classes whose methods are not traced", false,
     GLOBS(exclude, false)},
    {"method", "events|count", "events",
     "count: record calls and time of each method at the end, instead of events", false,
     WORD(method, method_words)},
    {"start", "CLASS.METHOD+..", "none", "the trace begins when such a method is entered", false,
     GLOBS(start_at, true), .named = NAMED_OTHER},
    {"stop", "CLASS.METHOD+..", "none", "the trace ends when such a method has returned", false,
     GLOBS(stop_at, true), .named = NAMED_OTHER},
    {"phase", "auto|none|CLASS.METHOD+..", "auto",
     "calls of such a method are phases; program:CLASS.METHOD: of the whole program, threads:...: "
     "also of the threads that it starts",
     false, .set = set_phase},
    {"snapshot", "start+end+end:TIME+every:TIME", "none",
     "record all references and roots at these moments; end:1s: if estimated at 1 s or less", false,
     .set = set_snapshot},
    {"end", "collect|none", "none",
     "collect: the JVM collects before the trace ends, if finish= allows that long", false,
     WORD(end, end_words)},
    {"collect", "0|SIZE", "none",
     "force a collection after this many bytes allocated; 0: after each object", false,
     .set = set_collect, MEMBER(collect_every_bytes), .units = &option_sizes,
     RANGE(0, UINT64_C(1) << 40), .named = NAMED_OTHER},
    {"overflow", "block|drop", "block",
     "when the buffers are full: wait, or drop events and count them", true,
     WORD(overflow, overflow_words)},
    {"buffer", "SIZE", "64m", "size of the buffers", true,
     QUANTITY(buffer_bytes, sizes, 1 << 20, UINT64_C(1) << 40)},
    {"memory", "SIZE", "none",
     "memory limit of the agent, buffers included; above it the trace ends, not the program", false,
     QUANTITY(memory_bytes, sizes, UINT64_C(8) << 20, UINT64_C(1) << 40)},
    {"max-memory", "SIZE", "none", "the same as memory=", true,
     QUANTITY(memory_bytes, sizes, UINT64_C(8) << 20, UINT64_C(1) << 40)},
    {"max-cpu", "0.01%..100%", "none",
     "limit of the agent's processor time, of that of the process: above it there are fewer "
     "samples, then the trace ends",
     false, .set = set_share, MEMBER(max_cpu)},
    {"max-pause", "1us..60s", "none",
     "limit of a stop of the program by the agent: above it the trace ends, not the program", false,
     QUANTITY(max_pause_ns, stops, 1000, UINT64_C(60000000000))},
    {"ring", "memory|file", "memory", "where the buffers are: file: in NAME.live, mapped", false,
     WORD(ring, ring_words)},
    {"limit", "SIZE", "none", "end the trace, not the program, at this file size", true,
     QUANTITY(limit_bytes, sizes, 1 << 16, INT64_MAX)},
    {"finish", "TIME", "5s",
     "how long the JVM waits at exit for the trace's end; the rest stays in NAME.live", false,
     QUANTITY(finish_ns, periods, 0, UINT64_C(86400000000000))},
    {"level", "1..19", "3", "compression level", true, .set = option_table_set_number,
     MEMBER(level), RANGE(1, 19)},
    {"clock", "auto|tsc|monotonic", "auto", "where time stamps come from", false,
     WORD(clock, clock_words)},
    {"internals", "auto|proven|safe|none|NAME+NAME..", "auto",
     "which undocumented parts of the JVM may be used", false, .set = set_internals,
     WORDS(internal_words)},
    {"wake", "FILE", "none",
     "of a dormant agent: a file with one line, which is a command as attach gives it; %p is the "
     "process id",
     false, .set = set_wake},
    {"redact", "none|names+command-line", "none",
     "names: numbers in place of the program's names; command-line: no command line, no host",
     false, .set = set_redact, WORDS(redact_words)},
    {"required", "yes|no", "no", "exit instead of running untraced", true, SWITCH(required)},
    {"options", "FILE", "none", "read options from a file, one or more a line", true, .set = NULL},
};

const size_t option_count = sizeof option_table / sizeof option_table[0];

void options_event_names(uint32_t events, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof event_words / sizeof event_words[0] && used < out_size; i++)
        if (event_words[i].value != TRACED_ALL && (events & event_words[i].value) != 0)
            used += (size_t) snprintf(out + used, out_size - used, "%s%s", used == 0 ? "" : "+",
                                      event_words[i].name);
}

bool option_table_find_command(const char *word, uint32_t *command)
{
    return option_find_word(command_words, sizeof command_words / sizeof command_words[0], word,
                            strlen(word), command);
}

void option_table_defaults(struct options *options)
{
    memset(options, 0, sizeof *options);
    options->events = TRACED_DEFAULT;
    options->engine = ENGINE_BYTECODE;
    options->existing = true;
    options->missed = true;
    options->mode = 0600;
    options->resolution_ns = OPTION_RESOLUTION_DEFAULT;
    options->stamp_events = 1;
    options->buffer_bytes = UINT64_C(64) << 20;
    options->finish_ns = UINT64_C(5000000000);
    options->level = 3;
    options->sample_bytes = OPTION_SAMPLE_DEFAULT;
    options->live = OPTION_LIVE_DEFAULT;
    options->keep = OPTION_KEEP_DEFAULT;
    options->share = OPTION_SHARE_DEFAULT;
    options->file_number = 1;
    options->internals = INTERNALS_ALL;
    options->phases = options->phases_known = true;
}

#define HELP_WIDTH 80
#define HELP_INDENT 6

/* Prints words, as many as fit into each line. */
static void print_words(const char *text)
{
    int column = 0;
    while (*text != '\0') {
        int length = (int) strcspn(text, " ");
        if (column > 0 && column + 1 + length > HELP_WIDTH) {
            fputc('\n', stderr);
            column = 0;
        }
        column += fprintf(stderr, "%*s%.*s", column == 0 ? HELP_INDENT : 1, "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', stderr);
}

void options_print_help(bool only_shared)
{
    if (!only_shared)
        log_message("java -agentpath:LIBTRACER.SO=key=value,... records a trace");
    fputs("options, with their values (and defaults):\n", stderr);
    for (size_t i = 0; i < option_count; i++) {
        const struct option *option = &option_table[i];
        if (only_shared && !option->shared)
            continue;
        fprintf(stderr, "  %s=%s (%s)\n", option->key, option->values, option->fallback);
        print_words(option->meaning);
    }
    if (!only_shared)
        fputs("\nIn a running JVM the agent also accepts start, stop, flush, status, snapshot.\n"
              "With the word dormant it does nothing until then.\n",
              stderr);
}
