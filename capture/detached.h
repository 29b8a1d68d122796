/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program that is no child of this process: no wait() of the traced program's sees it, no
 * signal is raised when it ends, and signals to the program's process group or session do not reach
 * it.
 */
#ifndef CAPTURE_DETACHED_H
#define CAPTURE_DETACHED_H

#include <sys/types.h>

/* The first descriptor that the new process has of those given to it. */
#define DETACHED_FIRST_DESCRIPTOR 3
#define DETACHED_DESCRIPTORS_MOST 4

struct detached {
    char *const *arguments; /* the first is the program's path */
    char *const *environment;
    const int *descriptors; /* they get the numbers from DETACHED_FIRST_DESCRIPTOR on */
    int descriptor_count;
    pid_t process; /* set by detached_start() */
    int code;
};

/* Starts it in a session of its own, with the caller's standard descriptors and all signals
 * blocked. Returns 0, or an errno. */
int detached_start(struct detached *detached);

/* Closes all descriptors from that number on, in system calls only. */
void detached_close_from(unsigned first);

#endif
