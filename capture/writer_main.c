/* SPDX-License-Identifier: Apache-2.0 */
/* Main function of the writer process. The process has its own session, none of the program's
 * descriptors, and blocks all signals. One thread answers calls; the main thread copies the ring
 * and waits for the program's end. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/detached.h"
#include "capture/log.h"
#include "capture/ring_copy.h"
#include "capture/writer_process.h"

#define WAIT_NS INT64_C(1000000000)

static struct {
    pid_t program;
    int program_file; /* pidfd; -1: this system has none */
    struct writer_calls *calls;
    const uint8_t *data;
    struct trace_file *file;
    struct ring_copy copy; /* its file is the live file, -1 before there is one */
    char live_path[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
    pthread_mutex_t files, copies; /* held while a call is answered; while a pass is made */
} self = {.program_file = -1,
          .copy.file = -1,
          .files = PTHREAD_MUTEX_INITIALIZER,
          .copies = PTHREAD_MUTEX_INITIALIZER};

/* ---- calls ---- */

static enum step_status writer_main_fail(const char *path, const char *what,
                                         struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

static enum step_status open_live_file(struct step_error *error)
{
    snprintf(self.live_path, sizeof self.live_path, "%s%s", self.file->path, STEP_LIVE_SUFFIX);
    int file = trace_file_make(self.live_path, self.calls->rules.mode);
    if (file < 0)
        return writer_main_fail(self.live_path, "cannot be created", error);
    if (!trace_file_lock(file, 1))
        return writer_main_fail(self.live_path, "cannot be locked", error);
    pthread_mutex_lock(&self.copies);
    self.copy.file = file;
    bool copied = ring_copy_pass(&self.copy, false);
    errno = self.copy.code;
    pthread_mutex_unlock(&self.copies);
    return copied ? STEP_STATUS_OK : writer_main_fail(self.live_path, "cannot be written", error);
}

static enum step_status writer_main_open_files(struct step_error *error)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", self.calls->path);
    const struct trace_file_rules rules = self.calls->rules;
    enum step_status status = trace_file_create(path, &rules, &self.file, error);
    if (status == STEP_STATUS_OK)
        status = open_live_file(error);
    if (status == STEP_STATUS_OK) {
        snprintf(self.calls->path, sizeof self.calls->path, "%s", self.file->path);
        self.calls->identity = file_identity_of(self.file->descriptor);
    } else if (self.file != NULL) {
        trace_file_discard(self.file);
    }
    return status;
}

static enum step_status writer_main_put_data(struct step_error *error)
{
    struct step_output output = trace_file_output(self.file);
    self.file->ending = self.calls->ending != 0;
    return output.write(output.user, self.data, (size_t) self.calls->length, error);
}

static bool is_last(uint32_t operation)
{
    return operation == WRITER_END || operation == WRITER_DISCARD;
}

static void writer_main_end(bool discards)
{
    if (discards)
        trace_file_discard(self.file);
    trace_file_close(self.file);
    self.file = NULL;
    trace_file_remove(self.live_path, file_identity_of(self.copy.file));
}

static enum step_status answer_call(struct step_error *error)
{
    uint32_t operation = self.calls->operation;
    if (operation == WRITER_BEGIN)
        return STEP_STATUS_OK;
    if (operation == WRITER_OPEN && self.file == NULL)
        return writer_main_open_files(error);
    if (self.file == NULL)
        return STEP_STATUS_INVALID;
    if (operation == WRITER_WRITE && self.calls->length <= WRITER_DATA_BYTES)
        return writer_main_put_data(error);
    if (operation == WRITER_RESERVE)
        return trace_file_reserve(self.file, self.calls->length) ? STEP_STATUS_OK : STEP_STATUS_IO;
    if (!is_last(operation))
        return STEP_STATUS_INVALID;
    writer_main_end(operation == WRITER_DISCARD);
    return STEP_STATUS_OK;
}

static void answer(uint32_t number)
{
    struct writer_calls *calls = self.calls;
    struct step_error error = {.status = STEP_STATUS_OK};
    calls->message[0] = '\0';
    calls->status = (uint32_t) answer_call(&error);
    if (calls->status != STEP_STATUS_OK)
        snprintf(calls->message, sizeof calls->message, "%s", error.message);
    calls->full = self.file != NULL && self.file->full;
    calls->code = self.file != NULL ? self.file->code : 0;
    atomic_store(&calls->answered, number);
    futex_gate_open(&calls->answering);
}

/* Copies the rest to the live file and exits: the program has ended, or does not wait any longer.
 *
 * Both locks are taken and never given back, in the order of answer_calls(): so a call that is
 * being answered is finished first, and what it wrote is in the trace before the last copy decides
 * which chunks are still needed. The state ENDING is written before the copy, WHOLE after it. If
 * this process is killed in between, a reader knows that the program had ended but that the copy is
 * not complete. */
