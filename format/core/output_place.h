/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an output goes: a directory, as a descriptor that is held from the first look on, and a
 * name in it.  Whatever is made, renamed or removed there goes by that descriptor and never through
 * a link, so that nobody who may write in the directory (or in one above it) can lead it elsewhere.
 */
#ifndef FORMAT_CORE_OUTPUT_PLACE_H
#define FORMAT_CORE_OUTPUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "steptrace/status.h"

struct output_place {
    int directory;     /* O_PATH; open while `name` is not NULL */
    char *name;        /* without slashes, and no link */
    bool exists;       /* something had the name when it was looked at: */
    struct stat about; /* this */
};

/* What may stand at the path already. */
enum output_place_rule {
    OUTPUT_PLACE_NAMED,    /* whatever the user named: a link is followed if it is the caller's or
                              root's; IO if it leads nowhere */
    OUTPUT_PLACE_REPLACED, /* anything, which is replaced: also a link, and not what it leads to */
    OUTPUT_PLACE_OWN /* for a name that the user did not give: nothing, or a file of the caller's */
};

/* Opens the directory and looks at the name.  Returns IO if it may not be used, also for another
 * user's FIFO, which would have to be waited for, and another user's file in a directory such as
 * /tmp, whose owner the output would get. */
enum step_status output_place_find(struct output_place *place, const char *path,
                                   enum output_place_rule rule, struct step_error *error);
void output_place_reset(struct output_place *place);

/* Make a file (open for reading and writing), or a directory (open for reading), of mode 0600 or
 * 0700 under a name that nothing has: the place's with six random characters, which the caller
 * frees.  Return a descriptor, or -1 and set errno. */
int output_place_make_file(const struct output_place *place, char **temporary);
int output_place_make_directory(const struct output_place *place, char **temporary);

/* Makes a file (open for writing) under that name in the directory.  Returns a descriptor, or -1
 * and sets errno: EEXIST if something has the name. */
int output_place_make_named(const struct output_place *place, const char *name, mode_t mode);

/* Returns whether the name in the directory is that of the file `made`, and no link to it. */
bool output_place_is(int directory, const char *name, const struct stat *made);
/* Gives the file `made`, which has the name `temporary`, the place's name.  What may have that name
 * now is what was there at first, or a regular file of the caller's.  Returns false and sets errno
 * on failure. */
bool output_place_put(const struct output_place *place, const char *temporary,
                      const struct stat *made);
/* Removes the name if it still is that of the file, or of the empty directory, `made`.  Is
 * async-signal-safe. */
void output_place_remove(int directory, const char *name, const struct stat *made);
/* Syncs the directory. */
bool output_place_sync(const struct output_place *place);

#endif
