/* SPDX-License-Identifier: Apache-2.0 */
/* Reads single options out of the text that a recorder gets. */
#include "converter/verbs/recording_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool recording_mode_pair(const char *value, char *pair, size_t size, const char **fault)
{
    char *end = NULL;
    unsigned long mode = value[0] >= '0' && value[0] <= '7' ? strtoul(value, &end, 8) : 0;
    *fault = "an octal mode from 600 to 666 is expected";
    snprintf(pair, size, "mode=%lo", mode);
    return (mode & ~066ul) == 0600 && *end == '\0';
}

/* The value of the last `key=` (with its =), or NULL; it ends at a comma or the end. */
static const char *find_last(const char *options, const char *key)
{
    const char *found = NULL;
    for (const char *at = options; *at != '\0'; at += strcspn(at, ",")) {
        at += strspn(at, ",");
        if (strncmp(at, key, strlen(key)) == 0)
            found = at + strlen(key);
    }
    return found;
}

mode_t recording_mode(const char *options)
{
    const char *mode = find_last(options, "mode=");
    return mode != NULL ? (mode_t) strtoul(mode, NULL, 8) & 0666 : 0600;
}

bool recording_overwrites(const char *options)
{
    const char *overwrite = find_last(options, "overwrite=");
    return overwrite != NULL && strncmp(overwrite, "yes", 3) == 0;
}