static void writer_main_finish(void)
{
    pthread_mutex_lock(&self.files);
    pthread_mutex_lock(&self.copies);
    if (self.copy.file >= 0) {
        ring_copy_announce_end(&self.copy);
        ring_copy_pass(&self.copy, true);
    }
    trace_file_close(self.file);
    _exit(0);
}

/* `left` is honoured only when no call is unanswered. The program sets it after its last call, also
 * after one that it has given up; that call's data must still reach the file, because the drain
 * counts those records neither as written nor as lost. */
static void *answer_calls(void *data)
{
    struct writer_calls *calls = self.calls;
    for (;;) {
        uint32_t seen = atomic_load(&calls->asking.count);
        uint32_t number = atomic_load(&calls->asked);
        if (atomic_load(&calls->left) != 0 && number == atomic_load(&calls->answered))
            writer_main_finish();
        if (number == atomic_load(&calls->answered)) {
            futex_gate_wait(&calls->asking, seen, WAIT_NS);
            continue;
        }
        pthread_mutex_lock(&self.files);
        uint32_t operation = calls->operation;
        answer(number);
        if (is_last(operation))
            _exit(0);
        pthread_mutex_unlock(&self.files);
    }
    return data;
}

/* ---- the program's end ---- */

/* The wait for the program's end and the pause between copies are one call, poll() of the pidfd, so
 * the end is noticed at once and not up to 100 ms later. `due` advances by a fixed step, unless a
 * pass has taken longer than that: then the next one does not follow without a pause. */
static void copy_until_end(void)
{
    uint64_t due = clock_monotonic_ns();
    for (;;) {
        uint64_t now = clock_monotonic_ns();
        due = due + WRITER_COPY_NS > now ? due + WRITER_COPY_NS : now;
        if (process_is_gone(self.program_file, self.program, (int) ((due - now) / 1000000)))
            writer_main_finish();
        pthread_mutex_lock(&self.copies);
        if (self.copy.file >= 0)
            ring_copy_pass(&self.copy, false);
        pthread_mutex_unlock(&self.copies);
    }
}

/* ---- start ---- */

static bool writer_main_take_arguments(int count, char **arguments)
{
    static const char program[] = "program=";
    if (count != WRITER_ARGUMENT_COUNT ||
        strtoull(arguments[WRITER_ARGUMENT_LAYOUT], NULL, 16) != WRITER_LAYOUT ||
        strncmp(arguments[WRITER_ARGUMENT_PROGRAM], program, strlen(program)) != 0)
        return false;
    self.program = (pid_t) strtol(arguments[WRITER_ARGUMENT_PROGRAM] + strlen(program), NULL, 10);
    return true;
}

static bool map_memory(void)
{
    struct stat ring, calls;
    if (fstat(WRITER_RING_DESCRIPTOR, &ring) != 0 || fstat(WRITER_CALLS_DESCRIPTOR, &calls) != 0 ||
        (uint64_t) calls.st_size != WRITER_CALLS_BYTES + WRITER_DATA_BYTES)
        return false;
    void *ring_base = mmap(NULL, (size_t) ring.st_size, PROT_READ, MAP_SHARED | MAP_NORESERVE,
                           WRITER_RING_DESCRIPTOR, 0);
    void *calls_base = mmap(NULL, (size_t) calls.st_size, PROT_READ | PROT_WRITE, MAP_SHARED,
                            WRITER_CALLS_DESCRIPTOR, 0);
    if (ring_base == MAP_FAILED || calls_base == MAP_FAILED)
        return false;
    self.copy.ring = ring_base;
    self.copy.ring_bytes = (uint64_t) ring.st_size;
    self.calls = calls_base;
    self.data = (const uint8_t *) calls_base + WRITER_CALLS_BYTES;
    clock_uses_counter = self.calls->uses_counter != 0;
    close(WRITER_RING_DESCRIPTOR);
    close(WRITER_CALLS_DESCRIPTOR);
    close(WRITER_LIBRARY_DESCRIPTOR);
    return true;
}

static void keep_message(const char *message, size_t length)
{
    snprintf(self.calls->message, sizeof self.calls->message, "%.*s", (int) length, message);
}

int writer_process_main(int count, char **arguments)
{
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (!writer_main_take_arguments(count, arguments) || !detached_let_go(WRITER_RING_DESCRIPTOR) ||
        !map_memory())
        return 1;
    prctl(PR_SET_NAME, "steptrace-write");
    log_to(keep_message);
    self.program_file = (int) syscall(SYS_pidfd_open, self.program, 0u);
    if (self.program_file < 0 && errno == ESRCH)
        return 1;
    if (pthread_create(&thread, NULL, answer_calls, NULL) != 0)
        return 1;
    copy_until_end();
    return 0;
}
