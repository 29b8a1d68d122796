/* SPDX-License-Identifier: Apache-2.0 */
/* The shared memory, the driver's processes, and the trace into both. */
#include "converter/replay/replay_run.h"
#include "converter/base/error_report.h"

#include "converter/base/memory_limit.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/open/input.h"
#include "converter/open/open_trace.h"

#define WAIT_TICK_NS 50000000L
#define DRIVER_RUNS 3u
#define OUT_OF_MEMORY "out of memory"

/* ---- allocators ---- */

static const struct {
    const char *name;
    const char *libraries[4];
} known_allocators[] = {
    {"glibc", {NULL}},
    {"jemalloc", {"libjemalloc.so.2", "libjemalloc.so", NULL}},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4", NULL}},
    {"mimalloc", {"libmimalloc.so.3", "libmimalloc.so.2", "libmimalloc.so.2.0", NULL}},
    {"snmalloc", {"libsnmallocshim.so", NULL}},
    {"hoard", {"libhoard.so", NULL}},
};
#define KNOWN_COUNT (sizeof known_allocators / sizeof known_allocators[0])

static const char *const directories[] = {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                                          "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};

static bool find_library(const char *const *names, char *path)
{
    for (; *names != NULL; names++)
        for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
            snprintf(path, PATH_MAX, "%s/%s", directories[i], *names);
            if (access(path, R_OK) == 0)
                return true;
        }
    path[0] = '\0';
    return false;
}

static enum step_status append_allocator(struct replay *replay,
                                         const struct replay_allocator *allocator,
                                         struct step_error *error)
{
    struct replay_allocator *grown =
        realloc(replay->allocators, (replay->allocator_count + 1) * sizeof *grown);
    if (grown == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, OUT_OF_MEMORY);
    replay->allocators = grown;
    grown[replay->allocator_count++] = *allocator;
    return STEP_STATUS_OK;
}

static enum step_status add_library(struct replay *replay, const char *path,
                                    struct step_error *error)
{
    struct replay_allocator allocator = {.name = path};
    if (realpath(path, allocator.library) == NULL)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, path, STEP_NO_OFFSET, "%s",
                              strerror(errno));
    if (strpbrk(allocator.library, ": ") != NULL)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                              "LD_PRELOAD takes no colon and no space in a path");
    return append_allocator(replay, &allocator, error);
}

enum step_status replay_add_allocator(struct replay *replay, const char *name,
                                      struct step_error *error)
{
    if (strchr(name, '/') != NULL)
        return add_library(replay, name, error);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        struct replay_allocator allocator = {.name = known_allocators[i].name};
        if (strcmp(name, allocator.name) != 0)
            continue;
        if (i != 0 && !find_library(known_allocators[i].libraries, allocator.library))
            return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                                  "%s is not installed (there is no %s); --allocator=PATH.so "
                                  "names any other place",
                                  name, known_allocators[i].libraries[0]);
        return append_allocator(replay, &allocator, error);
    }
    return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                          "no allocator is called '%s': glibc, jemalloc, tcmalloc, mimalloc, "
                          "snmalloc, hoard, or a path with a slash",
                          name);
}

enum step_status replay_add_installed(struct replay *replay, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < KNOWN_COUNT && status == STEP_STATUS_OK; i++) {
        struct replay_allocator allocator = {.name = known_allocators[i].name};
        if (i == 0 || find_library(known_allocators[i].libraries, allocator.library))
            status = append_allocator(replay, &allocator, error);
    }
    return status;
}

/* ---- shared memory ---- */

static enum step_status system_error(struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

static uint64_t physical_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t) pages * (uint64_t) page : UINT64_C(1) << 32;
}

