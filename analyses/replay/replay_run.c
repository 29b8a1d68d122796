/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the operations of a trace into shared memory, starts the runs of a replay, and collects the
 * result of each. */
#include "analyses/replay/replay_run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/memory_limit.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "format/core/grow.h"

/* ---- the driver's process ---- */

/* The driver ends with `replay`, whatever ends that: else it would wait for its next piece. */
static void become_driver(const char *program, const char *library, int file, pid_t replay)
{
    char number[16];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != replay)
        _exit(127);
    snprintf(number, sizeof number, "%d", dup(file)); /* a descriptor without close-on-exec */
    if (library[0] != '\0')
        setenv("LD_PRELOAD", library, 1);
    else
        unsetenv("LD_PRELOAD");
    memory_limit_lift();
    execl(program, program, number, (char *) NULL);
    _exit(127);
}

static enum step_status system_error(struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "%s: %s", what,
                          strerror(errno));
}

/* Starts `program`, which inherits the open `file`.  `library` may be empty. */
static enum step_status replay_process_start(struct replay_process *process, const char *program,
                                             const char *library, int file,
                                             struct step_error *error)
{
    process->has_ended = false;
    fflush(NULL);
    const pid_t self = getpid();
    process->id = fork();
    if (process->id < 0)
        return system_error(error, "the driver");
    if (process->id == 0)
        become_driver(program, library, file, self);
    return STEP_STATUS_OK;
}

static bool replay_process_has_ended(struct replay_process *process)
{
    if (!process->has_ended)
        process->has_ended = waitpid(process->id, &process->wait_status, WNOHANG) == process->id;
    return process->has_ended;
}

/* Returns that error, also for a driver that exited without a result. */
static enum step_status replay_process_failed(const struct replay_process *process,
                                              const char *program, const char *allocator,
                                              struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, program, STEP_NO_OFFSET,
                          "%s: the driver failed (exit code %d)", allocator,
                          WEXITSTATUS(process->wait_status));
}

/* Waits for the end.  Returns IO if a signal ended the process or its exit code is not 0; the
 * message names the program and the allocator. */
static enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                            const char *allocator, struct step_error *error)
{
    while (!process->has_ended && waitpid(process->id, &process->wait_status, 0) != process->id)
        if (errno != EINTR)
            return system_error(error, "the driver");
    process->has_ended = true;
    if (WIFSIGNALED(process->wait_status))
        return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                              "%s: the driver was killed by signal %d (%s)", allocator,
                              WTERMSIG(process->wait_status),
                              strsignal(WTERMSIG(process->wait_status)));
    return WEXITSTATUS(process->wait_status) == 0
               ? STEP_STATUS_OK
               : replay_process_failed(process, program, allocator, error);
}

/* ---- pieces: a memory file that grows ---- */

#define WAIT_TICK_NS 50000000L
#define BYTES_UNKNOWN (UINT64_C(1) << 32) /* if the machine's memory size is unknown */

static uint64_t physical_bytes(void)
{
    uint64_t bytes = memory_physical_bytes();
    return bytes != 0 ? bytes : BYTES_UNKNOWN;
}

static void *map_piece(const struct replay_pieces *pieces, uint64_t place)
{
    void *memory = mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, pieces->file,
                        (off_t) (place * REPLAY_PIECE_BYTES));
    return memory != MAP_FAILED ? memory : NULL;
}

/* Allocates the control block only.  Close is allowed after a failure. */
static enum step_status replay_pieces_open(struct replay_pieces *pieces, uint64_t memory_bytes,
                                           struct replay_process *driver, struct step_error *error)
{
    pieces->driver = driver;
    pieces->memory_bytes = memory_bytes != 0 ? memory_bytes : physical_bytes() / 4;
    pieces->file = memfd_create("steptrace replay", MFD_CLOEXEC);
    if (pieces->file < 0 || ftruncate(pieces->file, (off_t) REPLAY_PIECE_BYTES) != 0)
        return system_error(error, "memory for operations");
    pieces->control = map_piece(pieces, 0);
    return pieces->control != NULL ? STEP_STATUS_OK : system_error(error, "memory for operations");
}

