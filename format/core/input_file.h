/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files that are read: nothing else does. */
#ifndef FORMAT_CORE_INPUT_FILE_H
#define FORMAT_CORE_INPUT_FILE_H

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

/* What a path may lead to.  A name that was found (in a directory, in a file, beside a trace) is
 * one of a regular file: a FIFO that somebody put there would be waited for, a device may act when
 * it is opened. */
enum input_kind {
    INPUT_REGULAR, /* a regular file */
    INPUT_STREAM   /* what the user named to be read from start to end: also a pipe or a device, and
                      a FIFO is waited for */
};

/* The result for a path that leads to something else than a regular file. */
#define INPUT_NOT_REGULAR (-2)

/* Opens the path.  Returns a descriptor, or -1 and sets errno, or INPUT_NOT_REGULAR with errno
 * EINVAL.  Sets `*about`, unless NULL. */
int input_file_open(const char *path, enum input_kind kind, struct stat *about);
/* The same for a regular file of an open directory, and not through a link. */
int input_file_open_in(int directory, const char *name, struct stat *about);
/* The same as a stdio stream; NULL with errno. */
FILE *input_file_stream(const char *path, enum input_kind kind);

/* Lists a directory; NULL with errno. */
DIR *input_directory_open(const char *path);
/* The same for one that is open, which stays open and is listed from its beginning. */
DIR *input_directory_list(int directory);

#endif
