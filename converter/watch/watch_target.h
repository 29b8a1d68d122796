/* SPDX-License-Identifier: Apache-2.0 */
/* Which trace a process writes. */
#ifndef CONVERTER_WATCH_WATCH_TARGET_H
#define CONVERTER_WATCH_WATCH_TARGET_H

#include <limits.h>

#include "steptrace/status.h"

struct watch_target {
    long pid; /* 0: a file was named */
    char path[PATH_MAX];
};

/* `operand`: a file, or else the number of a process.  INVALID: there is no such process, or none
 * that is recorded; the message says what to do. */
enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error);

#endif
