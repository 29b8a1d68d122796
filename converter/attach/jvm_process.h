/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process that may be a JVM. */
#ifndef CONVERTER_ATTACH_JVM_PROCESS_H
#define CONVERTER_ATTACH_JVM_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "steptrace/status.h"

struct jvm_process {
    pid_t pid;
    pid_t inner_pid; /* in its own PID namespace */
    uid_t uid;       /* effective */
    gid_t gid;
    bool is_elsewhere;              /* it has another mount namespace */
    unsigned java_version;          /* 0: not known */
    unsigned long long start_ticks; /* tells the process from another of its number */
};

/* INVALID with a reason: there is no such process, it is no JVM, it does not take attach requests,
 * or it may not be looked at. */
enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error);
bool jvm_process_is_there(const struct jvm_process *process);

#endif
