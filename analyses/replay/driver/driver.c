/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay driver: executes prepared operations (replay_ops.h) with the preloaded allocator.  It
 * never allocates itself: its own memory is mapped.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyses/replay/driver/driver_state.h"
#include "analyses/replay/driver/replay_ops.h"

/* ---- the replay loop, which executes operations, and the clocks of its threads, in nanoseconds
 * ---- */

/* Clocks at the start of a pass over the loop. */
struct driver_clocks {
    uint64_t busy_ns, wall_ns;
};

/* Time that a pass took: on a CPU, and blocked (neither on a CPU nor waiting for one). */
struct driver_times {
    uint64_t busy_ns, blocked_ns;
};

/* Totals of a thread.  Zero-initialised. */
struct driver_run {
    struct driver_times times;
    uint64_t operations, failures;
    bool is_ended; /* the thread of the trace has ended */
};

#define SLOW_NS 2000u /* a pass that was off the CPU for longer is examined */

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static uint64_t driver_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Returns the CPU time of the calling thread, including the kernel, so that other processes do not
 * count. */
static uint64_t busy_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Time that the calling thread had waited for a CPU at the last look. */
static __thread struct {
    int file; /* 0: not opened yet */
    uint64_t seen_ns;
} ready;

/* Returns the time since the last look. */
static uint64_t ready_ns(void)
{
    char text[96];
    if (ready.file == 0)
        ready.file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = ready.file > 0 ? pread(ready.file, text, sizeof text - 1, 0) : 0;
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *at = text;
    strtoull(at, &at, 10);
    uint64_t now = strtoull(at, NULL, 10), since = now - ready.seen_ns;
    ready.seen_ns = now;
    return since;
}

static struct driver_clocks driver_clocks_look(void)
{
    ready_ns();
    return (struct driver_clocks){.wall_ns = driver_now_ns(), .busy_ns = busy_ns()};
}

/* Adds the time since `start`. */
static void driver_times_add(struct driver_times *times, struct driver_clocks start)
{
    uint64_t busy = busy_ns() - start.busy_ns;
    uint64_t wall = driver_now_ns() - start.wall_ns;
    times->busy_ns += busy;
    if (wall < busy + SLOW_NS)
        return;
    uint64_t off = wall - busy, waited = ready_ns();
    times->blocked_ns += off > waited ? off - waited : 0;
}

static struct {
    pthread_mutex_t lock;
    int status_file;
    uint64_t base_resident;
    uint64_t stride, countdown; /* keep one sample in `stride`; skip `countdown` before the next */
} sampling = {.lock = PTHREAD_MUTEX_INITIALIZER, .stride = 1};

/* Returns private memory in bytes: resident without shared pages. */
static uint64_t resident_bytes(void)
{
    char text[128];
    ssize_t length = pread(sampling.status_file, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *at = text;
    strtoul(at, &at, 10);
    uint64_t resident = strtoul(at, &at, 10), shared = strtoul(at, &at, 10);
    return (resident - shared) * DRIVER_PAGE;
}

static void keep_sample(const struct replay_sample *sample)
{
    struct replay_control *control = driver.control;
    if (control->sample_count == REPLAY_SAMPLES) {
        for (uint32_t i = 0; i < REPLAY_SAMPLES / 2; i++)
            control->samples[i] = control->samples[2 * i];
        control->sample_count = REPLAY_SAMPLES / 2;
        sampling.stride *= 2;
    }
    control->samples[control->sample_count++] = *sample;
}

/* Takes a sample; thread-safe.  If there are many, the sampling rate falls, so at most
 * REPLAY_SAMPLES are kept. */
static void driver_samples_take(uint64_t live_bytes, uint64_t operations)
{
    struct replay_control *control = driver.control;
    pthread_mutex_lock(&sampling.lock);
    control->last_live_bytes = live_bytes;
    if (sampling.countdown-- == 0) {
        uint64_t resident = resident_bytes();
        resident = resident > sampling.base_resident ? resident - sampling.base_resident : 0;
        if (resident > control->peak_resident_bytes)
            control->peak_resident_bytes = resident;
        control->final_resident_bytes = resident;
        keep_sample(&(struct replay_sample){operations, live_bytes, resident});
        sampling.countdown = sampling.stride - 1;
    }
    pthread_mutex_unlock(&sampling.lock);
}

#define SPINS 200
#define LONG_PAUSE_NS 10000000u /* after which memory is sampled */

static void driver_wait_for(uint32_t thread, uint64_t count)
{
    for (unsigned i = 0;
         atomic_load_explicit(&driver.progress[thread].done, memory_order_acquire) < count; i++)
        if (i >= SPINS)
            sched_yield();
}

/* Waits until the trace's time of the next operation.  Without an allocator there is no wait. */
static void pause_until(uint64_t after_ns, uint64_t operations)
{
    uint64_t until = driver.start_ns + after_ns, before = driver_now_ns();
    const struct timespec time = {(time_t) (until / 1000000000u), (long) (until % 1000000000u)};
    if (driver.control->is_empty || before >= until)
        return;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) != 0)
        ;
    if (until - before > LONG_PAUSE_NS)
        driver_samples_take(driver.control->last_live_bytes, operations);
}

