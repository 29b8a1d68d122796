/* SPDX-License-Identifier: Apache-2.0 */
/* What is known to survive and not to be told of: lines `class:PATTERN` or `site:PATTERN`, patterns
 * as those of --class and --site; # begins a comment. */
#ifndef CONVERTER_LEAKS_SUPPRESSIONS_H
#define CONVERTER_LEAKS_SUPPRESSIONS_H

#include "converter/heap/heap_snapshot.h"

struct suppression;

struct suppressions {
    struct suppression *items;
    size_t count;
};

/* A value of an option, as in arguments.h: a file's name.  May be taken several times. */
bool take_suppressions(void *suppressions_target, const char *value, const char **fault);
void suppressions_reset(struct suppressions *suppressions);

/* Whether one of them names the class, or a frame of the site; that is counted. */
bool suppressions_have(struct suppressions *suppressions, const struct heap_sites *sites,
                       const struct heap_key *key);
/* Tells on stderr which of them named nothing. */
void suppressions_tell_unused(const struct suppressions *suppressions);

#endif
