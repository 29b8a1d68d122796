/* SPDX-License-Identifier: Apache-2.0 */
/* Several writers and readers at once: many DIRECTORY.  Nothing in the library is global; a writer
 * or reader belongs to one thread at a time, and several readers may read one file. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "net_trace.h"

enum { WORKERS = 4, RECORDS = 50000 };

struct worker {
    pthread_t thread;
    char path[500];
    const char *shared; /* a trace that all read */
    uint64_t number, own_sum, shared_count;
    bool failed;
};

static bool write_own(struct worker *worker)
{
    struct step_writer *writer = NULL;
    if (net_trace_create(worker->path, &writer, NULL) != STEP_STATUS_OK)
        return false;
    for (uint64_t i = 0; i < RECORDS; i++)
        net_lost_put(writer, i % 2, &(struct net_lost){.time = i, .bytes = worker->number});
    bool good = step_writer_close(writer, NULL) == STEP_STATUS_OK;
    step_writer_destroy(writer);
    return good;
}

static uint64_t read_trace(const char *path, uint64_t *sum)
{
    struct net_trace_reader in;
    struct step_record_view view;
    struct net_lost lost;
    uint64_t count = 0;
    if (net_trace_open(path, &in, NULL) != STEP_STATUS_OK)
        return 0;
    for (; net_trace_next(&in, &view, NULL) == STEP_STATUS_OK; count++)
        *sum += net_lost_get(&in.binding, &view, &lost) ? lost.bytes : 0;
    return net_trace_close(&in) == STEP_STATUS_OK ? count : 0;
}

static void *work(void *user)
{
    struct worker *worker = user;
    uint64_t ignored = 0;
    worker->failed = !write_own(worker) || read_trace(worker->path, &worker->own_sum) != RECORDS;
    worker->shared_count = read_trace(worker->shared, &ignored);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[WORKERS + 1] = {{.number = 1}};
    bool good = argc == 2;
    snprintf(workers[0].path, sizeof workers[0].path, "%s/shared.step", good ? argv[1] : ".");
    good = good && write_own(&workers[0]);
    for (uint64_t i = 1; good && i <= WORKERS; i++) {
        workers[i].number = i;
        workers[i].shared = workers[0].path;
        snprintf(workers[i].path, sizeof workers[i].path, "%s/%" PRIu64 ".step", argv[1], i);
        good = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    }
    for (uint64_t i = 1; good && i <= WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        printf("%" PRIu64 ": sum %" PRIu64 ", %" PRIu64 " shared\n", i, workers[i].own_sum,
               workers[i].shared_count);
        good = good && !workers[i].failed;
    }
    return good ? 0 : 1;
}