static inline void touch(void *block, uint64_t size, uint32_t how)
{
    if (how == REPLAY_TOUCH_NONE || size == 0 || block == NULL || driver.control->is_empty)
        return;
    if (how == REPLAY_TOUCH_ALL)
        memset(block, 0x5a, size);
    else
        *(volatile char *) block = 0x5a;
}

static void *heap_malloc(uint32_t heap, uint64_t size)
{
    if (driver.allocator.heap_malloc == NULL || driver.heaps[heap] == NULL)
        return driver.allocator.malloc(size);
    return driver.allocator.heap_malloc(driver.heaps[heap], size);
}

/* Calls the function that the trace has instead of malloc. */
static void *allocate_as(uint32_t how, uint64_t size)
{
    void *block = NULL;
    if (driver.control->is_empty)
        return driver.allocator.malloc(size);
    if (how == REPLAY_AS_CALLOC)
        return calloc(1, size);
    return posix_memalign(&block, (size_t) 1 << (how - REPLAY_ALIGNED), size) == 0 ? block : NULL;
}

/* Operations that are not timed, or that are rare. */
static void run_other(const struct replay_op *op, struct driver_run *run, uint64_t operations)
{
    uint64_t size = op->size_kind >> REPLAY_KIND_BITS;
    const struct allocator *allocator = &driver.allocator;
    switch ((enum replay_kind)(op->size_kind & ((1u << REPLAY_KIND_BITS) - 1))) {
    case REPLAY_HEAP_MALLOC:
        driver.slots[op->slot] = heap_malloc(op->extra, size);
        touch(driver.slots[op->slot], size, driver.control->touch);
        return;
    case REPLAY_HEAP_FREE:
        if (allocator->heap_create == NULL)
            allocator->free(driver.slots[op->slot]);
        driver.slots[op->slot] = NULL;
        return;
    case REPLAY_HEAP_CREATE:
        if (allocator->heap_create != NULL)
            driver.heaps[op->extra] = allocator->heap_create();
        return;
    case REPLAY_HEAP_DESTROY:
        if (allocator->heap_create != NULL && driver.heaps[op->extra] != NULL)
            allocator->heap_destroy(driver.heaps[op->extra]);
        driver.heaps[op->extra] = NULL;
        return;
    case REPLAY_WAIT:
        driver_wait_for(op->slot, size);
        return;
    case REPLAY_THREAD_END:
        run->is_ended = true;
        return;
    case REPLAY_PAUSE:
        pause_until(size, operations);
        return;
    default:
        driver_samples_take(size, operations);
    }
}

/* Runs calls of the allocator up to the next operation of another kind, and returns that
 * operation. */
static const struct replay_op *run_calls(const struct replay_op *op, const struct replay_op *end,
                                         uint64_t *failures, struct driver_progress *progress)
{
    const struct allocator allocator = driver.allocator;
    const uint32_t how = driver.control->touch;
    void **const slots = driver.slots;
    uint64_t done = 0, failed = 0;
    if (progress != NULL)
        done = atomic_load_explicit(&progress->done, memory_order_relaxed);
    for (; op < end; op++) {
        __builtin_prefetch(&slots[op[REPLAY_AHEAD].slot], 1);
        void **slot = &slots[op->slot];
        const uint64_t size = op->size_kind >> REPLAY_KIND_BITS;
        const unsigned kind = op->size_kind & ((1u << REPLAY_KIND_BITS) - 1);
        if (kind == REPLAY_MALLOC) {
            void *block = __builtin_expect(op->extra == REPLAY_AS_MALLOC, 1)
                              ? allocator.malloc(size)
                              : allocate_as(op->extra, size);
            *slot = block;
            failed += block == NULL;
            touch(block, size, how);
        } else if (kind == REPLAY_FREE) {
            allocator.free(*slot);
        } else if (kind == REPLAY_REALLOC) {
            void *block = allocator.realloc(op->extra == 0 ? *slot : NULL, size);
            if (block != NULL || size == 0 || op->extra != 0)
                *slot = block;
            failed += block == NULL && size != 0;
            touch(block, size, how);
        } else {
            break;
        }
        if (progress != NULL)
            atomic_store_explicit(&progress->done, ++done, memory_order_release);
    }
    *failures += failed;
    return op;
}