static enum step_status open_memory(struct replay *replay, struct step_error *error)
{
    replay->file = memfd_create("steptrace replay", MFD_CLOEXEC);
    if (replay->file < 0 || ftruncate(replay->file, (off_t) REPLAY_PIECE_BYTES) != 0)
        return system_error(error, "memory for operations");
    replay->control =
        mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, replay->file, 0);
    if (replay->control == MAP_FAILED) {
        replay->control = NULL;
        return system_error(error, "memory for operations");
    }
    return STEP_STATUS_OK;
}

/* False: the driver has ended already. */
static bool wait_for_room(struct replay *replay)
{
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (sem_timedwait(&replay->control->emptied, &until) == 0)
            return true;
        if (waitpid(replay->process, &replay->wait_status, WNOHANG) == replay->process) {
            replay->has_died = true;
            return false;
        }
    }
}

static struct replay_piece *begin_piece(void *user)
{
    struct replay *replay = user;
    uint64_t place = replay->is_streamed ? replay->piece_count % REPLAY_RING : replay->piece_count;
    uint64_t end = (place + 2) * REPLAY_PIECE_BYTES;
    if (replay->is_streamed && !wait_for_room(replay))
        return NULL;
    if (!replay->is_streamed && end > replay->settings.memory_bytes) {
        replay->is_full = true;
        return NULL;
    }
    if ((!replay->is_streamed || replay->piece_count < REPLAY_RING) &&
        ftruncate(replay->file, (off_t) end) != 0)
        return NULL;
    void *piece = mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, replay->file,
                       (off_t) ((place + 1) * REPLAY_PIECE_BYTES));
    replay->piece = piece != MAP_FAILED ? piece : NULL;
    return replay->piece;
}

static void end_piece(void *user)
{
    struct replay *replay = user;
    munmap(replay->piece, REPLAY_PIECE_BYTES);
    replay->piece = NULL;
    replay->piece_count++;
    atomic_store(&replay->control->produced, replay->piece_count);
    if (replay->is_streamed)
        sem_post(&replay->control->filled);
}

/* ---- the trace ---- */

static enum step_status put_records(struct alloc_source *source, struct replay_plan *plan,
                                    struct step_error *error)
{
    struct hatf_record record;
    for (;;) {
        enum step_status status = alloc_source_next(source, &record, error);
        if (status == STEP_STATUS_END)
            return STEP_STATUS_OK;
        if (status == STEP_STATUS_OK)
            status = replay_plan_put(plan, &record, error);
        if (status != STEP_STATUS_OK) {
            if (error->offset == STEP_NO_OFFSET)
                error->offset = alloc_source_offset(source);
            return status;
        }
    }
}

static void note_damage(struct replay *replay, const struct alloc_source *source)
{
    size_t count = alloc_source_damage_count(source);
    for (size_t i = 0; i < count && !replay->is_damaged; i++) {
        const struct step_damage *damage = alloc_source_damage(source, i);
        char place[40] = "";
        if (damage->offset != STEP_NO_OFFSET)
            snprintf(place, sizeof place, "offset %" PRIu64 ": ", damage->offset);
        report_line("%s: %s%s", replay->settings.name, place, damage->message);
    }
    replay->is_damaged = replay->is_damaged || count > 0;
}

/* Goes through the trace once, into pieces. */
static enum step_status decode(struct replay *replay, struct step_error *error)
{
    const struct alloc_options options = {.addresses = ADDRESSES_BUMP};
    const struct replay_plan_options plan_options = {.is_threaded = replay->settings.is_threaded,
                                                     .is_paced = replay->settings.is_paced,
                                                     .refuses = replay->settings.refuses,
                                                     .begin_piece = begin_piece,
                                                     .end_piece = end_piece,
                                                     .user = replay};
    struct alloc_source *source = NULL;
    struct replay_plan *plan = NULL;
    replay->piece_count = 0;
    replay->is_full = false;
    enum step_status status =
        trace_open_allocs(replay->settings.path, replay->settings.format, &options, &source, error);
    if (status == STEP_STATUS_OK && (plan = replay_plan_create(&plan_options)) == NULL)
        status = step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, OUT_OF_MEMORY);
    if (status == STEP_STATUS_OK)
        status = put_records(source, plan, error);
    if (status == STEP_STATUS_OK)
        status = replay_plan_finish(plan, error);
    if (status == STEP_STATUS_OK) {
        replay->counts = *replay_plan_counts(plan);
        note_damage(replay, source);
    } else if (error->file[0] == '\0') {
        snprintf(error->file, sizeof error->file, "%.255s", replay->settings.name);
    }
    replay_plan_destroy(plan);
    if (source != NULL)
        alloc_source_destroy(source);
    return status;
}

