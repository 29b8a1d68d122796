/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and matches patterns of classes and methods. */
#include <stdio.h>
#include <string.h>

#include "agent/base/agent_options.h"
#include "agent/base/option_values.h"
#include "capture/log.h"

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
            log_message("option %s: '%s' is no CLASS.METHOD", key, glob);
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
