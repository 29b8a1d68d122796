/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a running JVM that attaching needs, read from /proc. */
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
    int root;                       /* its root directory, opened with O_PATH */
    int mount_namespace;            /* descriptor that keeps its mounts after it has ended */
    bool is_elsewhere;              /* it has another mount namespace or root directory */
    unsigned java_version;          /* 0: unknown */
    char agent[256];                /* path of the loaded agent, or "" */
    unsigned long long start_ticks; /* distinguishes it from a later process with the same id */
};

/* Fills in `process`.  Returns INVALID with a reason if there is no such process, it is not a JVM,
 * it does not accept attach requests, or it may not be inspected.  Call jvm_process_close() in any
 * case. */
enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error);
void jvm_process_close(struct jvm_process *process);
bool jvm_process_is_there(const struct jvm_process *process);

#endif
