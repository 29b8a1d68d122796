/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from /proc what attaching needs to know of a JVM. */
#ifndef CONVERTER_ATTACH_JVM_PROCESS_H
#define CONVERTER_ATTACH_JVM_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "steptrace/status.h"

struct jvm_process {
    pid_t pid;
    pid_t inner_pid; /* in its own PID namespace */
    uid_t uid;       /* effective */
    gid_t gid;
    gid_t *groups; /* supplementary */
    size_t group_count;
    int root;                       /* its root directory, O_PATH */
    int mount_namespace;            /* keeps its mounts when it has ended */
    bool is_elsewhere;              /* it has another mount namespace or root directory */
    unsigned java_version;          /* 0: not known */
    char agent[256];                /* the path of the agent that it has loaded, or "" */
    unsigned long long start_ticks; /* distinguishes it from a later process of its number */
};

/* INVALID with a reason: there is no such process, it is no JVM, it does not accept attach
 * requests, or it may not be inspected.  In any case jvm_process_close() follows. */
enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error);
void jvm_process_close(struct jvm_process *process);
bool jvm_process_is_there(const struct jvm_process *process);

#endif
