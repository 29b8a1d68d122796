/* SPDX-License-Identifier: Apache-2.0 */
/* One table of options: parsing, help and faults all go by it. */
#include "agent/base/agent_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/internals.h"
#include "agent/base/option_values.h"
#include "capture/log.h"

#define OPTIONS_FILE_LIMIT 65536
#define OPTIONS_FILE_DEPTH 4
#define DEFAULT_FILE "steptrace-%p.step"

static const struct option_word event_words[] = {
    {"class", EVENT_CLASS},   {"alloc", EVENT_ALLOC},   {"free", EVENT_FREE},
    {"thread", EVENT_THREAD}, {"method", EVENT_METHOD}, {"reference", EVENT_REFERENCE},
    {"all", EVENT_ALL},
};
static const struct option_word engine_words[] = {{"jvmti", ENGINE_JVMTI},
                                                  {"bytecode", ENGINE_BYTECODE}};
static const struct option_word overflow_words[] = {{"block", OVERFLOW_BLOCK},
                                                    {"drop", OVERFLOW_DROP}};
static const struct option_word clock_words[] = {
    {"auto", CLOCK_AUTO}, {"tsc", CLOCK_TSC}, {"monotonic", CLOCK_MONOTONIC_NS}};
static const struct option_word walk_words[] = {
    {"auto", WALK_AUTO}, {"jvmti", WALK_JVMTI}, {"check", WALK_CHECK}};
static const struct option_word switch_words[] = {{"yes", 1}, {"no", 0}};
static const struct option_word method_words[] = {{"events", METHOD_EVENTS},
                                                  {"count", METHOD_COUNT}};
static const struct option_word command_words[] = {{"start", COMMAND_START},
                                                   {"stop", COMMAND_STOP},
                                                   {"flush", COMMAND_FLUSH},
                                                   {"status", COMMAND_STATUS},
                                                   {"snapshot", COMMAND_SNAPSHOT}};

static void parse_events(struct option_parse *parse, const char *key, const char *value)
{
    uint32_t events = 0;
    for (const char *at = value;;) {
        size_t length = strcspn(at, "+");
        uint32_t bits = 0;
        if (option_find_word(OPTION_WORDS(event_words), at, length, &bits)) {
            events |= bits;
        } else {
            log_message("option %s: '%.*s' is none of class, alloc, free, thread, method, "
                        "reference, all",
                        key, (int) length, at);
            parse->faults++;
        }
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    parse->options->events = events;
}

static const struct option_word internal_words[] = {
#define INTERNAL_WORD(name, text, proves) {text, UINT32_C(1) << INTERNAL_##name},
    INTERNALS(INTERNAL_WORD)
#undef INTERNAL_WORD
        {"auto", INTERNALS_ALL},
    {"proven", INTERNALS_ALL},
    {"none", 0},
};

/* auto, proven and none stand alone. */
static void parse_internals(struct option_parse *parse, const char *key, const char *value)
{
    struct options *options = parse->options;
    bool is_list = strchr(value, '+') != NULL;
    uint32_t allowed = 0;
    for (const char *at = value;;) {
        size_t length = strcspn(at, "+");
        uint32_t bits = 0, all = (uint32_t) (sizeof internal_words / sizeof internal_words[0]);
        if (option_find_word(internal_words, is_list ? INTERNAL_COUNT : all, at, length, &bits)) {
            allowed |= bits;
        } else {
            char known[256];
            option_list_words(internal_words, is_list ? INTERNAL_COUNT : all, known, sizeof known);
            log_message("option %s: '%.*s' is none of %s", key, (int) length, at, known);
            parse->faults++;
        }
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    options->internals = allowed;
    options->internals_proven = strcmp(value, "proven") == 0;
}

static void set_file(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_file(parse, key, value, parse->options->file, sizeof parse->options->file);
}

static void set_events(struct option_parse *parse, const char *key, const char *value)
{
    parse_events(parse, key, value);
}

static void set_engine(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(engine_words), &parse->options->engine);
}

static void set_overflow(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(overflow_words), &parse->options->overflow);
}

static void set_clock(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(clock_words), &parse->options->clock);
}

static void set_existing(struct option_parse *parse, const char *key, const char *value)
{
    uint32_t on = 0;
    if (option_parse_word(parse, key, value, OPTION_WORDS(switch_words), &on))
        parse->options->existing = on != 0;
}

