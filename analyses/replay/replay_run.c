/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the runs of a replay, and collects the result of each. */
#include "analyses/replay/replay_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
