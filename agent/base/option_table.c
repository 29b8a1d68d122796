/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: word lists, a function set_X() and a row for each option, and the
 * parser. */
#include "agent/base/option_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "agent/base/internals.h"
#include "capture/log.h"
#include "format/core/nearest_word.h"

#define FILE_BYTES_MOST 65536
#define FILE_DEPTH_MOST 4

static const struct option_word event_words[] = {
    {"class", EVENT_CLASS},   {"alloc", EVENT_ALLOC},   {"free", EVENT_FREE},
    {"thread", EVENT_THREAD}, {"method", EVENT_METHOD}, {"reference", EVENT_REFERENCE},
    {"all", EVENT_ALL},
};
static const struct option_word engine_words[] = {
    {"jvmti", ENGINE_JVMTI}, {"bytecode", ENGINE_BYTECODE}, {"sampled", ENGINE_SAMPLED}};
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
static const struct option_word method_words[] = {{"events", METHOD_EVENTS},
                                                  {"count", METHOD_COUNT}};
static const struct option_word command_words[] = {{"start", COMMAND_START},
                                                   {"stop", COMMAND_STOP},
                                                   {"flush", COMMAND_FLUSH},
                                                   {"status", COMMAND_STATUS},
                                                   {"snapshot", COMMAND_SNAPSHOT}};

static const struct option_word internal_words[] = {
#define INTERNAL_WORD(name, text) {text, UINT32_C(1) << INTERNAL_##name},
    INTERNALS(INTERNAL_WORD)
#undef INTERNAL_WORD
        {"auto", INTERNALS_ALL},
    {"proven", INTERNALS_ALL},
    {"safe", INTERNALS_SAFE},
    {"none", 0},
};

static void set_file(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_file(parse, key, value, parse->options->file, sizeof parse->options->file);
}

static void set_events(struct option_parse *parse, const char *key, const char *value)
{
    uint32_t phase = parse->options->events & EVENT_PHASE;
    parse->options->events =
        option_parse_words(parse, key, value, OPTION_WORDS(event_words)) | phase;
}

static void set_engine(struct option_parse *parse, const char *key, const char *value)
{
    parse->options->engine_named =
        option_parse_word(parse, key, value, OPTION_WORDS(engine_words), &parse->options->engine);
}

static void set_ring(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(ring_words), &parse->options->ring);
}

static void set_overflow(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(overflow_words), &parse->options->overflow);
}

static void set_clock(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(clock_words), &parse->options->clock);
}

static void set_switch(struct option_parse *parse, const char *key, const char *value, bool *out)
{
    uint32_t on = 0;
    if (option_parse_word(parse, key, value, OPTION_WORDS(switch_words), &on))
        *out = on != 0;
}

static void set_named(struct option_parse *parse, enum option_named bit, bool on)
{
    parse->options->named &= ~(uint32_t) bit;
    parse->options->named |= on ? (uint32_t) bit : 0;
}

static void set_existing(struct option_parse *parse, const char *key, const char *value)
{
    set_switch(parse, key, value, &parse->options->existing);
    set_named(parse, NAMED_EXISTING, parse->options->existing);
}

static void set_gentle(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(gentle_words), &parse->options->gentle);
}

static void set_layout(struct option_parse *parse, const char *key, const char *value)
{
    set_switch(parse, key, value, &parse->options->layout);
}

static void set_required(struct option_parse *parse, const char *key, const char *value)
{
    set_switch(parse, key, value, &parse->options->required);
}

static void set_overwrite(struct option_parse *parse, const char *key, const char *value)
{
    set_switch(parse, key, value, &parse->options->overwrite);
}

static void set_mode(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_mode(parse, key, value, &parse->options->mode);
}

static void set_resolution(struct option_parse *parse, const char *key, const char *value)
{
    if (strcmp(value, "none") == 0)
        parse->options->resolution_ns = 0;
    else
        option_parse_quantity(parse, key, value, &option_times, 1, 1000000000,
                              &parse->options->resolution_ns);
}

static void set_limit(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_sizes, 1 << 16, INT64_MAX,
                          &parse->options->limit_bytes);
}

static void set_finish(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_periods, 0, UINT64_C(86400000000000),
                          &parse->options->finish_ns);
}

static void set_buffer(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_sizes, 1 << 20, UINT64_C(1) << 40,
                          &parse->options->buffer_bytes);
}

static void set_memory(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_sizes, UINT64_C(8) << 20, UINT64_C(1) << 40,
                          &parse->options->memory_bytes);
}

