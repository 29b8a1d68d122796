/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the writer process, and calls it. */
#include "capture/writer_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/detached.h"
#include "format/core/step_no_memory.h"

#define START_PATIENCE_NS UINT64_C(60000000000) /* limit of WRITER_BEGIN and WRITER_OPEN */
#define WAIT_NS INT64_C(100000000)
#define LEAVE_POLLS 50
#define LEAVE_POLL_NS 2000000L

/* ---- the program that is executed ---- */

static int take_interpreter(struct dl_phdr_info *info, size_t size, void *found)
{
    (void) size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **) found = (const char *) (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the first is the program */
}

/* Returns the loader that this process was started with, which can load the library as a
 * program. */
static const char *find_loader(void)
{
    const char *found = NULL;
    dl_iterate_phdr(take_interpreter, &found);
    return found;
}

/* The library as it was when it was loaded. Later its name may lead elsewhere: steptrace.jar
 * removes the file that it has unpacked into a directory that others can write, and each trace
 * starts a writer. A mapping takes no descriptor, which the program could see, close, or take over,
 * and no memory until it is read.
 *
 * It is taken at load, before any other code of the agent, and kept for good. Opening the file at
 * each trace would be wrong in two ways: whoever can write the directory could have their own
 * program run with the JVM's rights, and a package update would start a writer whose layout of the
 * shared memory differs. WRITER_LAYOUT checks the latter nevertheless. */
static struct {
    const uint8_t *bytes;
    size_t length;
} library;

static int map_library(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0)
        return errno;
    if (!S_ISREG(about.st_mode) || about.st_size <= 0)
        return ENOEXEC;
    void *base = mmap(NULL, (size_t) about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (base == MAP_FAILED)
        return errno;
    library.bytes = base;
    library.length = (size_t) about.st_size;
    return 0;
}

