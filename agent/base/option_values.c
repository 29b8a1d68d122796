/* SPDX-License-Identifier: Apache-2.0 */
/* Parses words, quantities and file names. */
#include "agent/base/option_values.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/agent_options.h"
#include "capture/log.h"

bool option_find_word(const struct option_word *words, size_t count, const char *text,
                      size_t length, uint32_t *value)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i].name) == length && memcmp(words[i].name, text, length) == 0) {
            *value = words[i].value;
            return true;
        }
    }
    return false;
}

/* "a, b, c" */
static void list_words(const struct option_word *words, size_t count, char *out, size_t out_size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < out_size; i++)
        used += (size_t) snprintf(out + used, out_size - used, "%s%s", i == 0 ? "" : ", ",
                                  words[i].name);
}

static bool parse_part(struct option_parse *parse, const char *key, const char *text, size_t length,
                       const struct option_word *words, size_t count, uint32_t *out)
{
    if (option_find_word(words, count, text, length, out))
        return true;
    char known[256];
    list_words(words, count, known, sizeof known);
    log_message("option %s: '%.*s' is not one of %s", key, (int) length, text, known);
    parse->faults++;
    return false;
}

bool option_parse_word(struct option_parse *parse, const char *key, const char *value,
                       const struct option_word *words, size_t count, uint32_t *out)
{
    return parse_part(parse, key, value, strlen(value), words, count, out);
}

uint32_t option_parse_words(struct option_parse *parse, const char *key, const char *value,
                            const struct option_word *words, size_t count)
{
    uint32_t all = 0;
    for (const char *at = value;; at++) {
        uint32_t bits = 0;
        size_t length = strcspn(at, "+");
        if (parse_part(parse, key, at, length, words, count, &bits))
            all |= bits;
        at += length;
        if (*at == '\0')
            return all;
    }
}

static const struct option_unit size_units[] = {{"", 1},
                                                {"k", UINT64_C(1) << 10},
                                                {"m", UINT64_C(1) << 20},
                                                {"g", UINT64_C(1) << 30},
                                                {"t", UINT64_C(1) << 40}};
static const struct option_unit time_units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}};
static const struct option_unit period_units[] = {{"", 1000000000},
                                                  {"ms", 1000000},
                                                  {"s", 1000000000},
                                                  {"m", UINT64_C(60000000000)},
                                                  {"min", UINT64_C(60000000000)}};
static const struct option_unit stop_units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
static const struct option_unit event_units[] = {{"events", 1}};
static const struct option_unit no_units[] = {{"", 1}};
static const struct option_unit count_units[] = {{"", 1}, {"k", 1000}, {"m", 1000000}};

const struct option_units option_sizes = {"k, m, g, t", 5, size_units};
const struct option_units option_times = {"ns, us, ms", 3, time_units};
const struct option_units option_periods = {"ms, s, m, min; without one, seconds", 5, period_units};
const struct option_units option_stops = {"us, ms, s", 3, stop_units};
const struct option_units option_events = {"events", 1, event_units};
const struct option_units option_numbers = {NULL, 1, no_units};
const struct option_units option_counts = {"k, m", 3, count_units};

/* In the largest unit that leaves no rest: 30 d are 43200min. */
static const char *quantity_text(char *text, size_t room, const struct option_units *units,
                                 uint64_t number)
{
    const struct option_unit *unit = &units->units[0];
    for (size_t i = 1; number > 0 && i < units->count; i++)
        if (number % units->units[i].factor == 0 &&
            (number % unit->factor != 0 || units->units[i].factor >= unit->factor))
            unit = &units->units[i];
    snprintf(text, room, "%" PRIu64 "%s", number / unit->factor, unit->name);
    return text;
}

