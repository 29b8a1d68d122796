/* SPDX-License-Identifier: Apache-2.0 */
/* Writes each message with one write(2), so that messages of several JVMs do not mix. */
#include "capture/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/provenance.h"
#include "steptrace/show.h"

#define WAITS 10
#define WAIT_MS 100

static __thread bool is_apart;
static __thread int copy_to_plus_1; /* 0: nowhere */

/* Returns true unless this thread certainly has no filter of system calls (seccomp).  A service's
 * filter may kill for a call that few programs make, as systemd's @system-service does for
 * pidfd_getfd(), so none is made to find out. */
static bool may_be_filtered(void)
{
    static const char wanted[] = "\nSeccomp:\t0\n";
    char status[4096];
    provenance_read("/proc/thread-self/status", status, sizeof status);
    return strstr(status, wanted) == NULL;
}

/* Returns a descriptor of this thread for the program's stderr, or -1. */
static int borrow_stderr(void)
{
    if (may_be_filtered()) {
        errno = EPERM;
        return -1;
    }
    int process = (int) syscall(SYS_pidfd_open, getpid(), 0u);
    if (process < 0)
        return -1;
    int descriptor = (int) syscall(SYS_pidfd_getfd, process, STDERR_FILENO, 0u);
    int code = errno;
    close(process);
    errno = code;
    return descriptor;
}

bool log_reaches_from_apart(void)
{
    int descriptor = borrow_stderr();
    bool reaches = descriptor >= 0 || errno == EBADF;
    if (descriptor >= 0)
        close(descriptor);
    return reaches;
}

void log_from_apart(void)
{
    is_apart = true;
}

static bool is_bound, has_stderr;
static struct stat stderr_then;
static void (*message_taker)(const char *message, size_t length);

void log_only_to_this_stderr(void)
{
    is_bound = true;
    has_stderr = fstat(STDERR_FILENO, &stderr_then) == 0;
}

void log_to(void (*taker)(const char *message, size_t length))
{
    message_taker = taker;
}

void log_copy_to(int descriptor)
{
    copy_to_plus_1 = descriptor + 1;
}

/* Returns true if stderr is still the file that log_only_to_this_stderr() saw. */
static bool is_that_stderr(void)
{
    struct stat now;
    return !is_bound || (has_stderr && fstat(STDERR_FILENO, &now) == 0 &&
                         now.st_dev == stderr_then.st_dev && now.st_ino == stderr_then.st_ino);
}

/* A full pipe or a stopped terminal accepts nothing. Then the message is lost, and the caller
 * continues. */
static bool takes_a_line(int descriptor)
{
    struct pollfd wanted = {.fd = descriptor, .events = POLLOUT};
    for (int i = 0; i < WAITS; i++)
        if (poll(&wanted, 1, WAIT_MS) > 0)
            return true;
    return false;
}

static void log_put(const char *line, size_t length)
{
    if (copy_to_plus_1 > 0 &&
        send(copy_to_plus_1 - 1, line, length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        copy_to_plus_1 = 0; /* whoever gave the command has gone */
    if (!is_apart && !is_that_stderr())
        return;
    int descriptor = is_apart ? borrow_stderr() : STDERR_FILENO;
    if (descriptor < 0)
        return;
    ssize_t ignored = takes_a_line(descriptor) ? write(descriptor, line, length) : 0;
    (void) ignored;
    if (is_apart)
        close(descriptor);
}

void log_message(const char *format, ...)
{
    char text[1000], line[1024] = "steptrace: ";
    size_t start = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (written < 0)
        return;
    const struct step_bytes shown = {(const uint8_t *) text, strlen(text)};
    size_t end = start + step_show(shown, line + start, sizeof line - start - 1);
    if (message_taker != NULL) {
        message_taker(line + start, end - start);
        return;
    }
    line[end++] = '\n';
    log_put(line, end);
}

bool log_error(const struct step_error *error)
{
    char text[900];
    step_error_print(error, text, sizeof text);
    log_message("%s", text);
    return false;
}
