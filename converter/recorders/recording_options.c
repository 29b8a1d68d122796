/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the options of recorders, and the name of the trace that they record. */
#include "converter/recorders/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/formats/format_table.h"

bool recording_take_pair(void *options_target, const char *value, const char **fault)
{
    struct recording_options *options = options_target;
    size_t used = strlen(options->text);
    *fault = "key=value is expected, and less than 8 KiB in all (-O options=FILE takes more)";
    if (value[0] == '\0' || value[0] == '=' || used + strlen(value) + 2 > sizeof options->text)
        return false;
    snprintf(options->text + used, sizeof options->text - used, ",%s", value);
    return true;
}

/* The agent's lists use `+` where users write a comma. */
bool recording_take_events(void *options_target, const char *value, const char **fault)
{
    char pair[256];
    int length = snprintf(pair, sizeof pair, "events=%s", value);
    for (char *at = pair; *at != '\0'; at++)
        *at = *at == ',' ? '+' : *at;
    bool taken = value[0] != '\0' && length < (int) sizeof pair &&
                 recording_take_pair(options_target, pair, fault);
    *fault = "class, alloc, free, thread, method or all is expected, with + between";
    return taken;
}

bool recording_take_stack(void *options_target, const char *value, const char **fault)
{
    char pair[32];
    bool is_number = value[0] != '\0' && strspn(value, "0123456789") == strlen(value) &&
                     strlen(value) <= 4 && atoi(value) <= 1024;
    snprintf(pair, sizeof pair, "stack=%s", is_number ? value : "");
    bool taken = is_number && recording_take_pair(options_target, pair, fault);
    *fault = "a number is expected, at most 1024";
    return taken;
}

bool recording_take_mode(void *options_target, const char *value, const char **fault)
{
    char *end = NULL, pair[32];
    unsigned long mode = value[0] >= '0' && value[0] <= '7' ? strtoul(value, &end, 8) : 0;
    snprintf(pair, sizeof pair, "mode=%lo", mode);
    bool taken =
        (mode & ~066ul) == 0600 && *end == '\0' && recording_take_pair(options_target, pair, fault);
    *fault = "an octal mode from 600 to 666 is expected";
    return taken;
}

/* Returns the value of the last `key=` (`key` includes the =), up to a comma or the end, or
 * NULL. */
static const char *find_last(const struct recording_options *options, const char *key)
{
    const char *found = NULL;
    for (const char *at = options->text; *at != '\0'; at += strcspn(at, ",")) {
        at += strspn(at, ",");
        if (strncmp(at, key, strlen(key)) == 0)
            found = at + strlen(key);
    }
    return found;
}

bool recording_has_pair(const struct recording_options *options, const char *pair)
{
    const char *rest = find_last(options, pair);
    return rest != NULL && (*rest == ',' || *rest == '\0');
}

bool recording_has_handlers(const struct recording_options *options)
{
    const char *events = find_last(options, "events="), *engine = find_last(options, "engine=");
    if (engine != NULL && strncmp(engine, "bytecode", strlen("bytecode")) != 0)
        return false;
    while (events != NULL && *events != ',' && *events != '\0') {
        size_t length = strcspn(events, "+,");
        if ((length == strlen("all") && memcmp(events, "all", length) == 0) ||
            (length == strlen("method") && memcmp(events, "method", length) == 0))
            return true;
        events += length + (events[length] == '+');
    }
    return false;
}

mode_t recording_mode(const struct recording_options *options)
{
    const char *mode = find_last(options, "mode=");
    return mode != NULL ? (mode_t) strtoul(mode, NULL, 8) & 0666 : 0600;
}

bool recording_overwrites(const struct recording_options *options)
{
    const char *overwrite = find_last(options, "overwrite=");
    return overwrite != NULL && strncmp(overwrite, "yes", 3) == 0;
}

void escape_percents(const char *path, char *escaped)
{
    for (; *path != '\0'; path++) {
        if (*path == '%')
            *escaped++ = '%';
        *escaped++ = *path;
    }
    *escaped = '\0';
}

bool recording_file_name(const char *output, char *name, size_t size)
{
    char directory[PATH_MAX] = "", escaped[2 * PATH_MAX];
    bool is_here = output[0] != '/';
    if (is_here && getcwd(directory, sizeof directory) == NULL) {
        report_line("the working directory has no name: %s", strerror(errno));
        return false;
    }
    escape_percents(directory, escaped);
    int length = snprintf(name, size, "%s%s%s", escaped, is_here ? "/" : "", output);
    if (strchr(name, ',') != NULL)
        report_line("%s: the agent's options accept no comma in a name: write to another directory",
                    name);
    else if (length < 0 || (size_t) length >= size)
        report_line("%s: the name is too long", output);
    else
        return true;
    return false;
}

/* Returns the first % that begins none of the sequences that recorders know, or NULL. */
static const char *unknown_percent(const char *output)
{
    const char *at = strchr(output, '%');
    while (at != NULL && at[1] != '\0' && strchr("pth%", at[1]) != NULL)
        at = strchr(at + 2, '%');
    return at;
}

enum step_status recording_check_place(const struct arguments *arguments, const char *output)
{
    struct stat about;
    const char *unknown = unknown_percent(output);
    if (unknown != NULL)
        return arguments_fault(arguments, "-o %s: '%.2s' is not one of %%p, %%t, %%h, %%%%", output,
                               unknown);
    if (stat(output, &about) == 0 && (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)))
        return arguments_fault(arguments, "-o %s: is a device: name a file that is to be made",
                               output);
    return STEP_STATUS_OK;
}

enum step_status recording_check_name(const struct arguments *arguments, const char *output)
{
    if (recording_check_place(arguments, output) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    const struct trace_format *format = trace_format_by_ending(output);
    size_t length = strlen(output), page = sizeof ".html" - 1;
    if (length >= page && strcasecmp(output + length - page, ".html") == 0)
        return arguments_fault(arguments,
                               "-o %s: the trace needs another name; with -o %.*s.step and "
                               "--report the page is %s",
                               output, (int) (length - page), output, output);
    if (format == NULL || strcmp(format->name, "step") == 0)
        return STEP_STATUS_OK;
    size_t stem = trace_format_stem_length(output);
    return arguments_fault(arguments,
                           "-o %s: a JVM is recorded as a STEP trace: take -o %.*s.step, then "
                           "`steptrace convert %.*s.step -o %s`",
                           output, (int) stem, output, (int) stem, output, output);
}
