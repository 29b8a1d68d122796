/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program that is not a child of this process: the traced program's wait() does not see
 * it, its end raises no signal, and signals to the program's process group or session do not reach
 * it. */
#ifndef CAPTURE_DETACHED_H
#define CAPTURE_DETACHED_H

#include <stdbool.h>
#include <sys/types.h>

/* The number of the first descriptor that the new process gets. */
#define DETACHED_FIRST_DESCRIPTOR 3
#define DETACHED_DESCRIPTORS_MOST 4

struct detached {
    char *const *arguments; /* the first is the program's path */
    char *const *environment;
    const int *descriptors; /* they become DETACHED_FIRST_DESCRIPTOR and the following numbers */
    int descriptor_count;
    pid_t process; /* set by detached_start() */
    int code;
};

/* Starts it in its own session, with the caller's standard descriptors and all signals blocked.
 * Returns 0, or an errno. */
int detached_start(struct detached *detached);

/* Returns true if the process has ended; waits that long for it.  `file` is its pidfd, -1 if the
 * system has none. */
bool process_is_gone(int file, pid_t process, int wait_ms);

/* Makes all descriptors below `end` /dev/null.  Returns false if that cannot be opened. */
bool detached_let_go(int end);

/* Closes all descriptors from `first` on, with system calls only. */
void detached_close_from(unsigned first);

#endif
