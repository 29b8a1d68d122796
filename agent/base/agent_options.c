/* SPDX-License-Identifier: Apache-2.0 */
/* One table of options: parsing, help and faults all go by it. */
#include "agent/base/agent_options.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/internals.h"
#include "capture/log.h"

#define OPTIONS_FILE_LIMIT 65536
#define OPTIONS_FILE_DEPTH 4
#define DEFAULT_FILE "steptrace-%p.step"

/* State of one parse: faults are counted and the rest is read on. */
struct parse {
    struct options *options;
    unsigned faults;
    unsigned file_depth;
    bool only_shared;
};

struct word {
    const char *name;
    uint32_t value;
};

static const struct word event_words[] = {
    {"class", EVENT_CLASS},   {"alloc", EVENT_ALLOC},   {"free", EVENT_FREE},
    {"thread", EVENT_THREAD}, {"method", EVENT_METHOD}, {"reference", EVENT_REFERENCE},
    {"all", EVENT_ALL},
};
static const struct word engine_words[] = {{"jvmti", ENGINE_JVMTI}, {"bytecode", ENGINE_BYTECODE}};
static const struct word overflow_words[] = {{"block", OVERFLOW_BLOCK}, {"drop", OVERFLOW_DROP}};
static const struct word clock_words[] = {
    {"auto", CLOCK_AUTO}, {"tsc", CLOCK_TSC}, {"monotonic", CLOCK_MONOTONIC_NS}};
static const struct word walk_words[] = {
    {"auto", WALK_AUTO}, {"jvmti", WALK_JVMTI}, {"check", WALK_CHECK}};
static const struct word switch_words[] = {{"yes", 1}, {"no", 0}};
static const struct word method_words[] = {{"events", METHOD_EVENTS}, {"count", METHOD_COUNT}};
static const struct word command_words[] = {{"start", COMMAND_START},
                                            {"stop", COMMAND_STOP},
                                            {"flush", COMMAND_FLUSH},
                                            {"status", COMMAND_STATUS},
                                            {"snapshot", COMMAND_SNAPSHOT}};

#define WORDS(table) table, sizeof table / sizeof table[0]

static bool find_word(const struct word *words, size_t count, const char *text, size_t length,
                      uint32_t *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, text, length) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

static void list_words(const struct word *words, size_t count, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < out_size; i++)
        used += (size_t) snprintf(out + used, out_size - used, "%s%s", i == 0 ? "" : ", ",
                                  words[i].name);
}

static bool parse_word(struct parse *parse, const char *key, const char *value,
                       const struct word *words, size_t count, uint32_t *out)
{
    if (find_word(words, count, value, strlen(value), out))
        return true;
    char known[256];
    list_words(words, count, known, sizeof known);
    log_message("option %s: '%s' is none of %s", key, value, known);
    parse->faults++;
    return false;
}

/* A number and a unit of the table, as 64m or 2us. */
struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {{"", 1},
                                         {"k", UINT64_C(1) << 10},
                                         {"m", UINT64_C(1) << 20},
                                         {"g", UINT64_C(1) << 30},
                                         {"t", UINT64_C(1) << 40}};
static const struct unit time_units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}};
static const struct unit period_units[] = {
    {"ms", 1000000}, {"s", 1000000000}, {"min", UINT64_C(60000000000)}};

static void parse_quantity(struct parse *parse, const char *key, const char *value,
                           const struct unit *units, size_t count, uint64_t least, uint64_t most,
                           uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = value[0] >= '0' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
    for (size_t i = 0; end != NULL && errno == 0 && i < count; i++) {
        if (strcasecmp(end, units[i].name) != 0)
            continue;
        uint64_t scaled;
        if (__builtin_mul_overflow((uint64_t) number, units[i].factor, &scaled) || scaled < least ||
            scaled > most)
            break;
        *out = scaled;
        return;
    }
    log_message("option %s: '%s' is not a number from %" PRIu64 " to %" PRIu64 " with a unit (%s)",
                key, value, least, most,
                units == size_units     ? "k, m, g, t"
                : units == period_units ? "ms, s, min"
                                        : "ns, us, ms");
    parse->faults++;
}

