/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory through which a JVM in another mount namespace (a container) gets the agent and
 * hands over its trace.  It lies in the JVM's /tmp and belongs to the JVM's user, with whose rights
 * everything is done there (target_user.h).  It stays reachable when the JVM has ended.
 */
#ifndef CONVERTER_ATTACH_SHARED_PLACE_H
#define CONVERTER_ATTACH_SHARED_PLACE_H

#include "converter/attach/jvm_process.h"

struct shared_place {
    char name[64];   /* in its /tmp; "": there is none */
    char agent[256]; /* as the JVM sees it */
    char trace[128];
};

/* Makes the directory and copies the agent into it, unless the JVM has loaded another. */
enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error);
/* Copies the trace, and its live file if there is one, to `output`.  Each of them has to be a
 * regular file of the JVM's user, and both together may fill half of the space that is free.  Both
 * are new files, with permissions by the umask; BUSY: one of the names is taken. */
enum step_status shared_place_fetch(const struct jvm_process *process,
                                    const struct shared_place *place, const char *output,
                                    struct step_error *error);
/* Removes all of it.  The JVM keeps the agent that it has loaded. */
void shared_place_remove(const struct jvm_process *process, struct shared_place *place);

#endif