static void add_snapshot(struct option_parse *parse, const char *key, const char *word)
{
    static const char every[] = "every:";
    struct options *options = parse->options;
    if (strcmp(word, "start") == 0)
        options->snapshots |= SNAPSHOT_START;
    else if (strcmp(word, "end") == 0)
        options->snapshots |= SNAPSHOT_END;
    else if (strncmp(word, every, sizeof every - 1) == 0)
        option_parse_quantity(parse, key, word + sizeof every - 1, &option_periods, 1000000,
                              UINT64_C(86400000000000), &options->snapshot_every_ns);
    else {
        log_message("option %s: '%s' is none of start, end, every:TIME", key, word);
        parse->faults++;
    }
}

static void set_snapshot(struct option_parse *parse, const char *key, const char *value)
{
    parse->options->snapshots = 0;
    parse->options->snapshot_every_ns = 0;
    for (const char *at = value;;) {
        char word[64];
        size_t length = strcspn(at, "+");
        snprintf(word, sizeof word, "%.*s", (int) length, at);
        add_snapshot(parse, key, word);
        if (at[length] == '\0')
            return;
        at += length + 1;
    }
}

static void set_collect(struct option_parse *parse, const char *key, const char *value)
{
    parse->options->collects = true;
    option_parse_quantity(parse, key, value, &option_sizes, 0, UINT64_C(1) << 40,
                          &parse->options->collect_every_bytes);
}

static void set_level(struct option_parse *parse, const char *key, const char *value)
{
    uint64_t level = 0;
    option_parse_quantity(parse, key, value, &option_numbers, 1, 19, &level);
    parse->options->level = (uint32_t) level;
}

static void set_stack(struct option_parse *parse, const char *key, const char *value)
{
    uint64_t depth = 0;
    option_parse_quantity(parse, key, value, &option_numbers, 0, OPTION_STACK_MAX, &depth);
    parse->options->stack = (uint32_t) depth;
    set_named(parse, NAMED_STACK, true);
}

static void set_places(struct option_parse *parse, const char *key, const char *value)
{
    uint32_t places = 0;
    if (option_parse_word(parse, key, value, OPTION_WORDS(place_words), &places))
        parse->options->indexes = places != 0;
}

static void set_sample(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_sizes, 1, UINT64_C(1) << 30,
                          &parse->options->sample_bytes);
    set_named(parse, NAMED_SAMPLE, true);
}

static void set_rate(struct option_parse *parse, const char *key, const char *value)
{
    if (strcmp(value, "none") == 0)
        parse->options->rate = 0;
    else
        option_parse_quantity(parse, key, value, &option_counts, 1, 1000000, &parse->options->rate);
    set_named(parse, NAMED_SAMPLE, true);
}

static void set_live(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_counts, 100, 10000000, &parse->options->live);
    set_named(parse, NAMED_SAMPLE, true);
}

static void set_rotate(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_periods, UINT64_C(1000000000),
                          UINT64_C(30) * 86400 * 1000000000, &parse->options->rotate_ns);
    set_named(parse, NAMED_SAMPLE, true);
}

static void set_keep(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_numbers, 2, 10000, &parse->options->keep);
    set_named(parse, NAMED_KEEP, true);
}

static void set_window(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_quantity(parse, key, value, &option_periods, UINT64_C(1000000),
                          UINT64_C(3600) * 1000000000, &parse->options->window_ns);
}

static void set_walk(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(walk_words), &parse->options->walk);
}

static void set_include(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_globs(parse, key, value, &parse->options->include, false);
}

static void set_exclude(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_globs(parse, key, value, &parse->options->exclude, false);
}

static void set_start(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_globs(parse, key, value, &parse->options->start_at, true);
}

static void set_stop(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_globs(parse, key, value, &parse->options->stop_at, true);
}

static void add_phase(struct option_parse *parse, const char *key, const char *item)
{
    static const char of_program[] = "program:";
    struct options *options = parse->options;
    size_t length = sizeof of_program - 1;
    if (strcmp(item, "auto") == 0)
        options->phases_known = true;
    else if (strcmp(item, "none") == 0)
        options->phases = false;
    else if (strncmp(item, of_program, length) == 0 && item[length] != '\0')
        option_parse_globs(parse, key, item + length, &options->program_phase_at, true);
    else
        option_parse_globs(parse, key, item, &options->phase_at, true);
}

static void set_phase(struct option_parse *parse, const char *key, const char *value)
{
    char items[OPTION_TEXT];
    struct options *options = parse->options;
    if ((options->events & EVENT_PHASE) == 0)
        options->phases_known = false;
    options->events |= EVENT_PHASE;
    options->phases = true;
    snprintf(items, sizeof items, "%s", value);
    for (char *rest = NULL, *item = strtok_r(items, "+", &rest); item != NULL;
         item = strtok_r(NULL, "+", &rest))
        add_phase(parse, key, item);
    if (!options->phases)
        options->events &= ~(uint32_t) EVENT_PHASE;
}