int writer_process_keep_library(void)
{
    Dl_info info;
    if (library.bytes != NULL)
        return 0;
    if (dladdr((void *) &library, &info) == 0)
        return ENOEXEC;
    int file = open(info.dli_fname, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return errno;
    int code = map_library(file);
    close(file);
    return code;
}

/* Returns a descriptor of a copy that nobody can change, or -1 and sets errno. */
static int copy_library(void)
{
    int code = writer_process_keep_library();
    int file = code == 0 ? memfd_create("steptrace-writer", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;
    for (size_t at = 0; file >= 0 && at < library.length;) {
        ssize_t written = write(file, library.bytes + at, library.length - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            code = written == 0 ? ENOSPC : errno;
            close(file);
            errno = code;
            return -1;
        }
        at += (size_t) written;
    }
    if (code != 0)
        errno = code;
    else
        fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return file;
}

/* The loader is the file by which the kernel has started this process: whoever can replace it runs
 * every program of this machine. */
static int run_library(struct writer_process *writer, const int *descriptors)
{
    char path[40], layout[24], program[40];
    const char *loader = find_loader();
    if (loader == NULL)
        return ENOEXEC;
    snprintf(path, sizeof path, "/proc/self/fd/%d", WRITER_LIBRARY_DESCRIPTOR);
    snprintf(layout, sizeof layout, "%" PRIx64, (uint64_t) WRITER_LAYOUT);
    snprintf(program, sizeof program, "program=%ld", (long) getpid());
    char *const arguments[] = {(char *) loader, path, layout, program, NULL};
    /* Before glibc 2.34 these were separate libraries. */
    char *const environment[] = {"LD_PRELOAD=libpthread.so.0 libdl.so.2", NULL};
    struct detached detached = {.arguments = arguments,
                                .environment = environment,
                                .descriptors = descriptors,
                                .descriptor_count = WRITER_DESCRIPTORS};
    int code = detached_start(&detached);
    writer->process = detached.process;
    return code;
}

/* ---- memory ---- */

/* Creates and maps a file in memory whose length cannot be changed. */
static void *make_memory(const char *name, uint64_t bytes, int *file)
{
    *file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*file < 0 || ftruncate(*file, (off_t) bytes) != 0 ||
        fcntl(*file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return NULL;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *file, 0);
    if (base == MAP_FAILED)
        return NULL;
    madvise(base, bytes, MADV_DONTDUMP);
    return base;
}

static void unmap(struct writer_process *writer)
{
    if (writer->ring != NULL)
        munmap(writer->ring, writer->ring_bytes);
    if (writer->calls != NULL)
        munmap(writer->calls, WRITER_CALLS_BYTES + WRITER_DATA_BYTES);
}

static int start(struct writer_process *writer)
{
    int files[WRITER_DESCRIPTORS] = {-1, -1, -1}, code = 0;
    writer->ring = make_memory("steptrace-ring", writer->ring_bytes, &files[0]);
    if (writer->ring != NULL)
        writer->calls =
            make_memory("steptrace-calls", WRITER_CALLS_BYTES + WRITER_DATA_BYTES, &files[1]);
    if (writer->calls == NULL || (files[2] = copy_library()) < 0)
        code = errno;
    if (code == 0) {
        writer->calls->uses_counter = clock_uses_counter;
        code = run_library(writer, files);
    }
    for (int i = 0; i < WRITER_DESCRIPTORS; i++)
        if (files[i] >= 0)
            close(files[i]);
    return code;
}

/* ---- calls ---- */

/* If this process is the first of its PID namespace, the writer becomes its child after all. */
static bool has_ended(const struct writer_process *writer)
{
    return waitpid(writer->process, NULL, WNOHANG | (int) __WALL) == writer->process ||
           (kill(writer->process, 0) != 0 && errno == ESRCH);
}

/* Returns false if there will be no answer. */
static bool wait_for_answer(struct writer_process *writer, uint32_t number,
                            struct step_error *error)
{
    struct writer_calls *calls = writer->calls;
    uint64_t start = clock_monotonic_ns();
    while (atomic_load(&calls->answered) != number) {
        uint32_t seen = atomic_load(&calls->answering.count);
        if (atomic_load(&calls->answered) == number)
            break;
        bool in_time = futex_gate_wait(&calls->answering, seen, WAIT_NS);
        uint64_t waited_ns = clock_monotonic_ns() - start;
        bool is_late = writer->gives_up != NULL ? writer->gives_up(writer->owner, waited_ns)
                                                : waited_ns > START_PATIENCE_NS;
        if (is_late || (!in_time && has_ended(writer) && atomic_load(&calls->answered) != number)) {
            writer->is_lost = true;
            step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                           is_late
                               ? "the process that writes the trace does not respond; it continues "
                                 "when the disk responds, and the rest is in the live file"
                               : "the process that writes the trace has ended: it was killed, or "
                                 "could not begin");
            return false;
        }
    }
    return true;
}

/* The operation and its length are plain stores. The store of `asked` (sequentially consistent)
 * publishes them to the writer process, which loads it before it reads them; `answered` publishes
 * the answer the same way in the other direction. One call is in flight at a time, so no member has
 * two writers at once. A call's number distinguishes its answer from that of an earlier call, which
 * may come late. */
bool writer_process_call(struct writer_process *writer, enum writer_operation operation,
                         uint64_t length, struct step_error *error)
{
    struct writer_calls *calls = writer->calls;
    if (writer->is_lost) {
        step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                       "the process that writes it is gone");
        return false;
    }
    calls->operation = operation;
    calls->length = length;
    uint32_t number = atomic_load(&calls->asked) + 1;
    atomic_store(&calls->asked, number);
    futex_gate_open(&calls->asking);
    if (!wait_for_answer(writer, number, error))
        return false;
    if (calls->status != STEP_STATUS_OK)
        step_error_set(error, (enum step_status) calls->status, NULL, STEP_NO_OFFSET, "%.*s",
                       (int) sizeof calls->message - 1, calls->message);
    return calls->status == STEP_STATUS_OK;
}

/* ---- start and end ---- */

struct writer_process *writer_process_start(uint64_t ring_bytes, struct step_error *error)
{
    struct writer_process *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        step_no_memory(error, NULL);
        return NULL;
    }
    writer->ring_bytes = ring_bytes;
    int code = start(writer);
    if (code != 0)
        step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "%s", strerror(code));
    if (code == 0 && writer_process_call(writer, WRITER_BEGIN, 0, error))
        return writer;
    writer_process_destroy(writer);
    return NULL;
}

/* If it is a child after all, nothing else waits for it. */
void writer_process_leave(struct writer_process *writer)
{
    writer->is_lost = true;
    atomic_store(&writer->calls->left, 1);
    futex_gate_open(&writer->calls->asking);
    for (int i = 0; i < LEAVE_POLLS; i++) {
        if (waitpid(writer->process, NULL, WNOHANG | (int) __WALL) != 0)
            return;
        nanosleep(&(struct timespec){0, LEAVE_POLL_NS}, NULL);
    }
}

void writer_process_destroy(struct writer_process *writer)
{
    if (writer == NULL)
        return;
    unmap(writer);
    free(writer);
}
