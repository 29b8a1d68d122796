/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of a file that is read and then replaced, against others who do the same: they take
 * POSIX's lock of the whole file (as Java's FileChannel.lock() does), look whether the name is
 * still that file's, and replace it before they let go.
 */
#ifndef CONVERTER_OUTPUT_OUTPUT_LOCK_H
#define CONVERTER_OUTPUT_OUTPUT_LOCK_H

#include "format/core/output_place.h"

struct output_lock {
    int descriptor; /* -1: none is needed, or can be had */
    bool is_new;
    struct output_place place;
    struct stat about;
};

/* Waits for the lock, 30 s at most, as whoever may read the file may hold one.  If there is no
 * file, an empty one is made.  A file that the caller may not write, or of a file system without
 * locks, is not locked. */
enum step_status output_lock_take(struct output_lock *lock, const char *path,
                                  struct step_error *error);
/* Also removes the file that was made, unless another one has its name now. */
void output_lock_release(struct output_lock *lock);

#endif
