/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of options, of a command line or of a file, by the table of options. */
#include "agent/base/option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "capture/log.h"
#include "format/core/nearest_word.h"

#define FILE_BYTES_MOST 65536
#define FILE_DEPTH_MOST 4

/* Handles words without a value: help, and commands to an agent in a running JVM. Returns false for
 * other words. */
static bool take_command(struct option_parse *parse, const char *word)
{
    if (strcmp(word, "help") == 0)
        return parse->options->help = true;
    return !parse->only_shared && option_table_find_command(word, &parse->options->command);
}

/* Returns the file's text with a terminating 0 byte, to be freed by the caller. On failure returns
 * NULL and sets errno, to 0 if the file is too large, or not a text file. */
static char *option_text_of_file(const char *path)
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

static void option_text_parse(struct option_parse *parse, char *text, const char *separators);

static void option_text_read_file(struct option_parse *parse, const char *key, const char *path)
{
    errno = 0;
    char *text = parse->file_depth < FILE_DEPTH_MOST ? option_text_of_file(path) : NULL;
    if (text == NULL) {
        log_message("option %s: '%s' cannot be read: %s", key, path,
                    errno != 0 ? strerror(errno) : "too large, or not a text file");
        parse->faults++;
        return;
    }
    blank_comments(text);
    parse->file_depth++;
    option_text_parse(parse, text, ", \t\r\n");
    parse->file_depth--;
    free(text);
}

static bool parse_value(struct option_parse *parse, const char *key, const char *value)
{
    for (size_t i = 0; i < option_count; i++) {
        if (strcmp(option_table[i].key, key) == 0 &&
            (option_table[i].shared || !parse->only_shared)) {
            if (option_table[i].set != NULL)
                option_table[i].set(parse, &option_table[i], value);
            else
                option_text_read_file(parse, option_table[i].key, value);
            parse->options->named |= option_table[i].named;
            return true;
        }
    }
    return false;
}

static const char *option_key_at(const void *parse, size_t i)
{
    bool only_shared = ((const struct option_parse *) parse)->only_shared;
    return option_table[i].shared || !only_shared ? option_table[i].key : NULL;
}

static bool is_trace_name(const char *text)
{
    static const char ending[] = ".step";
    size_t length = strlen(text);
    return length >= sizeof ending && strcmp(text + length - (sizeof ending - 1), ending) == 0;
}

static void parse_pair(struct option_parse *parse, char *pair)
{
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!(equals != NULL ? parse_value(parse, pair, equals + 1) : take_command(parse, pair))) {
        const char *nearest = nearest_word_of(pair, option_key_at, parse, option_count);
        parse->faults++;
        if (nearest != NULL && strcmp(nearest, pair) == 0) {
            log_message("option '%s' has no value: write %s=... (try help)", pair, pair);
            return;
        }
        if (equals == NULL && is_trace_name(pair)) {
            log_message("option '%s' is unknown; did you mean 'file=%s'? (try help)", pair, pair);
            return;
        }
        log_message("option '%s' is unknown%s%s%s (try help)", pair,
                    nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'?" : "");
    }
}

/* Parses `key=value` pairs and commands in `text`, which are separated by any of `separators`, and
 * modifies `text`. Logs and counts faults. */
static void option_text_parse(struct option_parse *parse, char *text, const char *separators)
{
    for (char *rest = NULL, *pair = strtok_r(text, separators, &rest); pair != NULL;
         pair = strtok_r(NULL, separators, &rest))
        parse_pair(parse, pair);
}

/* Returns false if the text is too long; counts other faults. */
static bool parse_text(struct option_parse *parse, const char *text)
{
    struct options *options = parse->options;
    option_table_defaults(options);
    option_parse_file(parse, "file", OPTION_FILE_DEFAULT, options->file, sizeof options->file);
    if (text != NULL && strlen(text) >= sizeof options->text) {
        log_message("the options are longer than %zu characters; use options=FILE",
                    sizeof options->text - 1);
        return false;
    }
    if (text != NULL) {
        char copy[sizeof options->text];
        snprintf(options->text, sizeof options->text, "%s", text);
        snprintf(copy, sizeof copy, "%s", text);
        option_text_parse(parse, copy, ",");
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
    option_rules_apply(&parse);
    return parse.faults == 0;
}

static uint64_t smaller_limit(uint64_t wanted, uint64_t limit)
{
    return limit != 0 && (wanted == 0 || wanted > limit) ? limit : wanted;
}

bool options_limit(struct options *options, const struct options *limits)
{
    options->max_cpu = smaller_limit(options->max_cpu, limits->max_cpu);
    options->max_pause_ns = smaller_limit(options->max_pause_ns, limits->max_pause_ns);
    options->memory_bytes = smaller_limit(options->memory_bytes, limits->memory_bytes);
    options->limit_bytes = smaller_limit(options->limit_bytes, limits->limit_bytes);
    options->redact |= limits->redact;
    return option_rules_memory_suffices(options);
}

/* ---- commands to a dormant agent ---- */

static uint32_t named_by(const char *pair, size_t length)
{
    for (size_t i = 0; i < option_count; i++)
        if (strlen(option_table[i].key) == length && memcmp(option_table[i].key, pair, length) == 0)
            return option_table[i].named;
    return 0;
}

/* Appends the pairs of `text`, without those of an engine. */
static void append_without_engine(char *out, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, ",");
        if ((named_by(at, strcspn(at, "=,")) & NAMED_OF_ENGINE) == 0)
            strcat(strncat(out, at, length), ",");
        at += length + (at[length] == ',');
    }
}

/* A part of the options says what it is about, before the rules for the whole are looked at. */
static bool options_read(struct options *options, const char *text)
{
    struct option_parse parse = {.options = options};
    return parse_text(&parse, text) && parse.faults == 0;
}

/* The command comes after the defaults, so that its options count. */
static bool parse_both(struct options *options, const struct options *defaults, const char *text,
                       bool of_engine)
{
    char *both = calloc(1, strlen(defaults->text) + strlen(text) + 3);
    if (both == NULL)
        return false;
    if (of_engine)
        strcat(strcpy(both, defaults->text), ",");
    else
        append_without_engine(both, defaults->text);
    bool parsed = options_parse(options, strcat(both, text));
    free(both);
    return parsed;
}

bool options_parse_command(struct options *options, const struct options *defaults,
                           const char *text)
{
    text = text != NULL ? text : "";
    if (!options_read(options, text))
        return false;
    if (options->help || options->command != COMMAND_START)
        return options_parse(options, text);
    bool is_window = options->window_ns != 0;
    bool of_engine = (options->named & NAMED_ENGINE) == 0 || options->engine == defaults->engine;
    bool parsed =
        is_window ? options_parse(options, text) : parse_both(options, defaults, text, of_engine);
    if (parsed && options->command == COMMAND_DORMANT)
        options->command = COMMAND_START;
    return parsed && options_limit(options, defaults);
}

struct options *options_copy(const struct options *options)
{
    struct options *copy = malloc(sizeof *copy);
    if (copy != NULL)
        *copy = *options;
    return copy;
}
