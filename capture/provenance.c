/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the properties of a trace that describe the process. */
#include "capture/provenance.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/secrets.h"

enum step_status provenance_number(struct step_writer *writer, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return step_writer_property(writer, key, text);
}

void provenance_host(struct step_writer *writer)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    step_writer_property(writer, "host", host);
}

size_t provenance_read(const char *path, char *text, size_t size)
{
    size_t length = 0;
    ssize_t got;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    while (file >= 0 && length < size - 1 &&
           (got = read(file, text + length, size - 1 - length)) > 0)
        length += (size_t) got;
    if (file >= 0)
        close(file);
    text[length] = '\0';
    return length;
}

void provenance_command_line(struct step_writer *writer, uint64_t process, char *text, size_t size)
{
    snprintf(text, size, "/proc/%" PRIu64 "/cmdline", process);
    size_t length = provenance_read(text, text, size);
    while (length > 0 && text[length - 1] == '\0')
        length--;
    length = secrets_mask(text, length, '\0');
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length] = '\0';
    if (length > 0)
        step_writer_property(writer, "command-line", text);
}
