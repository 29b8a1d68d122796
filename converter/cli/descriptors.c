/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and sends all bytes, whatever a call takes of them. */
#include "converter/cli/descriptors.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void close_quietly(int file)
{
    int code = errno;
    if (file >= 0)
        close(file);
    errno = code;
}

/* Moves on by what was written.  Returns false after an error. */
static bool descriptors_pass(ssize_t put, const char **at, size_t *length)
{
    if (put < 0 && errno == EINTR)
        return true;
    if (put <= 0)
        return false;
    *at += put;
    *length -= (size_t) put;
    return true;
}

bool output_write_all(int file, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0)
        if (!descriptors_pass(write(file, at, length), &at, &length))
            return false;
    return true;
}

bool output_send_all(int socket, const void *data, size_t length)
{
    const char *at = data;
    while (length > 0)
        if (!descriptors_pass(send(socket, at, length, MSG_NOSIGNAL), &at, &length))
            return false;
    return true;
}
