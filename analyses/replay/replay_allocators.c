/* SPDX-License-Identifier: Apache-2.0 */
/* The allocators to replay under. Known ones are searched in the library directories. */
#include "analyses/replay/replay_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/containers/no_memory.h"
#include "format/core/grow.h"

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

static enum step_status replay_allocators_append(struct replay_allocators *allocators,
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
    return replay_allocators_append(allocators, &allocator, error);
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
        return replay_allocators_append(allocators, &allocator, error);
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
            status = replay_allocators_append(allocators, &allocator, error);
    }
    return status;
}

void replay_allocator_reset(struct replay_allocator *allocator)
{
    free(allocator->best);
    free(allocator->busy_ns);
}

enum step_status replay_allocator_keep(struct replay_allocator *allocator,
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
