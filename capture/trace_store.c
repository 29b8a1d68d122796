/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace's files in this process, or through the writer process. */
#include "capture/trace_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/log.h"
#include "format/core/step_no_memory.h"

/* The ring may grow to this multiple of the buffers' limit: chunks that are being filled, and
 * streams that never wait. */
#define RING_SHARE 4u
#define RING_LEAST (UINT64_C(256) << 20)

static void live_path_of(const struct trace_store *store, char *out, size_t size)
{
    snprintf(out, size, "%s%s", store->path, STEP_LIVE_SUFFIX);
}

/* ---- in this process ---- */

static enum step_status open_here(struct trace_store *store,
                                  const struct trace_store_wanted *wanted, struct step_error *error)
{
    char live[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
    enum step_status status = trace_file_create(wanted->path, &wanted->rules, &store->file, error);
    if (status != STEP_STATUS_OK)
        return status;
    snprintf(store->path, sizeof store->path, "%s", store->file->path);
    store->identity = file_identity_of(store->file->descriptor);
    live_path_of(store, live, sizeof live);
    store->map =
        live_map_create(live, wanted->rules.mode, wanted->buffer_bytes, wanted->drop, error);
    if (store->map == NULL)
        trace_file_discard(store->file);
    return store->map != NULL ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static enum step_status put_here(struct trace_store *store, const void *data, size_t length,
                                 struct step_error *error)
{
    struct step_output output = trace_file_output(store->file);
    store->file->ending = store->ending;
    enum step_status status = output.write(output.user, data, length, error);
    store->full = store->file->full;
    store->code = store->file->code;
    return status;
}

/* ---- in the writer process ---- */

/* Maps the live file, so that this process's mappings show which trace it writes (`steptrace watch
 * PID`). */
static void *map_to_be_found(const struct trace_store *store)
{
    char live[PATH_MAX + sizeof STEP_LIVE_SUFFIX];
    live_path_of(store, live, sizeof live);
    int file = trace_file_find(live, O_RDONLY);
    void *page =
        file >= 0 ? mmap(NULL, STEP_LIVE_PAGE, PROT_NONE, MAP_SHARED, file, 0) : MAP_FAILED;
    if (file >= 0)
        close(file);
    return page != MAP_FAILED ? page : NULL;
}

static enum step_status open_there(struct trace_store *store,
                                   const struct trace_store_wanted *wanted,
                                   struct step_error *error)
{
    struct writer_process *writer = store->writer;
    snprintf(writer->calls->path, sizeof writer->calls->path, "%s", wanted->path);
    writer->calls->rules = wanted->rules;
    store->map = live_map_create_in(writer->ring, writer->ring_bytes, wanted->buffer_bytes,
                                    wanted->drop, error);
    if (store->map == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct step_error local = {.status = STEP_STATUS_OK};
    if (!writer_process_call(writer, WRITER_OPEN, 0, &local))
        return step_error_set(error, local.status, wanted->path, STEP_NO_OFFSET, "%s",
                              local.message);
    if (writer->calls->message[0] != '\0')
        log_message("%s", writer->calls->message);
    snprintf(store->path, sizeof store->path, "%s", writer->calls->path);
    store->identity = writer->calls->identity;
    writer->gives_up = wanted->gives_up;
    writer->owner = wanted->owner;
    store->found_by = map_to_be_found(store);
    return STEP_STATUS_OK;
}

static bool call(struct trace_store *store, enum writer_operation operation, uint64_t length,
                 struct step_error *error)
{
    struct writer_calls *calls = store->writer->calls;
    struct step_error local = {.status = STEP_STATUS_OK};
    bool was_lost = store->writer->is_lost;
    calls->ending = store->ending;
    bool done = writer_process_call(store->writer, operation, length, &local);
    if (store->writer->is_lost && !was_lost)
        log_message("%s: %s", store->path, local.message);
    if (!done && error != NULL)
        *error = local;
    store->full = !store->writer->is_lost && calls->full != 0;
    store->code = store->writer->is_lost ? EIO : calls->code;
    return done;
}

/* A call that was given up leaves the writer process with the data of that call: it may still be in
 * write(2) when the disk answers minutes later. So `is_lost` is final, and the shared data is never
 * written again. What the trace lacks is in the live file, which that process completes. */
static enum step_status put_there(struct trace_store *store, const void *data, size_t length,
                                  struct step_error *error)
{
    for (size_t done = 0, part; done < length; done += part) {
        struct step_error local = {.status = STEP_STATUS_OK};
        part = length - done < WRITER_DATA_BYTES ? length - done : WRITER_DATA_BYTES;
        if (!store->writer->is_lost)
            memcpy((uint8_t *) store->writer->calls + WRITER_CALLS_BYTES,
                   (const uint8_t *) data + done, part);
        if (!call(store, WRITER_WRITE, part, &local)) {
            step_error_set(error, local.status, store->path, STEP_NO_OFFSET, "%s", local.message);
            return local.status;
        }
    }
    return STEP_STATUS_OK;
}

/* ---- both ---- */

static uint64_t ring_bytes_of(const struct trace_store_wanted *wanted)
{
    uint64_t bytes = wanted->buffer_bytes > UINT64_MAX / RING_SHARE - STEP_LIVE_PAGE
                         ? UINT64_MAX / 2
                         : wanted->buffer_bytes * RING_SHARE;
    return (bytes > RING_LEAST ? bytes : RING_LEAST) / STEP_LIVE_PAGE * STEP_LIVE_PAGE;
}

/* RING_MEMORY is tried first and may fail in many ways that are no fault of the user: no memfd, a
 * filter of system calls, a loader that does not run the library. RING_FILE needs nothing of that.
 * The price is that a store of the program can then wait for the disk, or fail with SIGBUS where
 * the file is cut. */
enum step_status trace_store_open(const struct trace_store_wanted *wanted, struct trace_store **out,
                                  struct step_error *error)
{
    struct trace_store *store = calloc(1, sizeof *store);
    struct step_error why = {.status = STEP_STATUS_OK};
    if (store == NULL)
        return step_no_memory(error, wanted->path);
    if (wanted->ring == RING_MEMORY)
        store->writer = writer_process_start(ring_bytes_of(wanted), &why);
    if (wanted->ring == RING_MEMORY && store->writer == NULL)
        log_message("%s: ring=memory is not possible here (%s): the ring is in the live file",
                    wanted->path, why.message);
    enum step_status status =
        store->writer != NULL ? open_there(store, wanted, error) : open_here(store, wanted, error);
    if (status == STEP_STATUS_OK)
        *out = store;
    else
        trace_store_discard(store);
    return status;
}

bool trace_store_reserve(struct trace_store *store, uint64_t length)
{
    if (store->writer != NULL)
        return call(store, WRITER_RESERVE, length, NULL);
    bool reserved = trace_file_reserve(store->file, length);
    store->code = store->file->code;
    return reserved;
}

static enum step_status trace_store_put(void *user, const void *data, size_t length,
                                        struct step_error *error)
{
    struct trace_store *store = user;
    return store->writer != NULL ? put_there(store, data, length, error)
                                 : put_here(store, data, length, error);
}

struct step_output trace_store_output(struct trace_store *store)
{
    return (struct step_output){store, trace_store_put};
}

/* The last call of the process that writes. */
static void end_there(struct trace_store *store, enum writer_operation operation)
{
    if (call(store, operation, 0, NULL) && store->writer->calls->message[0] != '\0')
        log_message("%s", store->writer->calls->message);
}

static void end(struct trace_store *store, bool keep_live, enum writer_operation operation)
{
    store->keeps_live = keep_live;
    trace_file_close(store->file);
    store->file = NULL;
    if (store->writer == NULL)
        return;
    if (!keep_live && !store->writer->is_lost)
        end_there(store, operation);
    writer_process_leave(store->writer);
}

void trace_store_end(struct trace_store *store, bool keep_live)
{
    if (store != NULL)
        end(store, keep_live, WRITER_END);
}

void trace_store_discard(struct trace_store *store)
{
    if (store == NULL)
        return;
    if (store->file != NULL)
        trace_file_discard(store->file);
    else if (store->writer != NULL && store->writer->is_lost)
        trace_file_remove(store->path, store->identity);
    end(store, false, WRITER_DISCARD);
    trace_store_destroy(store);
}

void trace_store_destroy(struct trace_store *store)
{
    if (store == NULL)
        return;
    live_map_destroy(store->map, store->keeps_live);
    writer_process_destroy(store->writer);
    if (store->found_by != NULL)
        munmap(store->found_by, STEP_LIVE_PAGE);
    free(store);
}