/* ---- the driver ---- */

static void exec_driver(const struct replay *replay, const struct replay_allocator *allocator)
{
    char number[16];
    int file = dup(replay->file); /* without close-on-exec */
    snprintf(number, sizeof number, "%d", file);
    if (allocator->library[0] != '\0')
        setenv("LD_PRELOAD", allocator->library, 1);
    else
        unsetenv("LD_PRELOAD");
    memory_limit_lift();
    execl(replay->settings.driver, replay->settings.driver, number, (char *) NULL);
    _exit(127);
}

static void prepare_control(struct replay *replay, const struct replay_allocator *allocator)
{
    struct replay_control *control = replay->control;
    memset(control, 0, sizeof *control);
    control->touch = replay->settings.touch;
    control->is_threaded = replay->settings.is_threaded;
    control->is_empty = allocator == &replay->driver;
    control->is_streamed = replay->is_streamed;
    control->memory_bytes = physical_bytes() / 4 * 3;
    sem_init(&control->filled, 1, 0);
    sem_init(&control->emptied, 1, REPLAY_RING);
    if (!replay->is_streamed)
        control->produced = replay->piece_count;
}

static enum step_status wait_for_driver(struct replay *replay,
                                        const struct replay_allocator *allocator,
                                        struct step_error *error)
{
    while (!replay->has_died &&
           waitpid(replay->process, &replay->wait_status, 0) != replay->process)
        if (errno != EINTR)
            return system_error(error, "the driver");
    if (WIFSIGNALED(replay->wait_status))
        return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                              "%s: the driver was ended by signal %d (%s)", allocator->name,
                              WTERMSIG(replay->wait_status),
                              strsignal(WTERMSIG(replay->wait_status)));
    if (WEXITSTATUS(replay->wait_status) != 0 || !replay->control->is_done)
        return step_error_set(error, STEP_STATUS_IO, replay->settings.driver, STEP_NO_OFFSET,
                              "%s: the driver failed (exit code %d)", allocator->name,
                              WEXITSTATUS(replay->wait_status));
    return STEP_STATUS_OK;
}

static enum step_status keep_result(const struct replay *replay, struct replay_allocator *allocator,
                                    struct step_error *error)
{
    uint64_t *grown =
        realloc(allocator->busy_ns, (allocator->run_count + 1) * sizeof *allocator->busy_ns);
    if (grown == NULL || (allocator->best == NULL &&
                          (allocator->best = calloc(1, sizeof *allocator->best)) == NULL)) {
        allocator->busy_ns = grown != NULL ? grown : allocator->busy_ns;
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, OUT_OF_MEMORY);
    }
    allocator->busy_ns = grown;
    if (allocator->run_count == 0 || replay->control->busy_ns < allocator->best->busy_ns)
        memcpy(allocator->best, replay->control, sizeof *allocator->best);
    grown[allocator->run_count++] = replay->control->busy_ns;
    return STEP_STATUS_OK;
}

/* A library that cannot be preloaded is passed over by the loader. */
static enum step_status check_allocator(const struct replay *replay,
                                        const struct replay_allocator *allocator,
                                        struct step_error *error)
{
    char loaded[PATH_MAX];
    if (allocator->library[0] == '\0' || allocator == &replay->driver ||
        (realpath(replay->control->allocator, loaded) != NULL &&
         strstr(loaded, "/libc.so") == NULL && strstr(loaded, "/libc-") == NULL))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_INVALID, allocator->library, STEP_NO_OFFSET,
                          "this library has no malloc(), or cannot be loaded");
}

