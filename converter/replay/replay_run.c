/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the runs of a replay, and collects the result of each. */
#include "converter/replay/replay_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/base/no_memory.h"

/* Known allocators, searched in the library directories. */

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

static enum step_status append(struct replay_allocators *allocators,
                               const struct replay_allocator *allocator, struct step_error *error)
{
    struct replay_allocator *grown =
        realloc(allocators->items, (allocators->count + 1) * sizeof *grown);
    if (grown == NULL)
        return no_memory(error);
    allocators->items = grown;
    grown[allocators->count++] = *allocator;
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
                              "LD_PRELOAD takes no colon and no space in a path");
    return append(allocators, &allocator, error);
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
        return append(allocators, &allocator, error);
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
            status = append(allocators, &allocator, error);
    }
    return status;
}

static void replay_allocator_reset(struct replay_allocator *allocator)
{
    free(allocator->best);
    free(allocator->busy_ns);
}

static void replay_allocators_reset(struct replay_allocators *allocators)
{
    for (size_t i = 0; i < allocators->count; i++)
        replay_allocator_reset(&allocators->items[i]);
    free(allocators->items);
}

/* Stores a run's result, with a copy if it is the best so far. */
static enum step_status replay_allocator_keep(struct replay_allocator *allocator,
                                              const struct replay_control *result,
                                              struct step_error *error)
{
    uint64_t *grown =
        realloc(allocator->busy_ns, (allocator->run_count + 1) * sizeof *allocator->busy_ns);
    if (grown == NULL)
        return no_memory(error);
    allocator->busy_ns = grown;
    if (allocator->best == NULL && (allocator->best = calloc(1, sizeof *result)) == NULL)
        return no_memory(error);
    if (allocator->run_count == 0 || result->busy_ns < allocator->best->busy_ns)
        memcpy(allocator->best, result, sizeof *result);
    grown[allocator->run_count++] = result->busy_ns;
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
        replay_process_kill(&replay->process);
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
    replay_allocators_reset(&replay->allocators);
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
