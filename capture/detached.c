/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program by way of two processes that share the traced program's memory until the second
 * one executes the new program, so that no page is copied. The first one ends without a signal,
 * which leaves the second without its parent. */
#include "capture/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES ((size_t) 64 << 10)
#define CLOSED_BY_HAND 65536

struct start {
    struct detached *detached;
    char *inner_stack;
};

void detached_close_from(unsigned first)
{
    if (syscall(SYS_close_range, first, UINT_MAX, 0u) == 0)
        return;
    struct rlimit limit = {CLOSED_BY_HAND, CLOSED_BY_HAND};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t end = limit.rlim_cur < CLOSED_BY_HAND ? limit.rlim_cur : CLOSED_BY_HAND;
    for (unsigned file = first; file < end; file++)
        close((int) file);
}

bool detached_let_go(int end)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int file = 0; nothing >= 0 && file < end; file++)
        if (file != nothing)
            dup2(nothing, file);
    if (nothing >= end)
        close(nothing);
    return nothing >= 0;
}

bool process_is_gone(int file, pid_t process, int wait_ms)
{
    struct pollfd poll_file = {.fd = file, .events = POLLIN};
    if (file >= 0)
        return poll(&poll_file, 1, wait_ms) > 0;
    poll(NULL, 0, wait_ms);
    return kill(process, 0) != 0 && errno == ESRCH;
}

/* Moves the descriptors above the new numbers first, then to these. Returns 0, or an errno. */
static int place_descriptors(const struct detached *detached)
{
    int count = detached->descriptor_count, high[DETACHED_DESCRIPTORS_MOST];
    for (int i = 0; i < count; i++) {
        high[i] = fcntl(detached->descriptors[i], F_DUPFD, DETACHED_FIRST_DESCRIPTOR + count);
        if (high[i] < 0)
            return errno;
    }
    for (int i = 0; i < count; i++)
        if (dup2(high[i], DETACHED_FIRST_DESCRIPTOR + i) < 0)
            return errno;
    detached_close_from((unsigned) (DETACHED_FIRST_DESCRIPTOR + count));
    return 0;
}

/* Runs in the program's memory with its own descriptor table: system calls only. */
static int run_program(void *data)
{
    struct detached *detached = ((struct start *) data)->detached;
    detached->code = place_descriptors(detached);
    if (detached->code == 0) {
        setsid();
        execve(detached->arguments[0], detached->arguments, detached->environment);
        detached->code = errno;
    }
    syscall(SYS_exit_group, 1);
    return 1;
}

static int run_starter(void *data)
{
    struct start *start = data;
    int process =
        clone(run_program, start->inner_stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, data);
    start->detached->process = process;
    if (process < 0)
        start->detached->code = errno;
    syscall(SYS_exit_group, 0);
    return 0;
}

/* Why two processes: a child of the JVM would be seen by a program that waits for any child, and
 * its end would raise SIGCHLD. The first process starts the second and ends; the second is then a
 * child of process 1. The first one is waited for here, by its own id and with __WALL, since it
 * raises no signal at its end and an ordinary wait() does not see it.
 *
 * CLONE_VM shares the memory instead of copying the page tables of a JVM with many gigabytes;
 * CLONE_VFORK stops the calling thread until the other has left that memory, so the two stacks and
 * `start` stay valid. Until execve() the new process runs in the program's memory beside its other
 * threads: it may make system calls only, and takes no lock, neither malloc()'s nor the loader's.
 * Without CLONE_FILES it has its own descriptor table, which it may empty. */
int detached_start(struct detached *detached)
{
    char *stacks = malloc(2 * STACK_BYTES);
    if (stacks == NULL)
        return ENOMEM;
    struct start start = {.detached = detached, .inner_stack = stacks};
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &old); /* no handler of the program runs in its memory twice */
    detached->code = 0;
    detached->process = -1;
    int starter = clone(run_starter, stacks + 2 * STACK_BYTES, CLONE_VM | CLONE_VFORK, &start);
    int code = starter < 0 ? errno : detached->code;
    while (starter > 0 && waitpid(starter, NULL, (int) __WALL) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    free(stacks);
    return code;
}