/* auto, proven, safe and none cannot be combined with other words. */
static void set_internals(struct option_parse *parse, const char *key, const char *value)
{
    struct options *options = parse->options;
    size_t all = sizeof internal_words / sizeof internal_words[0];
    size_t count = strchr(value, '+') != NULL ? (size_t) INTERNAL_COUNT : all;
    options->internals = option_parse_words(parse, key, value, internal_words, count);
    options->internals_proven = strcmp(value, "proven") == 0;
}

static void set_method(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(method_words), &parse->options->method);
}

static void parse_file(struct option_parse *parse, const char *key, const char *path);

static void set_options_file(struct option_parse *parse, const char *key, const char *value)
{
    parse_file(parse, key, value);
}

const struct option option_table[] = {
    {"file", "NAME", OPTION_FILE_DEFAULT,
     "the trace; %p is the process id, %t the time, %h the host, %% a %", set_file, true},
    {"overwrite", "yes|no", "no",
     "replace the user's own trace of that name; no: take NAME.2.step, NAME.3.step..",
     set_overwrite, true},
    {"mode", "600..666", "600", "permissions of the files, octal; the umask does not matter",
     set_mode, true},
    {"events", "class+alloc+free+thread+method+reference|all", "class+alloc+free+thread",
     "what is recorded", set_events, false},
    {"engine", "bytecode|jvmti|sampled", "bytecode",
     "how the JVM is observed; sampled: a sample of the objects", set_engine, false},
    {"sample", "1..1g", "512k",
     "engine=sampled: bytes allocated from one sample to the next, on average", set_sample, false},
    {"rate", "1..1m|none", "none",
     "engine=sampled: samples a second, about; the interval grows when there are more", set_rate,
     false},
    {"live", "100..10m", "100k",
     "engine=sampled: objects whose deaths are awaited at a time; others are given up", set_live,
     false},
    {"rotate", "1s..43200min", "none",
     "engine=sampled: a new file after each such time: NAME.000001.step, NAME.000002.step..",
     set_rotate, false},
    {"keep", "2..10000", "12", "with rotate: files that stay; older ones are removed", set_keep,
     false},
    {"window", "1ms..60min", "none",
     "in a JVM that records a sample: all objects for this time, then the sample again", set_window,
     false},
    {"resolution", "1ns..1s|none", "1us", "of the time stamps that are stored; none: no times",
     set_resolution, false},
    {"existing", "yes|no", "yes", "report the objects that exist when tracing starts", set_existing,
     false},
    {"gentle", "auto|yes|no", "auto",
     "in a running JVM: change loaded classes in slices, with pauses between", set_gentle, false},
    {"layout", "yes|no", "no",
     "record fields of classes and lengths of arrays, for `steptrace layout`", set_layout, false},
    {"stack", "0..1024", "0; sampled: 16", "frames of the call stack that each allocation gets",
     set_stack, true},
    {"places", "line|bytecode", "line",
     "bytecode: frames have their bytecode index as well, for `steptrace escape`", set_places,
     false},
    {"walk", "auto|jvmti|check", "auto", "how call stacks are found; check: both ways, compared",
     set_walk, false},
    {"include", "GLOB+GLOB..", "the application's",
     "classes whose methods are traced; ** takes all", set_include, false},
    {"exclude", "GLOB+GLOB..", "none", "classes whose methods are not traced", set_exclude, false},
    {"method", "events|count", "events",
     "count: the calls and time of each method, at the end, not its events", set_method, false},
    {"start", "CLASS.METHOD+..", "none", "the trace begins when such a method is entered",
     set_start, false},
    {"stop", "CLASS.METHOD+..", "none", "the trace ends when such a method has returned", set_stop,
     false},
    {"phase", "auto|none|CLASS.METHOD+..", "auto",
     "calls of such a method are phases; program:CLASS.METHOD: of the whole program", set_phase,
     false},
    {"snapshot", "start+end+every:TIME", "none",
     "all references and roots of the heap, at these moments", set_snapshot, false},
    {"collect", "0|SIZE", "none",
     "a collection after each that many bytes allocated; 0: after each object", set_collect, false},
    {"overflow", "block|drop", "block", "when the buffers are full: wait, or lose and count",
     set_overflow, true},
    {"buffer", "SIZE", "64m", "how much the buffers may hold", set_buffer, true},
    {"memory", "SIZE", "none",
     "how much the agent may take in all, buffers included; else the trace ends, not the program",
     set_memory, false},
    {"ring", "memory|file", "memory", "where the buffers are: file: in NAME.live, mapped", set_ring,
     false},
    {"limit", "SIZE", "none", "the trace ends, not the program, at this file size", set_limit,
     true},
    {"finish", "TIME", "5s",
     "how long the JVM's end waits for the trace; the rest stays in NAME.live", set_finish, false},
    {"level", "1..19", "3", "of the compression", set_level, true},
    {"clock", "auto|tsc|monotonic", "auto", "where time stamps come from", set_clock, false},
    {"internals", "auto|proven|safe|none|NAME+NAME..", "auto",
     "which parts of the JVM are used that no specification promises", set_internals, false},
    {"required", "yes|no", "no", "what cannot be traced does not run", set_required, true},
    {"options", "FILE", "none", "read options from a file, one or more a line", set_options_file,
     true},
};