static void set_required(struct option_parse *parse, const char *key, const char *value)
{
    uint32_t on = 0;
    if (option_parse_word(parse, key, value, OPTION_WORDS(switch_words), &on))
        parse->options->required = on != 0;
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

static void set_internals(struct option_parse *parse, const char *key, const char *value)
{
    parse_internals(parse, key, value);
}

static void set_method(struct option_parse *parse, const char *key, const char *value)
{
    option_parse_word(parse, key, value, OPTION_WORDS(method_words), &parse->options->method);
}

static void set_options_file(struct option_parse *parse, const char *key, const char *value);

static const struct option {
    const char *key;
    const char *values;
    const char *fallback;
    const char *meaning;
    void (*set)(struct option_parse *parse, const char *key, const char *value);
    bool shared; /* with the recorder of native programs; the rest are of Java only */
} table[] = {
    {"file", "NAME", DEFAULT_FILE,
     "the trace; %p is the process id, %t the time, %h the host, %% a %", set_file, true},
    {"events", "class+alloc+free+thread+method+reference|all", "class+alloc+free+thread",
     "what is recorded", set_events, false},
    {"engine", "bytecode|jvmti", "bytecode", "how the JVM is observed", set_engine, false},
    {"resolution", "1ns..1s|none", "1us", "of the time stamps that are stored; none: no times",
     set_resolution, false},
    {"existing", "yes|no", "yes", "report the objects that exist when tracing starts", set_existing,
     false},
    {"stack", "0..1024", "0", "frames of the call stack that each allocation gets", set_stack,
     true},
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
    {"snapshot", "start+end+every:TIME", "none",
     "all references and roots of the heap, at these moments", set_snapshot, false},
    {"collect", "0|SIZE", "none",
     "a collection after each that many bytes allocated; 0: after each object", set_collect, false},
    {"overflow", "block|drop", "block", "when the buffers are full: wait, or lose and count",
     set_overflow, true},
    {"buffer", "SIZE", "64m", "how much the buffers may hold", set_buffer, true},
    {"limit", "SIZE", "none", "the trace ends, not the program, at this file size", set_limit,
     true},
    {"finish", "TIME", "5s",
     "how long the JVM's end waits for the trace; the rest stays in NAME.live", set_finish, false},
    {"level", "1..19", "3", "of the compression", set_level, true},
    {"clock", "auto|tsc|monotonic", "auto", "where time stamps come from", set_clock, false},
    {"internals", "auto|proven|none|NAME+NAME..", "auto",
     "which parts of the JVM are used that no specification promises", set_internals, false},
    {"required", "yes|no", "no", "what cannot be traced does not run", set_required, true},
    {"options", "FILE", "none", "read options from a file, one or more a line", set_options_file,
     true},
};

static bool parse_command(struct option_parse *parse, const char *word)
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
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].key, key) == 0 && (table[i].shared || !parse->only_shared)) {
            table[i].set(parse, key, value);
            return true;
        }
    }
    return false;
}

static void parse_pair(struct option_parse *parse, char *pair)
{
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!(equals != NULL ? parse_value(parse, pair, equals + 1) : parse_command(parse, pair))) {
        log_message("option '%s' is unknown (try help)", pair);
        parse->faults++;
    }
}

static void parse_list(struct option_parse *parse, char *text, const char *separators)
{
    for (char *rest = NULL, *pair = strtok_r(text, separators, &rest); pair != NULL;
         pair = strtok_r(NULL, separators, &rest))
        parse_pair(parse, pair);
}

static void set_options_file(struct option_parse *parse, const char *key, const char *value)
{
    char *text = NULL;
    FILE *file = parse->file_depth < OPTIONS_FILE_DEPTH ? fopen(value, "re") : NULL;
    size_t length = 0;
    if (file != NULL && (text = malloc(OPTIONS_FILE_LIMIT)) != NULL)
        length = fread(text, 1, OPTIONS_FILE_LIMIT, file);
    if (text == NULL || length == OPTIONS_FILE_LIMIT || memchr(text, '\0', length) != NULL) {
        log_message("option %s: '%s' cannot be read: %s", key, value,
                    file == NULL && errno != 0 ? strerror(errno) : "too large or no text");
        parse->faults++;
    } else {
        text[length] = '\0';
        parse->file_depth++;
        /* comments: from # to the end of the line */
        for (char *hash = strchr(text, '#'); hash != NULL; hash = strchr(hash, '#'))
            memset(hash, ' ', strcspn(hash, "\n"));
        parse_list(parse, text, ", \t\r\n");
        parse->file_depth--;
    }
    free(text);
    if (file != NULL)
        fclose(file);
}

