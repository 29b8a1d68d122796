/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is recursive: Python's garbage collector may destroy scans of the same trace during a
 * call. */
#include "converter/tables/shared_tables.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "converter/base/no_memory.h"

struct shared_tables {
    struct tables *tables;
    pthread_mutex_t lock;
    atomic_size_t references;
};

enum step_status shared_tables_open(const char *path, struct shared_tables **out,
                                    struct step_error *error)
{
    *out = NULL;
    struct shared_tables *shared = calloc(1, sizeof *shared);
    if (shared == NULL)
        return no_memory(error);
    enum step_status status = tables_open(path, &shared->tables, error);
    if (status != STEP_STATUS_OK) {
        free(shared);
        return status;
    }
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&shared->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    atomic_init(&shared->references, 1);
    *out = shared;
    return status;
}

struct shared_tables *shared_tables_hold(struct shared_tables *shared)
{
    atomic_fetch_add(&shared->references, 1);
    return shared;
}

void shared_tables_release(struct shared_tables *shared)
{
    if (shared == NULL || atomic_fetch_sub(&shared->references, 1) > 1)
        return;
    tables_close(shared->tables);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

struct tables *shared_tables_lock(struct shared_tables *shared)
{
    pthread_mutex_lock(&shared->lock);
    return shared->tables;
}

void shared_tables_unlock(struct shared_tables *shared)
{
    pthread_mutex_unlock(&shared->lock);
}

const struct tables *shared_tables_borrow(const struct shared_tables *shared)
{
    return shared->tables;
}