const size_t option_count = sizeof option_table / sizeof option_table[0];

void options_event_names(uint32_t events, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof event_words / sizeof event_words[0] && used < out_size; i++)
        if (event_words[i].value != EVENT_ALL && (events & event_words[i].value) != 0)
            used += (size_t) snprintf(out + used, out_size - used, "%s%s", used == 0 ? "" : "+",
                                      event_words[i].name);
}

/* ---- parsing ---- */

/* Handles words without a value: help, and commands to an agent in a running JVM. Returns false for
 * other words. */
static bool take_command(struct option_parse *parse, const char *word)
{
    uint32_t command;
    if (parse->only_shared)
        return false;
    if (strcmp(word, "help") == 0)
        return parse->options->help = true;
    if (!option_find_word(OPTION_WORDS(command_words), word, strlen(word), &command))
        return false;
    parse->options->command = command;
    return parse->options->command_named = true;
}

static bool parse_value(struct option_parse *parse, const char *key, const char *value)
{
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(option_table[i].key, key) == 0 &&
            (option_table[i].shared || !parse->only_shared)) {
            option_table[i].set(parse, key, value);
            return true;
        }
    }
    return false;
}

static const char *nearest_key(const struct option_parse *parse, const char *typed)
{
    const char *nearest = NULL;
    size_t least = NEAREST_WORD_CHANGES + 1;
    for (size_t i = 0; i < option_count; i++)
        if ((option_table[i].shared || !parse->only_shared) &&
            nearest_word_improves(typed, option_table[i].key, &least))
            nearest = option_table[i].key;
    return nearest;
}

static void parse_pair(struct option_parse *parse, char *pair)
{
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!(equals != NULL ? parse_value(parse, pair, equals + 1) : take_command(parse, pair))) {
        const char *nearest = nearest_key(parse, pair);
        parse->faults++;
        if (nearest != NULL && strcmp(nearest, pair) == 0) {
            log_message("option '%s' lacks its value: %s=... (try help)", pair, pair);
            return;
        }
        log_message("option '%s' is unknown%s%s%s (try help)", pair,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
    }
}

void options_parse_text(struct option_parse *parse, char *text, const char *separators)
{
    for (char *rest = NULL, *pair = strtok_r(text, separators, &rest); pair != NULL;
         pair = strtok_r(NULL, separators, &rest))
        parse_pair(parse, pair);
}

/* Returns the file's text with a terminating 0 byte, to be freed by the caller. On failure returns
 * NULL and sets errno, to 0 if the file is too large or no text. */
static char *read_text(const char *path)
{
    errno = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *text = malloc(FILE_BYTES_MOST);
    size_t length = text != NULL ? fread(text, 1, FILE_BYTES_MOST, file) : 0;
    fclose(file);
    errno = 0;
    if (text == NULL || length == FILE_BYTES_MOST || memchr(text, '\0', length) != NULL) {
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

/* Blanks text from # to the end of the line. */
static void blank_comments(char *text)
{
    for (char *hash = strchr(text, '#'); hash != NULL; hash = strchr(hash, '#'))
        memset(hash, ' ', strcspn(hash, "\n"));
}

static void parse_file(struct option_parse *parse, const char *key, const char *path)
{
    errno = 0;
    char *text = parse->file_depth < FILE_DEPTH_MOST ? read_text(path) : NULL;
    if (text == NULL) {
        log_message("option %s: '%s' cannot be read: %s", key, path,
                    errno != 0 ? strerror(errno) : "too large or no text");
        parse->faults++;
        return;
    }
    blank_comments(text);
    parse->file_depth++;
    options_parse_text(parse, text, ", \t\r\n");
    parse->file_depth--;
    free(text);
}
