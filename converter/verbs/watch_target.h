/* SPDX-License-Identifier: Apache-2.0 */
/* The trace that a process is writing. */
#ifndef CONVERTER_VERBS_WATCH_TARGET_H
#define CONVERTER_VERBS_WATCH_TARGET_H

#include <limits.h>

#include "steptrace/status.h"

struct watch_target {
    long pid; /* 0: the operand is a file */
    char path[PATH_MAX];
};

/* `operand`: a file or, if there is none, a process id.  Returns INVALID if there is no such
 * process or it is not being recorded; the message says what to do. */
enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error);

#endif