static enum step_status run_once(struct replay *replay, struct replay_allocator *allocator,
                                 struct step_error *error)
{
    prepare_control(replay, allocator);
    replay->has_died = false;
    fflush(NULL);
    replay->process = fork();
    if (replay->process < 0)
        return system_error(error, "the driver");
    if (replay->process == 0)
        exec_driver(replay, allocator);
    enum step_status status = STEP_STATUS_OK;
    if (replay->is_streamed) {
        status = decode(replay, error);
        atomic_store(&replay->control->is_complete, true);
        sem_post(&replay->control->filled);
        if (status != STEP_STATUS_OK && !replay->has_died)
            kill(replay->process, SIGKILL);
    }
    enum step_status ended = wait_for_driver(
        replay, allocator, status == STEP_STATUS_OK || replay->has_died ? error : NULL);
    if (status == STEP_STATUS_OK || replay->has_died)
        status = ended;
    if (status == STEP_STATUS_OK)
        status = check_allocator(replay, allocator, error);
    return status == STEP_STATUS_OK ? keep_result(replay, allocator, error) : status;
}

/* The driver's own cost is taken off everything: it is measured more than once. */
static enum step_status measure_driver(struct replay *replay, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (unsigned i = 0; !replay->is_streamed && i < DRIVER_RUNS && status == STEP_STATUS_OK; i++)
        status = run_once(replay, &replay->driver, error);
    return status;
}

static enum step_status run_all(struct replay *replay, struct step_error *error)
{
    enum step_status status = measure_driver(replay, error);
    if (status != STEP_STATUS_OK)
        return status;
    for (uint64_t i = 0; i < replay->settings.repeat; i++) {
        status = run_once(replay, &replay->driver, error);
        for (size_t j = 0; j < replay->allocator_count && status == STEP_STATUS_OK; j++)
            status = run_once(replay, &replay->allocators[j], error);
        if (status != STEP_STATUS_OK)
            break;
    }
    return status;
}

enum step_status replay_run(struct replay *replay, struct step_error *error)
{
    replay->driver.name = "driver";
    if (replay->settings.memory_bytes == 0)
        replay->settings.memory_bytes = physical_bytes() / 4;
    enum step_status status = open_memory(replay, error);
    if (status != STEP_STATUS_OK)
        return status;
    prepare_control(replay, &replay->driver);
    status = decode(replay, error);
    if (status != STEP_STATUS_OK && replay->is_full) {
        *error = (struct step_error){.offset = STEP_NO_OFFSET};
        replay->is_streamed = true;
        status = STEP_STATUS_OK;
    }
    return status == STEP_STATUS_OK ? run_all(replay, error) : status;
}

static void reset_allocator(struct replay_allocator *allocator)
{
    free(allocator->best);
    free(allocator->busy_ns);
}

void replay_reset(struct replay *replay)
{
    reset_allocator(&replay->driver);
    for (size_t i = 0; i < replay->allocator_count; i++)
        reset_allocator(&replay->allocators[i]);
    free(replay->allocators);
    if (replay->control != NULL)
        munmap(replay->control, REPLAY_PIECE_BYTES);
    if (replay->file >= 0)
        close(replay->file);
}

double replay_driver_ns_per_call(const struct replay *replay)
{
    const struct replay_control *control = replay->driver.best;
    return control->operations != 0 ? (double) control->busy_ns / (double) control->operations : 0;
}

double replay_ns_per_call(const struct replay *replay, const struct replay_allocator *allocator)
{
    const struct replay_control *control = allocator->best;
    if (control->operations == 0)
        return 0;
    double ns = (double) control->busy_ns / (double) control->operations -
                replay_driver_ns_per_call(replay);
    return ns > 0 ? ns : 0;
}
