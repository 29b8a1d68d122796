/* SPDX-License-Identifier: Apache-2.0 */
/* Opens without waiting unless it was asked for, and looks at what was opened. */
#include "format/core/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int close_with(int file, int code, int result)
{
    close(file);
    errno = code;
    return result;
}

/* Looks at what was opened. */
static int input_file_check(int file, enum input_kind kind, struct stat *about)
{
    struct stat own;
    struct stat *found = about != NULL ? about : &own;
    if (file < 0)
        return -1;
    if (fstat(file, found) != 0)
        return close_with(file, errno, -1);
    if (kind == INPUT_REGULAR && !S_ISREG(found->st_mode))
        return close_with(file, EINVAL, INPUT_NOT_REGULAR);
    return file;
}

int input_file_open(const char *path, enum input_kind kind, struct stat *about)
{
    int wait = kind == INPUT_STREAM ? 0 : O_NONBLOCK;
    return input_file_check(open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | wait), kind, about);
}

int input_file_open_in(int directory, const char *name, struct stat *about)
{
    const int flags = O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    return input_file_check(openat(directory, name, flags), INPUT_REGULAR, about);
}

FILE *input_file_stream(const char *path, enum input_kind kind)
{
    int file = input_file_open(path, kind, NULL);
    FILE *stream = file >= 0 ? fdopen(file, "rb") : NULL;
    if (file >= 0 && stream == NULL)
        close_with(file, errno, -1);
    return stream;
}

DIR *input_directory_open(const char *path)
{
    return opendir(path);
}

DIR *input_directory_list(int directory)
{
    int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = again >= 0 ? fdopendir(again) : NULL;
    if (files == NULL && again >= 0)
        close_with(again, errno, -1);
    return files;
}
