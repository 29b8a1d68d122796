/* SPDX-License-Identifier: Apache-2.0 */
/* A child that shares this process's memory until it has become the drain's starter (no copy of
 * the program's pages, no signal at its end); that one leaves the drain behind. */
#include "malloc-recorder/drain_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/log.h"
#include "malloc-recorder/shared_map.h"

#define PROGRAM "steptrace-drain"
#define PLACE_VARIABLE "STEPTRACE_MALLOC_DRAIN"
#define STACK_BYTES ((size_t) 64 << 10)
#define ATTEMPTS 16u
#define NUMBERS_TEXT 512
#define CLOSED_BY_HAND 65536

struct starter {
    char *arguments[DRAIN_ARGUMENT_COUNT + 1];
    int reply;
    int code; /* errno of what failed */
};

/* ---- where it lies ---- */

static bool try_place(char *out, const char *directory, const char *below)
{
    char place[2 * PATH_MAX];
    snprintf(place, sizeof place, "%s/%s" PROGRAM, directory, below);
    return access(place, X_OK) == 0 && realpath(place, out) != NULL;
}

/* Beside this library in a build tree, else where it is installed. */
static const char *find_program(void)
{
    static char found[PATH_MAX];
    const char *named = getenv(PLACE_VARIABLE);
    Dl_info info;
    char directory[PATH_MAX];
    if (found[0] != '\0')
        return found;
    if (named != NULL && named[0] != '\0')
        return realpath(named, found) != NULL ? found : NULL;
    if (dladdr((void *) &recorder, &info) == 0 || realpath(info.dli_fname, directory) == NULL)
        return NULL;
    *strrchr(directory, '/') = '\0';
    static const char *const below[] = {"", "../libexec/steptrace/", "../../libexec/steptrace/",
                                        "../../../libexec/steptrace/"};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
        if (try_place(found, directory, below[i]))
            return found;
    found[0] = '\0';
    return NULL;
}

/* ---- the starter ---- */

static void close_all_from(unsigned first)
{
    if (syscall(SYS_close_range, first, UINT_MAX, 0u) == 0)
        return;
    struct rlimit limit = {CLOSED_BY_HAND, CLOSED_BY_HAND};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t end = limit.rlim_cur < CLOSED_BY_HAND ? limit.rlim_cur : CLOSED_BY_HAND;
    for (unsigned file = first; file < end; file++)
        close((int) file);
}

/* Runs in the child, on its own stack, in the program's memory: it only makes system calls.  The
 * table of descriptors is a copy. */
static int run_starter(void *data)
{
    struct starter *starter = data;
    char *const no_variables[] = {NULL};
    if (starter->reply == DRAIN_REPLY_DESCRIPTOR)
        fcntl(starter->reply, F_SETFD, 0);
    else
        dup2(starter->reply, DRAIN_REPLY_DESCRIPTOR);
    close_all_from(DRAIN_REPLY_DESCRIPTOR + 1);
    execve(starter->arguments[0], starter->arguments, no_variables);
    starter->code = errno;
    syscall(SYS_exit_group, 1);
    return 1;
}

static bool make_pipe(int pipe_ends[2])
{
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return false;
    if (pipe_ends[1] >= DRAIN_REPLY_DESCRIPTOR)
        return true;
    int high = fcntl(pipe_ends[1], F_DUPFD_CLOEXEC, DRAIN_REPLY_DESCRIPTOR);
    close(pipe_ends[1]);
    pipe_ends[1] = high;
    if (high < 0)
        close(pipe_ends[0]);
    return high >= 0;
}

static void read_reply(int file, char *reply, size_t most)
{
    size_t used = 0;
    while (used < most - 1) {
        ssize_t got = read(file, reply + used, most - 1 - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        used += (size_t) got;
    }
    reply[used] = '\0';
}

/* The child ends without a signal, and no wait() of the program's sees it. */
static int run_child(struct starter *starter, char *stack)
{
    int child = clone(run_starter, stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, starter);
    if (child < 0)
        starter->code = errno;
    return child;
}

static bool ask(struct starter *starter, char *reply, size_t most)
{
    int pipe_ends[2];
    char *stack = malloc(STACK_BYTES);
    if (stack == NULL || !make_pipe(pipe_ends)) {
        starter->code = errno;
        free(stack);
        return false;
    }
    starter->reply = pipe_ends[1];
    int child = run_child(starter, stack);
    close(pipe_ends[1]);
    read_reply(pipe_ends[0], reply, most);
    close(pipe_ends[0]);
    free(stack);
    while (child > 0 && waitpid(child, NULL, (int) __WALL) < 0 && errno == EINTR)
        ;
    return child > 0 && starter->code == 0;
}

/* ---- what it is told ---- */

static void print_numbers(const struct recording *recording, bool names_processes, char *out)
{
    const struct drain_numbers numbers = {.address = (uintptr_t) recording->base,
                                          .range_bytes = recording->range_bytes,
                                          .buffer_bytes = recording->options.buffer_bytes,
                                          .limit_bytes = recording->options.limit_bytes,
                                          .stack = recording->options.stack,
                                          .level = recording->options.level,
                                          .names_processes = names_processes,
                                          .uses_counter = clock_uses_counter,
                                          .start_raw = recorder.start.raw,
                                          .start_monotonic_ns = recorder.start.monotonic_ns,
                                          .start_wall_ns = recorder.start.wall_ns,
                                          .parent = recorder.is_fork ? recorder.parent_id : 0,
                                          .fork_stamp = recorder.fork_stamp};
    int used = 0;
#define X(name)                                                                                    \
    used += snprintf(out + used, NUMBERS_TEXT - (size_t) used, "%" PRIx64 ",", numbers.name);
    DRAIN_NUMBERS(X)
#undef X
}

static bool is_started(struct recording *recording, bool names_processes, const char *place,
                       char *reply, size_t most)
{
    char layout[24], program[40], numbers[NUMBERS_TEXT];
    snprintf(layout, sizeof layout, "%" PRIx64, (uint64_t) DRAIN_LAYOUT);
    snprintf(program, sizeof program, "program=%" PRIu64, recording->process_id);
    print_numbers(recording, names_processes, numbers);
    struct starter starter = {.arguments = {(char *) place, layout, program,
                                            recording->options.file, recording->options.text,
                                            numbers, NULL}};
    if (ask(&starter, reply, most))
        return true;
    log_message("%s: %s", place, strerror(starter.code));
    return false;
}

bool drain_start(struct recording *recording, bool names_processes)
{
    char reply[OPTION_TEXT + sizeof STEP_LIVE_SUFFIX + 1];
    const char *place = find_program();
    if (place == NULL) {
        log_message(PROGRAM " is not where libmalloctracer.so is (" PLACE_VARIABLE
                            " names its place): nothing is recorded");
        return false;
    }
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (!shared_map_reserve(recording, attempt)) {
            log_message("%s: no addresses are left for the live file", recording->options.file);
            return false;
        }
        if (!is_started(recording, names_processes, place, reply, sizeof reply))
            return false;
        if (strcmp(reply, DRAIN_ADDRESS_TAKEN) != 0)
            break;
        shared_map_close(recording);
    }
    if (reply[0] == '\0')
        return false;
    if (recording->base != NULL && shared_map_open(recording, reply))
        return true;
    log_message("%s: cannot be mapped", reply);
    return false;
}
