/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's threads, one for each of the trace.  Each has a queue with one writer and one
 * reader, and a semaphore at each end. */
#include "analyses/replay/driver/driver_state.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

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

void driver_workers_give(struct replay_piece *piece, const struct replay_section *section,
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

void driver_workers_join(void)
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

void driver_workers_begin(void)
{
    workers = driver_map_memory(REPLAY_THREADS_MOST * sizeof *workers);
}