/* Initialises the control block for the next driver.  `is_empty`: without an allocator. */
static void replay_pieces_prepare(struct replay_pieces *pieces,
                                  const struct replay_settings *settings, bool is_empty)
{
    struct replay_control *control = pieces->control;
    memset(control, 0, sizeof *control);
    control->touch = settings->touch;
    control->is_threaded = settings->is_threaded;
    control->is_empty = is_empty;
    control->is_streamed = pieces->is_streamed;
    control->memory_bytes = physical_bytes() / 4 * 3;
    sem_init(&control->filled, 1, 0);
    sem_init(&control->emptied, 1, REPLAY_RING);
    if (!pieces->is_streamed)
        control->produced = pieces->count;
}

static void replay_pieces_close(struct replay_pieces *pieces)
{
    if (pieces->control != NULL)
        munmap(pieces->control, REPLAY_PIECE_BYTES);
    if (pieces->file >= 0)
        close(pieces->file);
}

/* ---- pieces of operations ----
 * The begin and end functions, called alternately, implement those of struct replay_plan_options.
 * Begin returns NULL if there is no room (is_full), or if the driver of a streamed replay has
 * ended. */

/* Returns false if the driver has ended. */
static bool wait_for_room(struct replay_pieces *pieces)
{
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += WAIT_TICK_NS;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        if (sem_timedwait(&pieces->control->emptied, &until) == 0)
            return true;
        if (replay_process_has_ended(pieces->driver))
            return false;
    }
}

/* Returns false if there is none. */
static bool find_room(struct replay_pieces *pieces, uint64_t place)
{
    uint64_t end = (place + 2) * REPLAY_PIECE_BYTES;
    if (pieces->is_streamed && !wait_for_room(pieces))
        return false;
    if (!pieces->is_streamed && end > pieces->memory_bytes) {
        pieces->is_full = true;
        return false;
    }
    bool is_there = pieces->is_streamed && pieces->count >= REPLAY_RING;
    return is_there || ftruncate(pieces->file, (off_t) end) == 0;
}

static struct replay_piece *replay_pieces_begin(void *user)
{
    struct replay_pieces *pieces = user;
    uint64_t place = pieces->is_streamed ? pieces->count % REPLAY_RING : pieces->count;
    if (!find_room(pieces, place))
        return NULL;
    pieces->piece = map_piece(pieces, place + 1);
    return pieces->piece;
}

static void replay_pieces_end(void *user)
{
    struct replay_pieces *pieces = user;
    munmap(pieces->piece, REPLAY_PIECE_BYTES);
    pieces->piece = NULL;
    pieces->count++;
    atomic_store(&pieces->control->produced, pieces->count);
    if (pieces->is_streamed)
        sem_post(&pieces->control->filled);
}

/* Marks a streamed replay as complete: no more pieces follow. */
static void replay_pieces_complete(struct replay_pieces *pieces)
{
    atomic_store(&pieces->control->is_complete, true);
    sem_post(&pieces->control->filled);
}

static enum step_status replay_run_put_records(struct alloc_source *source,
                                               struct replay_plan *plan, struct step_error *error)
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
                error->offset = source->offset;
            return status;
        }
    }
}

/* Returns what a STEP trace lacks without a damaged place; NULL: nothing that is known. */
static const char *gap_of(const struct trace_about *about, char *text)
{
    while (about->inner != NULL)
        about = about->inner;
    return about->reader != NULL ? trace_gap(about->reader, text) : NULL;
}

static void note_damage(struct replay_trace *trace, const char *name,
                        const struct alloc_source *source)
{
    char text[TRACE_GAP_ROOM];
    size_t count = trace_damage_count(&source->about);
    for (size_t i = 0; i < count && i < REPORT_DAMAGE_MOST && !trace->is_damaged; i++)
        report_damage(name, trace_damage(&source->about, i));
    if (!trace->is_damaged)
        report_damage_left(name, count);
    const char *gap = gap_of(&source->about, text);
    if (count == 0 && gap != NULL && !trace->is_damaged)
        report_line("%s: %s", name, gap);
    trace->is_damaged = trace->is_damaged || count > 0 || gap != NULL;
}

