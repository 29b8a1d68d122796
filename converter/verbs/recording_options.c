/* SPDX-License-Identifier: Apache-2.0 */
/* Parses recorder options for three verbs. */
#include "converter/verbs/recording_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