static void parse_events(struct parse *parse, const char *key, const char *value)
{
    uint32_t events = 0;
    for (const char *at = value;;) {
        size_t length = strcspn(at, "+");
        uint32_t bits = 0;
        if (find_word(WORDS(event_words), at, length, &bits)) {
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

static const struct word internal_words[] = {
#define INTERNAL_WORD(name, text, proves) {text, UINT32_C(1) << INTERNAL_##name},
    INTERNALS(INTERNAL_WORD)
#undef INTERNAL_WORD
        {"auto", INTERNALS_ALL},
    {"proven", INTERNALS_ALL},
    {"none", 0},
};

/* auto, proven and none stand alone. */
static void parse_internals(struct parse *parse, const char *key, const char *value)
{
    struct options *options = parse->options;
    bool is_list = strchr(value, '+') != NULL;
    uint32_t allowed = 0;
    for (const char *at = value;;) {
        size_t length = strcspn(at, "+");
        uint32_t bits = 0, all = (uint32_t) (sizeof internal_words / sizeof internal_words[0]);
        if (find_word(internal_words, is_list ? INTERNAL_COUNT : all, at, length, &bits)) {
            allowed |= bits;
        } else {
            char known[256];
            list_words(internal_words, is_list ? INTERNAL_COUNT : all, known, sizeof known);
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

static void append_expanded(char *out, size_t *used, const char *text)
{
    size_t length = strlen(text);
    if (*used + length < OPTION_TEXT) {
        memcpy(out + *used, text, length + 1);
        *used += length;
    }
}

/* %p process id, %t seconds since 1970, %h host name, %% a percent sign. */
static void parse_file(struct parse *parse, const char *key, const char *value)
{
    char *out = parse->options->file;
    size_t used = 0;
    out[0] = '\0';
    if (value[0] == '\0' || strlen(value) > PATH_MAX - 512) {
        log_message("option %s: a file name is expected", key);
        parse->faults++;
        return;
    }
    for (const char *at = value; *at != '\0'; at++) {
        char text[HOST_NAME_MAX + 32] = {*at, '\0'};
        if (*at == '%') {
            at++;
            if (*at == 'p')
                snprintf(text, sizeof text, "%ld", (long) getpid());
            else if (*at == 't')
                snprintf(text, sizeof text, "%lld", (long long) time(NULL));
            else if (*at == 'h')
                text[gethostname(text, sizeof text - 1) == 0 ? HOST_NAME_MAX : 0] = '\0';
            else if (*at != '%') {
                log_message("option %s: '%%%c' is none of %%p, %%t, %%h, %%%%", key,
                            *at != '\0' ? *at : ' ');
                parse->faults++;
                return;
            }
        }
        append_expanded(out, &used, text);
    }
}

/* "a.b.C.m" to "a/b/C" and "m"; false: no method is named. */
static bool split_method(char *glob)
{
    char *dot = strrchr(glob, '.');
    if (dot == NULL || dot == glob || dot[1] == '\0' || strchr(dot, '/') != NULL)
        return false;
    *dot = '\0';
    return true;
}

static void to_slashes(char *glob)
{
    for (char *dot = strchr(glob, '.'); dot != NULL; dot = strchr(dot, '.'))
        *dot = '/';
}

static void parse_globs(struct parse *parse, const char *key, const char *value,
                        struct glob_list *list, bool of_methods)
{
    struct options *options = parse->options;
    size_t length = strlen(value) + 1;
    if (options->globs_used + length > sizeof options->globs_text) {
        log_message("option %s: the patterns are too long", key);
        parse->faults++;
        return;
    }
    char *text = options->globs_text + options->globs_used;
    memcpy(text, value, length);
    options->globs_used += length;
    for (char *rest = NULL, *glob = strtok_r(text, "+", &rest); glob != NULL;
         glob = strtok_r(NULL, "+", &rest)) {
        if (list->count == OPTION_GLOBS) {
            log_message("option %s: more than %d patterns", key, OPTION_GLOBS);
            parse->faults++;
            return;
        }
        if (of_methods && !split_method(glob)) {
            log_message("option %s: '%s' is no CLASS.METHOD", key, glob);
            parse->faults++;
            return;
        }
        to_slashes(glob);
        list->at[list->count++] = (uint32_t) (glob - options->globs_text);
    }
}

static void set_file(struct parse *parse, const char *key, const char *value)
{
    parse_file(parse, key, value);
}

static void set_events(struct parse *parse, const char *key, const char *value)
{
    parse_events(parse, key, value);
}

static void set_engine(struct parse *parse, const char *key, const char *value)
{
    parse_word(parse, key, value, WORDS(engine_words), &parse->options->engine);
}

static void set_overflow(struct parse *parse, const char *key, const char *value)
{
    parse_word(parse, key, value, WORDS(overflow_words), &parse->options->overflow);
}

static void set_clock(struct parse *parse, const char *key, const char *value)
{
    parse_word(parse, key, value, WORDS(clock_words), &parse->options->clock);
}

static void set_existing(struct parse *parse, const char *key, const char *value)
{
    uint32_t on = 0;
    if (parse_word(parse, key, value, WORDS(switch_words), &on))
        parse->options->existing = on != 0;
}

static void set_required(struct parse *parse, const char *key, const char *value)
{
    uint32_t on = 0;
    if (parse_word(parse, key, value, WORDS(switch_words), &on))
        parse->options->required = on != 0;
}

static void set_resolution(struct parse *parse, const char *key, const char *value)
{
    if (strcmp(value, "none") == 0)
        parse->options->resolution_ns = 0;
    else
        parse_quantity(parse, key, value, time_units, 3, 1, 1000000000,
                       &parse->options->resolution_ns);
}

static void set_limit(struct parse *parse, const char *key, const char *value)
{
    parse_quantity(parse, key, value, size_units, 5, 1 << 16, INT64_MAX,
                   &parse->options->limit_bytes);
}

static void set_finish(struct parse *parse, const char *key, const char *value)
{
    parse_quantity(parse, key, value, period_units, 3, 0, UINT64_C(86400000000000),
                   &parse->options->finish_ns);
}

static void set_buffer(struct parse *parse, const char *key, const char *value)
{
    parse_quantity(parse, key, value, size_units, 5, 1 << 20, UINT64_C(1) << 40,
                   &parse->options->buffer_bytes);
}

static void add_snapshot(struct parse *parse, const char *key, const char *word)
{
    static const char every[] = "every:";
    struct options *options = parse->options;
    if (strcmp(word, "start") == 0)
        options->snapshots |= SNAPSHOT_START;
    else if (strcmp(word, "end") == 0)
        options->snapshots |= SNAPSHOT_END;
    else if (strncmp(word, every, sizeof every - 1) == 0)
        parse_quantity(parse, key, word + sizeof every - 1, period_units, 3, 1000000,
                       UINT64_C(86400000000000), &options->snapshot_every_ns);
    else {
        log_message("option %s: '%s' is none of start, end, every:TIME", key, word);
        parse->faults++;
    }
}

static void set_snapshot(struct parse *parse, const char *key, const char *value)
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

static void set_collect(struct parse *parse, const char *key, const char *value)
{
    parse->options->collects = true;
    parse_quantity(parse, key, value, size_units, 5, 0, UINT64_C(1) << 40,
                   &parse->options->collect_every_bytes);
}

static void set_level(struct parse *parse, const char *key, const char *value)
{
    static const struct unit plain[] = {{"", 1}};
    uint64_t level = 0;
    parse_quantity(parse, key, value, plain, 1, 1, 19, &level);
    parse->options->level = (uint32_t) level;
}

static void set_stack(struct parse *parse, const char *key, const char *value)
{
    static const struct unit plain[] = {{"", 1}};
    uint64_t depth = 0;
    parse_quantity(parse, key, value, plain, 1, 0, OPTION_STACK_MAX, &depth);
    parse->options->stack = (uint32_t) depth;
}

static void set_walk(struct parse *parse, const char *key, const char *value)
{
    parse_word(parse, key, value, WORDS(walk_words), &parse->options->walk);
}

static void set_include(struct parse *parse, const char *key, const char *value)
{
    parse_globs(parse, key, value, &parse->options->include, false);
}

static void set_exclude(struct parse *parse, const char *key, const char *value)
{
    parse_globs(parse, key, value, &parse->options->exclude, false);
}

static void set_start(struct parse *parse, const char *key, const char *value)
{
    parse_globs(parse, key, value, &parse->options->start_at, true);
}

static void set_stop(struct parse *parse, const char *key, const char *value)
{
    parse_globs(parse, key, value, &parse->options->stop_at, true);
}

static void set_internals(struct parse *parse, const char *key, const char *value)
{
    parse_internals(parse, key, value);
}

static void set_method(struct parse *parse, const char *key, const char *value)
{
    parse_word(parse, key, value, WORDS(method_words), &parse->options->method);
}

static void set_options_file(struct parse *parse, const char *key, const char *value);

static const struct option {
    const char *key;
    const char *values;
    const char *fallback;
    const char *meaning;
    void (*set)(struct parse *parse, const char *key, const char *value);
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

static bool parse_command(struct parse *parse, const char *word)
{
    uint32_t command;
    if (parse->only_shared)
        return false;
    if (strcmp(word, "help") == 0)
        return parse->options->help = true;
    if (!find_word(WORDS(command_words), word, strlen(word), &command))
        return false;
    parse->options->command = command;
    return parse->options->command_named = true;
}

static bool parse_value(struct parse *parse, const char *key, const char *value)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].key, key) == 0 && (table[i].shared || !parse->only_shared)) {
            table[i].set(parse, key, value);
            return true;
        }
    }
    return false;
}

static void parse_pair(struct parse *parse, char *pair)
{
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!(equals != NULL ? parse_value(parse, pair, equals + 1) : parse_command(parse, pair))) {
        log_message("option '%s' is unknown (try help)", pair);
        parse->faults++;
    }
}

static void parse_list(struct parse *parse, char *text, const char *separators)
{
    for (char *rest = NULL, *pair = strtok_r(text, separators, &rest); pair != NULL;
         pair = strtok_r(NULL, separators, &rest))
        parse_pair(parse, pair);
}

static void set_options_file(struct parse *parse, const char *key, const char *value)
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
static bool parse_text(struct parse *parse, const char *text)
{
    struct options *options = parse->options;
    set_defaults(options);
    parse_file(parse, "file", DEFAULT_FILE);
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
    struct parse parse = {.options = options, .only_shared = true};
    return parse_text(&parse, text) && parse.faults == 0;
}

bool options_parse(struct options *options, const char *text)
{
    struct parse parse = {.options = options};
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

/* `*` matches any characters but '/', `**` all, `?` one but '/'. */
static bool glob_matches(const char *glob, const char *text)
{
    for (; *glob != '\0'; glob++, text++) {
        if (*glob == '*') {
            bool deep = glob[1] == '*';
            const char *rest = glob + (deep ? 2 : 1);
            for (;; text++) {
                if (glob_matches(rest, text))
                    return true;
                if (*text == '\0' || (*text == '/' && !deep))
                    return false;
            }
        }
        if (*text == '\0' || (*glob == '?' ? *text == '/' : *glob != *text))
            return false;
    }
    return *text == '\0';
}

static bool any_glob_matches(const struct options *options, const struct glob_list *list,
                             const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (glob_matches(options->globs_text + list->at[i], text))
            return true;
    return false;
}

bool options_trace_class(const struct options *options, const char *class_name)
{
    if (any_glob_matches(options, &options->exclude, class_name))
        return false;
    return options->include.count == 0 || any_glob_matches(options, &options->include, class_name);
}

bool options_names_method(const struct options *options, const struct glob_list *list,
                          const char *class_name, const char *method_name)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *class_glob = options->globs_text + list->at[i];
        if (glob_matches(class_glob, class_name) &&
            (method_name == NULL || glob_matches(class_glob + strlen(class_glob) + 1, method_name)))
            return true;
    }
    return false;
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