/* Converts all records of the source to pieces. */
static enum step_status make_pieces(struct alloc_source *source,
                                    const struct replay_plan_options *options,
                                    struct replay_counts *counts, struct step_error *error)
{
    struct replay_plan *plan = replay_plan_create(options);
    if (plan == NULL)
        return no_memory(error);
    enum step_status status = replay_run_put_records(source, plan, error);
    if (status == STEP_STATUS_OK)
        status = replay_plan_finish(plan, error);
    if (status == STEP_STATUS_OK)
        *counts = plan->counts;
    replay_plan_destroy(plan);
    return status;
}

/* Reads the trace once. */
static enum step_status replay_trace_decode(struct replay_trace *trace,
                                            const struct replay_settings *settings,
                                            struct replay_pieces *pieces, struct step_error *error)
{
    const struct alloc_options options = {.addresses = ADDRESSES_BUMP};
    const struct replay_plan_options plan = {.is_threaded = settings->is_threaded,
                                             .is_paced = settings->is_paced,
                                             .refuses = settings->refuses,
                                             .begin_piece = replay_pieces_begin,
                                             .end_piece = replay_pieces_end,
                                             .user = pieces};
    struct alloc_source *source = NULL;
    pieces->count = 0;
    pieces->is_full = false;
    enum step_status status =
        trace_open_allocs(settings->path, settings->format, &options, &source, error);
    if (status == STEP_STATUS_OK)
        status = make_pieces(source, &plan, &trace->counts, error);
    if (status == STEP_STATUS_OK)
        note_damage(trace, settings->name, source);
    else if (error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%.255s", settings->name);
    if (source != NULL)
        alloc_source_destroy(source);
    return status;
}

/* ---- known allocators, searched in the library directories ---- */

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

static enum step_status replay_run_append(struct replay_allocators *allocators,
                                          const struct replay_allocator *allocator,
                                          struct step_error *error)
{
    if (!STEP_MAKE_ROOM(allocators->items, allocators->capacity, allocators->count + 1))
        return no_memory(error);
    allocators->items[allocators->count++] = *allocator;
    return STEP_STATUS_OK;
}

static enum step_status add_library(struct replay_allocators *allocators, const char *path,
                                    struct step_error *error)
{
    struct replay_allocator allocator = {.name = path};
    if (realpath(path, allocator.library) == NULL)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, path, STEP_NO_OFFSET, "%s",
                              strerror(errno));
    if (strpbrk(allocator.library, ": ") != NULL)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                              "LD_PRELOAD accepts no colons or spaces in a path");
    return replay_run_append(allocators, &allocator, error);
}

enum step_status replay_allocators_add(struct replay_allocators *allocators, const char *name,
                                       struct step_error *error)
{
    if (strchr(name, '/') != NULL)
        return add_library(allocators, name, error);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        struct replay_allocator allocator = {.name = known_allocators[i].name};
        if (strcmp(name, allocator.name) != 0)
            continue;
        if (i != 0 && !find_library(known_allocators[i].libraries, allocator.library))
            return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                                  "%s is not installed (there is no %s); --allocator=PATH.so "
                                  "names any other place",
                                  name, known_allocators[i].libraries[0]);
        return replay_run_append(allocators, &allocator, error);
    }
    return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                          "no allocator is called '%s': glibc, jemalloc, tcmalloc, mimalloc, "
                          "snmalloc, hoard, or a path with a slash",
                          name);
}

enum step_status replay_allocators_add_installed(struct replay_allocators *allocators,
                                                 struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < KNOWN_COUNT && status == STEP_STATUS_OK; i++) {
        struct replay_allocator allocator = {.name = known_allocators[i].name};
        if (i == 0 || find_library(known_allocators[i].libraries, allocator.library))
            status = replay_run_append(allocators, &allocator, error);
    }
    return status;
}

static void replay_allocator_reset(struct replay_allocator *allocator)
{
    free(allocator->best);
    free(allocator->busy_ns);
}

/* Stores a run's result, with a copy if it is the best so far. */
static enum step_status replay_allocator_keep(struct replay_allocator *allocator,
                                              const struct replay_control *result,
                                              struct step_error *error)
{
    if (!STEP_MAKE_ROOM(allocator->busy_ns, allocator->run_capacity, allocator->run_count + 1))
        return no_memory(error);
    if (allocator->best == NULL && (allocator->best = calloc(1, sizeof *result)) == NULL)
        return no_memory(error);
    if (allocator->run_count == 0 || result->busy_ns < allocator->best->busy_ns)
        memcpy(allocator->best, result, sizeof *result);
    allocator->busy_ns[allocator->run_count++] = result->busy_ns;
    return STEP_STATUS_OK;
}

