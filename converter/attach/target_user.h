/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs work in a child process that has the rights of a JVM's user.  All access to the JVM's files,
 * its /tmp or its socket happens in such a child, never in the caller.  A hostile process that
 * links, mounts or swaps files there can therefore only reach what its own user can reach.
 *
 * The child has the user id, group id and supplementary groups of the JVM, and no capabilities.  It
 * returns bytes through a pipe, and a status.  The caller opens none of the JVM's files.
 */
#ifndef CONVERTER_ATTACH_TARGET_USER_H
#define CONVERTER_ATTACH_TARGET_USER_H

#include "converter/attach/jvm_process.h"

/* Runs in the child.  The caller's `receive` gets the bytes that it writes to `output`. */
typedef enum step_status target_work(const struct jvm_process *process, void *context, int output,
                                     struct step_error *error);
/* Runs in the caller, for each chunk of the child's output. */
typedef enum step_status target_receive(void *receiver, const void *data, size_t length,
                                        struct step_error *error);

struct target_call {
    target_work *work;
    void *context;
    target_receive *receive; /* NULL: the child writes nothing */
    void *receiver;
    unsigned limit_s; /* for each MiB of output, and for the end */
};

/* Runs the call and waits for it.  Kills the child when the limit has passed.  Returns the status
 * of the work, or of `receive` if that failed. */
enum step_status target_user_call(const struct jvm_process *process, const struct target_call *call,
                                  struct step_error *error);

#endif