void option_parse_quantity(struct option_parse *parse, const char *key, const char *value,
                           const struct option_units *units, uint64_t least, uint64_t most,
                           uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = value[0] >= '0' && value[0] <= '9' ? strtoull(value, &end, 10) : 0;
    for (size_t i = 0; end != NULL && errno == 0 && i < units->count; i++) {
        if (strcasecmp(end, units->units[i].name) != 0)
            continue;
        uint64_t scaled;
        if (__builtin_mul_overflow((uint64_t) number, units->units[i].factor, &scaled) ||
            scaled < least || scaled > most)
            break;
        *out = scaled;
        return;
    }
    char low[32], high[32];
    log_message("option %s: '%s' is not a number from %s to %s%s%s%s", key, value,
                quantity_text(low, sizeof low, units, least),
                quantity_text(high, sizeof high, units, most),
                units->known != NULL ? " with a unit (" : "",
                units->known != NULL ? units->known : "", units->known != NULL ? ")" : "");
    parse->faults++;
}

static bool share_of(const char *text, uint64_t *share)
{
    static const char digits[] = "0123456789";
    size_t whole = strspn(text, digits), parts = 0;
    if (whole == 0 || whole > 3)
        return false;
    *share = strtoul(text, NULL, 10) * OPTION_SHARE_PERCENT;
    text += whole;
    if (*text == '.') {
        parts = strspn(++text, digits);
        if (parts == 0 || parts > 2)
            return false;
        *share += strtoul(text, NULL, 10) * (parts == 1 ? 10 : 1);
        text += parts;
    }
    return strcmp(text, "%") == 0 && *share >= 1 && *share <= OPTION_SHARE_WHOLE;
}

void option_parse_share(struct option_parse *parse, const char *key, const char *value,
                        uint64_t *out)
{
    uint64_t share;
    if (share_of(value, &share)) {
        *out = share;
        return;
    }
    log_message("option %s: '%s' is not a share from 0.01%% to 100%%", key, value);
    parse->faults++;
}

void option_parse_mode(struct option_parse *parse, const char *key, const char *value,
                       uint32_t *out)
{
    char *end = NULL;
    unsigned long mode = value[0] >= '0' && value[0] <= '7' ? strtoul(value, &end, 8) : 0;
    if ((mode & ~UINT32_C(0066)) == 0600 && *end == '\0') {
        *out = (uint32_t) mode;
        return;
    }
    log_message("option %s: '%s' is not an octal mode from 600 to 666", key, value);
    parse->faults++;
}

static void append_expanded(char *out, size_t size, size_t *used, const char *text)
{
    size_t length = strlen(text);
    if (*used + length < size) {
        memcpy(out + *used, text, length + 1);
        *used += length;
    }
}

void option_parse_file(struct option_parse *parse, const char *key, const char *value, char *out,
                       size_t size)
{
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
                log_message("option %s: '%%%c' is not one of %%p, %%t, %%h, %%%%", key,
                            *at != '\0' ? *at : ' ');
                parse->faults++;
                return;
            }
        }
        append_expanded(out, size, &used, text);
    }
}

/* ---- patterns of classes and methods ---- */

/* Splits "a.b.C.m" into "a.b.C" and "m"; returns false if it names no method. */
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

void option_parse_globs(struct option_parse *parse, const char *key, const char *value,
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
            log_message("option %s: '%s' is not of the form CLASS.METHOD", key, glob);
            parse->faults++;
            return;
        }
        to_slashes(glob);
        list->at[list->count++] = (uint32_t) (glob - options->globs_text);
    }
}

/* `*` matches any characters except '/', `**` matches all, `?` matches one character except '/'. */
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

void options_list_methods(const struct options *options, const struct glob_list *list, char *out,
                          size_t out_size)
{
    size_t used = 0;
    for (size_t i = 0; i < list->count && used < out_size; i++) {
        const char *glob = options->globs_text + list->at[i];
        size_t from = used;
        used += (size_t) snprintf(out + used, out_size - used, "%s%s.%s", i > 0 ? "+" : "", glob,
                                  glob + strlen(glob) + 1);
        for (; from < used && from < out_size; from++)
            out[from] = out[from] == '/' ? '.' : out[from];
    }
}
