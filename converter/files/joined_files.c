/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the joined traces of this process, which stay until it ends. */
#include "converter/files/joined_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/file_joining.h"
#include "converter/files/spool.h"

struct joined_trace {
    struct joined_trace *next;
    char *path;
    int spool;
    uint64_t bytes;
};

static struct joined_trace *joined_traces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static enum step_status read_spool(void *user, uint64_t offset, void *data, size_t length,
                                   struct step_error *error)
{
    const struct joined_trace *trace = user;
    return spool_read(trace->spool, data, length, offset, error);
}

static enum step_status joined_files_join(const struct rotated_files *files, const char *path,
                                          struct joined_trace **out, struct step_error *error)
{
    struct joined_trace *trace = calloc(1, sizeof *trace);
    char *copy = strdup(path);
    enum step_status status =
        trace != NULL && copy != NULL
            ? file_joining_run(files, path, &trace->spool, &trace->bytes, error)
            : no_memory(error);
    if (status != STEP_STATUS_OK) {
        free(trace);
        free(copy);
        return status;
    }
    trace->path = copy;
    trace->next = joined_traces;
    *out = joined_traces = trace;
    return status;
}

static enum step_status joined_files_find(const char *path, struct joined_trace **out,
                                          struct step_error *error)
{
    struct rotated_files files;
    for (*out = joined_traces; *out != NULL; *out = (*out)->next)
        if (strcmp((*out)->path, path) == 0)
            return STEP_STATUS_OK;
    enum step_status status = rotated_files_find(path, &files, error);
    if (status == STEP_STATUS_OK && files.count > 0)
        status = joined_files_join(&files, path, out, error);
    rotated_files_reset(&files);
    return status;
}

enum step_status joined_files_open(const char *path, struct step_reader **reader,
                                   struct step_error *error)
{
    struct step_error ignored;
    struct joined_trace *trace = NULL;
    *reader = NULL;
    error = error != NULL ? error : &ignored;
    *error = (struct step_error){.offset = STEP_NO_OFFSET};
    pthread_mutex_lock(&lock);
    enum step_status status = joined_files_find(path, &trace, error);
    pthread_mutex_unlock(&lock);
    if (status != STEP_STATUS_OK || trace == NULL)
        return status;
    const struct step_input input = {trace, trace->bytes, read_spool};
    return step_reader_open_input(&input, trace->path, reader, error);
}