#define DRIVER_RUNS 3u

/* The loader ignores a library that it cannot preload. */
static enum step_status check_allocator(const struct replay *replay,
                                        const struct replay_allocator *allocator,
                                        struct step_error *error)
{
    char loaded[PATH_MAX];
    if (allocator->library[0] == '\0' || allocator == &replay->driver ||
        (realpath(replay->pieces.control->allocator, loaded) != NULL &&
         strstr(loaded, "/libc.so") == NULL && strstr(loaded, "/libc-") == NULL))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_INVALID, allocator->library, STEP_NO_OFFSET,
                          "this library has no malloc(), or cannot be loaded");
}

/* Reads the trace while the driver consumes pieces.  Returns OK also if the driver ended early; the
 * driver reports the reason. */
static enum step_status stream_trace(struct replay *replay, struct step_error *error)
{
    enum step_status status =
        replay_trace_decode(&replay->trace, &replay->settings, &replay->pieces, error);
    replay_pieces_complete(&replay->pieces);
    if (replay->process.has_ended)
        return STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        kill(replay->process.id, SIGKILL);
    return status;
}

static enum step_status wait_for_driver(struct replay *replay, const char *allocator,
                                        struct step_error *error)
{
    const char *program = replay->settings.driver;
    enum step_status status = replay_process_wait(&replay->process, program, allocator, error);
    if (status == STEP_STATUS_OK && !replay->pieces.control->is_done)
        status = replay_process_failed(&replay->process, program, allocator, error);
    return status;
}

static enum step_status run_once(struct replay *replay, struct replay_allocator *allocator,
                                 struct step_error *error)
{
    replay_pieces_prepare(&replay->pieces, &replay->settings, allocator == &replay->driver);
    enum step_status status = replay_process_start(&replay->process, replay->settings.driver,
                                                   allocator->library, replay->pieces.file, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (replay->pieces.is_streamed)
        status = stream_trace(replay, error);
    enum step_status ended =
        wait_for_driver(replay, allocator->name, status == STEP_STATUS_OK ? error : NULL);
    if (status == STEP_STATUS_OK)
        status = ended;
    if (status == STEP_STATUS_OK)
        status = check_allocator(replay, allocator, error);
    return status == STEP_STATUS_OK
               ? replay_allocator_keep(allocator, replay->pieces.control, error)
               : status;
}

/* The driver's own cost is subtracted from every result, so it is measured several times. */
static enum step_status measure_driver(struct replay *replay, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    for (unsigned i = 0; !replay->pieces.is_streamed && i < DRIVER_RUNS && status == STEP_STATUS_OK;
         i++)
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
        for (size_t j = 0; j < replay->allocators.count && status == STEP_STATUS_OK; j++)
            status = run_once(replay, &replay->allocators.items[j], error);
        if (status != STEP_STATUS_OK)
            break;
    }
    return status;
}

void replay_init(struct replay *replay, const struct replay_settings *settings)
{
    *replay = (struct replay){
        .settings = *settings, .driver = {.name = "driver"}, .pieces = {.file = -1}};
}

enum step_status replay_run(struct replay *replay, struct step_error *error)
{
    struct replay_pieces *pieces = &replay->pieces;
    enum step_status status =
        replay_pieces_open(pieces, replay->settings.memory_bytes, &replay->process, error);
    if (status != STEP_STATUS_OK)
        return status;
    replay_pieces_prepare(pieces, &replay->settings, true);
    status = replay_trace_decode(&replay->trace, &replay->settings, pieces, error);
    if (status != STEP_STATUS_OK && pieces->is_full) {
        *error = (struct step_error){.offset = STEP_NO_OFFSET};
        pieces->is_streamed = true;
        status = STEP_STATUS_OK;
    }
    return status == STEP_STATUS_OK ? run_all(replay, error) : status;
}

void replay_reset(struct replay *replay)
{
    replay_allocator_reset(&replay->driver);
    for (size_t i = 0; i < replay->allocators.count; i++)
        replay_allocator_reset(&replay->allocators.items[i]);
    free(replay->allocators.items);
    replay_pieces_close(&replay->pieces);
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
