/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process that acts with the rights of a JVM's user.  Everything that touches the JVM's
 * files, its /tmp or its socket is done in such a child, never by the caller: a hostile process
 * that links, mounts or swaps files there can only reach what its own user can reach.
 *
 * The child has the user id, group id and supplementary groups of the JVM and no capability.  It
 * returns bytes through a pipe, and a status.  The caller opens none of the JVM's files.
 */
#ifndef CONVERTER_ATTACH_TARGET_USER_H
#define CONVERTER_ATTACH_TARGET_USER_H

#include "converter/attach/jvm_process.h"

/* Runs in the child.  What it writes to `output` goes to the caller's `receive`. */
typedef enum step_status target_work(const struct jvm_process *process, void *context, int output,
                                     struct step_error *error);
/* Runs in the caller, for each part of what the child writes. */
typedef enum step_status target_receive(void *receiver, const void *data, size_t length,
                                        struct step_error *error);

struct target_call {
    target_work *work;
    void *context;
    target_receive *receive; /* NULL: the child writes nothing */
    void *receiver;
    unsigned limit_s; /* for each MiB that the child writes, and for the end */
};

/* Runs the call and waits for it, not longer than its limit: then the child is killed.  Returns the
 * status of the work, or of `receive` if that failed. */
enum step_status target_user_call(const struct jvm_process *process, const struct target_call *call,
                                  struct step_error *error);

#endif
