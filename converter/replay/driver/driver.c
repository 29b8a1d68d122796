/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay driver: executes prepared operations (replay_ops.h) with the preloaded allocator.  It
 * never allocates itself: its own memory is mapped.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "converter/replay/driver/driver_loop.h"
#include "converter/replay/driver/driver_state.h"
#include "converter/replay/driver/replay_ops.h"

/* Queues with one writer and one reader, and a semaphore at each end. */

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
    driver_clocks_close();
    return NULL;
}

static void start(struct worker *worker)
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

static void driver_workers_init(void)
{
    workers = driver_map_memory(REPLAY_THREADS_MOST * sizeof *workers);
}

/* Passes a section to its thread, which is started if necessary, and which decrements
 * `*open_sections` when done.  Waits while the thread's queue is full. */
static void driver_workers_give(struct replay_piece *piece, const struct replay_section *section,
                                _Atomic uint32_t *open_sections)
{
    struct worker *worker = &workers[section->thread];
    if (!worker->is_running)
        start(worker);
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

/* Pages are mapped and touched before they are used, so that no operation pays for that. */

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

static void release(struct replay_piece *piece)
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
        release(piece);
        driver_run_add(&run);
        run = (struct driver_run){0};
    }
    driver.control->thread_count = 1;
}

/* Waits until all threads are done with the piece, and unmaps it. */
static void await(struct replay_piece **piece, _Atomic uint32_t *open_sections)
{
    while (*piece != NULL && atomic_load(open_sections) != 0)
        sched_yield();
    if (*piece != NULL)
        release(*piece);
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
        await(&pieces[oldest], &open_sections[oldest]);
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

static void prepare(void)
{
    allocator_choose(driver.control, &driver.allocator);
    driver.slots = driver_map_memory(REPLAY_SLOTS_MOST * sizeof(void *));
    driver.heaps = driver_map_memory(REPLAY_HEAPS_MOST * sizeof(void *));
    driver.progress = driver_map_memory(REPLAY_THREADS_MOST * sizeof *driver.progress);
    driver_workers_init();
    limit_memory(driver.control->memory_bytes);
    driver_samples_begin();
}

static void publish(struct replay_control *control)
{
    control->operations = driver.operations;
    control->failures = driver.failures;
    control->busy_ns = driver.busy_ns;
    control->blocked_ns = driver.blocked_ns;
    control->is_done = true;
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
    prepare();
    driver.start_ns = driver_now_ns();
    if (driver.control->is_threaded)
        driver_pieces_run_threaded();
    else
        driver_pieces_run_single();
    driver.control->wall_ns = driver_now_ns() - driver.start_ns;
    driver_samples_end(driver.operations);
    publish(driver.control);
    _exit(0);
}
