/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts: what a gate judged, or advice, each with its place in a file, and the files and
 * annotations that show them to reviewers (docs/start/ci.md).  All texts may have come from a
 * trace: each writer escapes them as its format asks.
 */
#ifndef CONVERTER_VERDICTS_VERDICT_H
#define CONVERTER_VERDICTS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/value.h"

enum verdict_state {
    VERDICT_PASSED,
    VERDICT_FAILED,
    VERDICT_NOT_JUDGED, /* what it names is not there */
    VERDICT_ADVICE
};

struct verdict {
    enum verdict_state state;
    const char *kind; /* of the rule: one of a few words, as "snapshot"; borrowed, static */
    char *name;       /* the rule, as "allocated > +5%"; owned */
    char *text;       /* details in lines; owned; NULL: none */
    char *file;       /* that states the rule, or that the advice is about; owned; NULL: none */
    uint64_t line;    /* of the file; 0: unknown */
    uint64_t print;   /* that of verdict_list_number() */
};

/* Zero-initialise, and set the verb. */
struct verdict_list {
    const char *verb;
    struct verdict *items;
    size_t count, capacity;
};

/* Returns the new verdict, zeroed, or NULL if out of memory. */
struct verdict *verdict_list_add(struct verdict_list *list);
void verdict_list_reset(struct verdict_list *list);
size_t verdict_list_count(const struct verdict_list *list, enum verdict_state state);

/* Returns the first line of the details without leading blanks, or the name. */
struct step_bytes verdict_message(const struct verdict *verdict);
/* Writes the path as seen from the directory that reviewers know, which GitHub Actions and GitLab
 * name in the environment; else it stays as it is.  Truncates it to `out_size`. */
void verdict_path(const struct verdict *verdict, char *out, size_t out_size);
/* Gives each verdict a number that stays the same from run to run while its kind, name and file do,
 * and that no other one has.  Returns false if out of memory. */
bool verdict_list_number(struct verdict_list *list);
/* Returns whether the verdict is shown as a fault: all but passed ones. */
static inline bool verdict_is_shown(const struct verdict *verdict)
{
    return verdict->state != VERDICT_PASSED;
}

#endif
