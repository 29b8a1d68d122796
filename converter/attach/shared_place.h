/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a JVM in another mount namespace (a container) finds the agent and leaves its trace: a
 * directory in its /tmp, reached through /proc/PID/root.  It stays reachable when the JVM has
 * ended.
 */
#ifndef CONVERTER_ATTACH_SHARED_PLACE_H
#define CONVERTER_ATTACH_SHARED_PLACE_H

#include <limits.h>

#include "converter/attach/jvm_process.h"

struct shared_place {
    int parent; /* its /tmp; -1: none */
    int directory;
    char name[64];
    char agent[128]; /* as the JVM sees it */
    char trace[128];
};

/* Makes the directory and puts the agent there. */
enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error);
/* Copies the trace from there. */
enum step_status shared_place_fetch(const struct shared_place *place, const char *output,
                                    struct step_error *error);
/* Removes all of it.  The JVM keeps the agent that it has loaded. */
void shared_place_remove(struct shared_place *place);

#endif