/* Executes a thread's operations of a piece. */
static void driver_run_section(struct replay_piece *piece, const struct replay_section *section,
                               struct driver_run *run)
{
    const struct replay_op *op = replay_piece_ops(piece) + section->first;
    const struct replay_op *end = op + section->count;
    struct driver_progress *progress =
        driver.control->is_threaded ? &driver.progress[section->thread] : NULL;
    while (op < end) {
        struct driver_clocks start = driver_clocks_look();
        const struct replay_op *next = run_calls(op, end, &run->failures, progress);
        driver_times_add(&run->times, start);
        run->operations += (uint64_t) (next - op);
        op = next;
        if (op == end)
            break;
        unsigned kind = op->size_kind & ((1u << REPLAY_KIND_BITS) - 1);
        bool is_call = kind == REPLAY_HEAP_MALLOC || kind == REPLAY_HEAP_DESTROY ||
                       kind == REPLAY_HEAP_CREATE || kind == REPLAY_HEAP_FREE;
        if (is_call)
            start = driver_clocks_look();
        run_other(op, run, driver.operations + run->operations);
        if (is_call)
            driver_times_add(&run->times, start);
        run->operations += kind == REPLAY_HEAP_MALLOC;
        bool is_counted = kind != REPLAY_WAIT && kind != REPLAY_SAMPLE && kind != REPLAY_PAUSE;
        if (progress != NULL && is_counted)
            atomic_fetch_add_explicit(&progress->done, 1, memory_order_release);
        op++;
    }
}

/* Adds the totals to the driver's. */
static void driver_run_add(const struct driver_run *run)
{
    driver.operations += run->operations;
    driver.failures += run->failures;
    driver.busy_ns += run->times.busy_ns;
    driver.blocked_ns += run->times.blocked_ns;
}

/* ---- queues with one writer and one reader, and a semaphore at each end ---- */

#define QUEUE 16u
#define STACK_BYTES (256u << 10)

struct queued {
    struct replay_piece *piece;
    const struct replay_section *section;
    _Atomic uint32_t *open_sections;
};

struct worker {
    pthread_t thread;
    bool is_running;
    sem_t work, room;
    struct queued queue[QUEUE];
    uint64_t head, tail; /* of the driver, and of the worker */
};

static struct worker *workers; /* by thread of the trace */
static uint32_t worker_end;    /* exceeds the index of every started worker */

static void *work(void *data)
{
    struct worker *worker = data;
    struct driver_run run = {0};
    while (!run.is_ended) {
        sem_wait(&worker->work);
        struct queued queued = worker->queue[worker->tail++ % QUEUE];
        if (queued.piece == NULL)
            break;
        driver_run_section(queued.piece, queued.section, &run);
        driver_run_add(&run);
        run = (struct driver_run){.is_ended = run.is_ended};
        atomic_fetch_sub(queued.open_sections, 1);
        sem_post(&worker->room);
    }
    if (ready.file > 0)
        close(ready.file);
    return NULL;
}

static void driver_start(struct worker *worker)
{
    pthread_attr_t attributes;
    sem_init(&worker->work, 0, 0);
    sem_init(&worker->room, 0, QUEUE);
    worker->head = worker->tail = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&worker->thread, &attributes, work, worker) != 0) {
        fprintf(stderr, "steptrace replay: a thread could not be started\n");
        _exit(1);
    }
    driver.control->thread_count++;
    worker->is_running = true;
}

/* Passes a section to its thread, which is started if necessary, and which decrements
 * `*open_sections` when done.  Waits while the thread's queue is full. */
static void driver_workers_give(struct replay_piece *piece, const struct replay_section *section,
                                _Atomic uint32_t *open_sections)
{
    struct worker *worker = &workers[section->thread];
    if (!worker->is_running)
        driver_start(worker);
    if (section->thread >= worker_end)
        worker_end = section->thread + 1;
    sem_wait(&worker->room);
    worker->queue[worker->head++ % QUEUE] = (struct queued){piece, section, open_sections};
    sem_post(&worker->work);
}

/* Ends and joins all threads. */
static void driver_workers_join(void)
{
    for (uint32_t i = 0; i < worker_end; i++) {
        struct worker *worker = &workers[i];
        if (!worker->is_running)
            continue;
        worker->queue[worker->head++ % QUEUE] = (struct queued){0};
        sem_post(&worker->work);
        pthread_join(worker->thread, NULL);
    }
}

/* ---- pages: mapped and touched before they are used, so that no operation pays for that ---- */

static uint64_t slots_ready; /* entries of the table whose pages were touched */

static void touch_pages(const void *memory, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += DRIVER_PAGE)
        (void) *((const volatile char *) memory + i);
}

