/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory through which a JVM in another mount namespace (a container) receives the agent and
 * returns its trace.  The directory is in the JVM's /tmp and belongs to the JVM's user, whose
 * rights every operation there uses (target_user.h).  It stays reachable after the JVM has ended.
 */
#ifndef CONVERTER_ATTACH_SHARED_PLACE_H
#define CONVERTER_ATTACH_SHARED_PLACE_H

#include "converter/attach/jvm_process.h"

struct shared_place {
    char name[64];   /* in its /tmp; "": not created */
    char agent[256]; /* path as the JVM sees it */
    char trace[128];
};

/* Creates the directory and copies the agent into it, unless the JVM has already loaded an agent
 * from another path. */
enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error);
/* Copies the trace, and its live file if it exists, to `output`.  Each must be a regular file of
 * the JVM's user, and together they may fill at most half of the free space.  Creates new files,
 * with permissions by the umask.  Returns BUSY if one of the names exists. */
enum step_status shared_place_fetch(const struct jvm_process *process,
                                    const struct shared_place *place, const char *output,
                                    struct step_error *error);
/* Removes the directory and its contents.  The JVM keeps the agent that it has loaded. */
void shared_place_remove(const struct jvm_process *process, struct shared_place *place);

#endif
