/* SPDX-License-Identifier: Apache-2.0 */
/* Locks by open file description: reading and closing the file by another descriptor keeps them. */
#include "converter/output/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/files/output_rights.h"

#define OUTPUT_LOCK_TRIES 1500u
#define OUTPUT_LOCK_STEP_NS 20000000L /* 30 s in all */

/* Returns whether the lock is held; errno 0: this file system, or this file, has none. */
static bool output_lock_wait(int file)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const struct timespec pause = {.tv_nsec = OUTPUT_LOCK_STEP_NS};
    for (unsigned tries = 0; fcntl(file, F_OFD_SETLK, &all) != 0; tries++) {
        if (errno != EAGAIN && errno != EACCES)
            errno = 0;
        if (errno == 0 || tries == OUTPUT_LOCK_TRIES)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static enum step_status output_lock_at(struct output_lock *lock, const char *path, bool *retries,
                                       struct step_error *error)
{
    struct output_place *place = &lock->place;
    enum step_status status = output_place_find(place, path, OUTPUT_PLACE_NAMED, error);
    *retries = false;
    if (status != STEP_STATUS_OK)
        return status;
    lock->is_new = !place->exists;
    lock->descriptor = lock->is_new
                           ? output_place_make_named(place, place->name, output_rights_of_new(0666))
                           : openat(place->directory, place->name,
                                    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (lock->descriptor < 0 && lock->is_new) {
        *retries = errno == EEXIST;
        return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "cannot create: %s",
                              strerror(errno));
    }
    if (lock->descriptor < 0) /* who may not write it cannot lock it either */
        return STEP_STATUS_OK;
    if (fstat(lock->descriptor, &lock->about) != 0 || !S_ISREG(lock->about.st_mode))
        return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "no regular file");
    if (!output_lock_wait(lock->descriptor) && errno != 0)
        return step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                              "another process holds its lock");
    *retries = !output_place_is(place->directory, place->name, &lock->about);
    return STEP_STATUS_OK;
}

enum step_status output_lock_take(struct output_lock *lock, const char *path,
                                  struct step_error *error)
{
    enum step_status status;
    bool retries;
    *lock = (struct output_lock){.descriptor = -1, .place = {.directory = -1}};
    do {
        output_lock_release(lock);
        status = output_lock_at(lock, path, &retries, error);
    } while (retries);
    if (status != STEP_STATUS_OK)
        output_lock_release(lock);
    return status;
}

void output_lock_release(struct output_lock *lock)
{
    if (lock->is_new && lock->descriptor >= 0)
        output_place_remove(lock->place.directory, lock->place.name, &lock->about);
    close_quietly(lock->descriptor);
    output_place_reset(&lock->place);
    lock->descriptor = -1;
    lock->is_new = false;
}