static void ready_slots(uint32_t end)
{
    for (; slots_ready < end; slots_ready += DRIVER_PAGE / sizeof(void *))
        driver.slots[slots_ready] = NULL;
}

static struct replay_piece *map_piece(uint64_t number)
{
    uint64_t place = driver.control->is_streamed ? number % REPLAY_RING : number;
    void *piece = mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ, MAP_SHARED, driver.file,
                       (off_t) ((place + 1) * REPLAY_PIECE_BYTES));
    if (piece == MAP_FAILED) {
        perror("steptrace replay: mmap");
        _exit(1);
    }
    touch_pages(piece, REPLAY_PIECE_BYTES);
    return piece;
}

/* Returns false if there are no more pieces. */
static bool wait_for_piece(uint64_t number)
{
    struct replay_control *control = driver.control;
    while (control->is_streamed && sem_wait(&control->filled) != 0)
        ;
    return number < atomic_load(&control->produced);
}

static void driver_release(struct replay_piece *piece)
{
    munmap(piece, REPLAY_PIECE_BYTES);
    if (driver.control->is_streamed)
        sem_post(&driver.control->emptied);
}

/* Runs the pieces in the trace's order in this thread; the other function gives each thread of the
 * trace one of the driver's. */
static void driver_pieces_run_single(void)
{
    struct driver_run run = {0};
    for (uint64_t number = 0; wait_for_piece(number); number++) {
        struct replay_piece *piece = map_piece(number);
        ready_slots(piece->slot_end);
        for (uint32_t i = 0; i < piece->section_count; i++)
            driver_run_section(piece, &piece->sections[i], &run);
        driver_release(piece);
        driver_run_add(&run);
        run = (struct driver_run){0};
    }
    driver.control->thread_count = 1;
}

/* Waits until all threads are done with the piece, and unmaps it. */
static void driver_await(struct replay_piece **piece, _Atomic uint32_t *open_sections)
{
    while (*piece != NULL && atomic_load(open_sections) != 0)
        sched_yield();
    if (*piece != NULL)
        driver_release(*piece);
    *piece = NULL;
}

static void driver_pieces_run_threaded(void)
{
    struct replay_piece *pieces[REPLAY_RING] = {NULL};
    static _Atomic uint32_t open_sections[REPLAY_RING];
    for (uint64_t number = 0; wait_for_piece(number); number++) {
        unsigned place = number % REPLAY_RING, oldest = (number + REPLAY_RING / 2) % REPLAY_RING;
        /* the next piece of a full ring is mapped when the oldest is done */
        struct replay_piece *piece = map_piece(number);
        pieces[place] = piece;
        ready_slots(piece->slot_end);
        atomic_store(&open_sections[place], piece->section_count);
        for (uint32_t i = 0; i < piece->section_count; i++)
            driver_workers_give(piece, &piece->sections[i], &open_sections[place]);
        driver_await(&pieces[oldest], &open_sections[oldest]);
    }
    driver_workers_join();
}

struct driver_state driver;

void *driver_map_memory(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("steptrace replay: mmap");
        _exit(1);
    }
    return memory;
}

static void limit_memory(uint64_t bytes)
{
    struct rlimit limit;
    if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    if (limit.rlim_cur > bytes)
        limit.rlim_cur = bytes;
    setrlimit(RLIMIT_DATA, &limit);
}

static void driver_prepare(void)
{
    allocator_choose(driver.control, &driver.allocator);
    driver.slots = driver_map_memory(REPLAY_SLOTS_MOST * sizeof(void *));
    driver.heaps = driver_map_memory(REPLAY_HEAPS_MOST * sizeof(void *));
    driver.progress = driver_map_memory(REPLAY_THREADS_MOST * sizeof *driver.progress);
    workers = driver_map_memory(REPLAY_THREADS_MOST * sizeof *workers);
    limit_memory(driver.control->memory_bytes);
    /* resident memory up to now belongs to the driver */
    sampling.status_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    free(malloc(1));
    sampling.base_resident = resident_bytes();
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    driver.file = atoi(words[1]);
    driver.control =
        mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, driver.file, 0);
    if (driver.control == MAP_FAILED)
        return 1;
    driver_prepare();
    driver.start_ns = driver_now_ns();
    if (driver.control->is_threaded)
        driver_pieces_run_threaded();
    else
        driver_pieces_run_single();
    driver.control->wall_ns = driver_now_ns() - driver.start_ns;
    sampling.countdown = 0; /* the last sample is always kept */
    driver_samples_take(driver.control->last_live_bytes, driver.operations);
    driver.control->operations = driver.operations;
    driver.control->failures = driver.failures;
    driver.control->busy_ns = driver.busy_ns;
    driver.control->blocked_ns = driver.blocked_ns;
    driver.control->is_done = true;
    _exit(0);
}