static void set_defaults(struct options *options)
{
    memset(options, 0, sizeof *options);
    options->events = EVENT_DEFAULT;
    options->engine = ENGINE_BYTECODE;
    options->existing = true;
    options->resolution_ns = 1000;
    options->buffer_bytes = UINT64_C(64) << 20;
    options->finish_ns = UINT64_C(5000000000);
    options->level = 3;
    options->internals = INTERNALS_ALL;
}

/* False: too long; other faults are counted. */
static bool parse_text(struct option_parse *parse, const char *text)
{
    struct options *options = parse->options;
    set_defaults(options);
    option_parse_file(parse, "file", DEFAULT_FILE, options->file, sizeof options->file);
    if (text != NULL && strlen(text) >= sizeof options->text) {
        log_message("the options are longer than %zu characters; use options=FILE",
                    sizeof options->text - 1);
        return false;
    }
    if (text != NULL) {
        char copy[sizeof options->text];
        snprintf(options->text, sizeof options->text, "%s", text);
        snprintf(copy, sizeof copy, "%s", text);
        parse_list(parse, copy, ",");
    }
    return true;
}

bool options_parse_shared(struct options *options, const char *text)
{
    struct option_parse parse = {.options = options, .only_shared = true};
    return parse_text(&parse, text) && parse.faults == 0;
}

bool options_parse(struct options *options, const char *text)
{
    struct option_parse parse = {.options = options};
    if (!parse_text(&parse, text))
        return false;
    if ((options->events & EVENT_FREE) != 0 && (options->events & EVENT_ALLOC) == 0) {
        log_message("option events: free needs alloc");
        parse.faults++;
    }
    if ((options->events & EVENT_REFERENCE) != 0) {
        options->events |= EVENT_ALLOC | EVENT_FREE;
        if (options->engine != ENGINE_BYTECODE) {
            log_message("option events: reference needs engine=bytecode");
            parse.faults++;
        }
    }
    if (options->collects && options->engine != ENGINE_BYTECODE) {
        log_message("option collect: it needs engine=bytecode");
        parse.faults++;
    }
    if ((options->snapshots != 0 || options->snapshot_every_ns != 0 || options->collects) &&
        (~options->events & (EVENT_ALLOC | EVENT_FREE)) != 0) {
        log_message("options snapshot, collect: they need alloc and free events");
        parse.faults++;
    }
    if (options->resolution_ns == 0 &&
        ((options->events & EVENT_REFERENCE) != 0 || options->snapshots != 0 ||
         options->snapshot_every_ns != 0)) {
        log_message("option resolution: references and snapshots need times");
        parse.faults++;
    }
    if (options->engine != ENGINE_BYTECODE &&
        (options->start_at.count != 0 || options->stop_at.count != 0)) {
        log_message("options start, stop: they need engine=bytecode");
        parse.faults++;
    }
    if (options->method == METHOD_COUNT)
        options->events |= EVENT_METHOD;
    if ((options->events & (EVENT_ALLOC | EVENT_METHOD)) == 0 &&
        (options->start_at.count != 0 || options->stop_at.count != 0)) {
        log_message("options start, stop: they need alloc or method events");
        parse.faults++;
    }
    return parse.faults == 0;
}

void options_print_help(void)
{
    log_message("java -agentpath:/path/to/libtracer.so=key=value,key=value,... records a complete "
                "trace\n\n  %-11s %-34s %-24s %s",
                "option", "values", "default", "meaning");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        fprintf(stderr, "  %-11s %-34s %-24s %s\n", table[i].key, table[i].values,
                table[i].fallback, table[i].meaning);
    fprintf(stderr, "\nLoaded into a running JVM the agent also takes: start, stop, flush, "
                    "status, snapshot\n");
}

void options_event_names(uint32_t events, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof event_words / sizeof event_words[0] && used < out_size; i++)
        if (event_words[i].value != EVENT_ALL && (events & event_words[i].value) != 0)
            used += (size_t) snprintf(out + used, out_size - used, "%s%s", used == 0 ? "" : "+",
                                      event_words[i].name);
}
