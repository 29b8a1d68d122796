/* SPDX-License-Identifier: Apache-2.0 */
/* Known survivors that are not reported, from files.  Lines are `class:PATTERN` or `site:PATTERN`,
 * with the patterns of --class and --site; # begins a comment. */
#ifndef ANALYSES_LEAKS_SUPPRESSIONS_H
#define ANALYSES_LEAKS_SUPPRESSIONS_H

#include "converter/heap/heap_snapshot.h"

#define SUPPRESSION_MOST 512u /* bytes of a line */

struct suppression {
    char text[SUPPRESSION_MOST];
    size_t offset; /* of the pattern, in the text */
    bool is_class;
    uint64_t used;
};

struct suppressions {
    struct suppression *items;
    size_t count;
};

/* Parses an option's value (arguments.h): the name of a file of suppressions.  May be repeated. */
bool take_suppressions(void *suppressions_target, const char *value, const char **fault);
void suppressions_reset(struct suppressions *suppressions);

/* Reports suppressions that matched nothing on stderr. */
void suppressions_report_unused(const struct suppressions *suppressions);

/* Returns the first suppression that matches the class or a frame of the site, or NULL. */
struct suppression *suppressions_find(const struct suppressions *suppressions,
                                      const struct heap_sites *sites, const struct heap_key *key);

#endif
