/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steptrace-drain: writes the trace of a program that is recorded by libmalloctracer.so, which
 * starts it.
 *
 * It runs in a separate session, is not a known child of the program, has none of its descriptors,
 * and blocks all signals but SIGKILL, so that nothing meant for the program or its shell affects
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/detached.h"
#include "capture/log.h"
#include "malloc-recorder/drain/drain_run.h"

static struct native_trace trace;

/* ---- arguments ---- */

static bool take_numbers(const char *text, struct drain_numbers *numbers)
{
    char *end = (char *) text;
#define X(name)                                                                                    \
    numbers->name = strtoull(end, &end, 16);                                                       \
    if (*end++ != ',')                                                                             \
        return false;
    DRAIN_NUMBERS(X)
#undef X
    return true;
}

static bool drain_main_take_arguments(int count, char **arguments)
{
    static const char program[] = "program=";
    if (count != DRAIN_ARGUMENT_COUNT ||
        strncmp(arguments[DRAIN_ARGUMENT_PROGRAM], program, strlen(program)) != 0) {
        log_message("%s: only libmalloctracer.so starts it", arguments[0]);
        return false;
    }
    if (strtoull(arguments[DRAIN_ARGUMENT_LAYOUT], NULL, 16) != DRAIN_LAYOUT) {
        log_message("%s is from another build than libmalloctracer.so", arguments[0]);
        return false;
    }
    trace.process = strtoull(arguments[DRAIN_ARGUMENT_PROGRAM] + strlen(program), NULL, 10);
    trace.wanted_file = arguments[DRAIN_ARGUMENT_FILE];
    trace.options = arguments[DRAIN_ARGUMENT_OPTIONS];
    return take_numbers(arguments[DRAIN_ARGUMENT_NUMBERS], &trace.numbers);
}

/* ---- a process apart ---- */

static void see_successor(int number)
{
    (void) number;
    drain_successor_is_there = 1;
}

static void take_no_signals(void)
{
    sigset_t all;
    struct sigaction successor = {.sa_handler = see_successor, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &successor, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGUSR1);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Lifts resource limits set for the program; hard limits remain. */
static void lift_limits(void)
{
    static const unsigned kinds[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE, RLIMIT_CPU,
                                     RLIMIT_NOFILE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct rlimit limit;
        if (getrlimit(kinds[i], &limit) != 0)
            continue;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(kinds[i], &limit);
    }
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
}

/* Fills the descriptors below the reply's, so that no file of the drain gets one of them. */
static bool fill_descriptors(void)
{
    int file;
    do
        file = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (file >= 0 && file < DRAIN_REPLY_DESCRIPTOR);
    if (file > DRAIN_REPLY_DESCRIPTOR)
        close(file);
    return file >= 0;
}

/* ---- messages: the program says them, on its stderr ---- */

static void leave_message(const char *message, size_t length)
{
    struct drain_control *control = trace.control;
    if (atomic_load(&control->message_bytes) != 0)
        return; /* keep the first message, the cause */
    if (length >= sizeof control->message)
        length = sizeof control->message - 1;
    memcpy(control->message, message, length);
    atomic_store(&control->message_bytes, (uint32_t) length);
}

static void reply(const char *text)
{
    ssize_t ignored = write(DRAIN_REPLY_DESCRIPTOR, text, strlen(text));
    (void) ignored;
    close(DRAIN_REPLY_DESCRIPTOR);
}

static int drain_main_run(void)
{
    take_no_signals();
    lift_limits();
    trace.process_file = (int) syscall(SYS_pidfd_open, (pid_t) trace.process, 0u);
    enum native_trace_start started = native_trace_start(&trace);
    if (started != NATIVE_TRACE_READY) {
        reply(started == NATIVE_TRACE_ADDRESS_TAKEN ? DRAIN_ADDRESS_TAKEN : "");
        return 1;
    }
    native_trace_describe(&trace);
    log_to(leave_message);
    detached_let_go(DRAIN_REPLY_DESCRIPTOR);
    if (chdir("/") != 0)
        log_message("/: %s", strerror(errno));
    reply(trace.live_path);
    drain_run(&trace);
    return 0;
}

int main(int count, char **arguments)
{
    if (!fill_descriptors() || !drain_main_take_arguments(count, arguments))
        return 1;
    return drain_main_run();
}
