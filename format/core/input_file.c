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

int input_file_open(const char *path, enum input_kind kind, struct stat *about)
{
    struct stat own;
    struct stat *found = about != NULL ? about : &own;
    int wait = kind == INPUT_STREAM ? 0 : O_NONBLOCK;
    int file = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | wait);
    if (file < 0)
        return -1;
    if (fstat(file, found) != 0)
        return close_with(file, errno, -1);
    if (kind == INPUT_REGULAR && !S_ISREG(found->st_mode))
        return close_with(file, EINVAL, INPUT_NOT_REGULAR);
    return file;
}

FILE *input_file_stream(const char *path, enum input_kind kind)
{
    int file = input_file_open(path, kind, NULL);
    FILE *stream = file >= 0 ? fdopen(file, "rb") : NULL;
    if (file >= 0 && stream == NULL)
        close_with(file, errno, -1);
    return stream;
}
