/* SPDX-License-Identifier: Apache-2.0 */
/* One write(2) a message, so that messages of several JVMs do not mix. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void log_message(const char *format, ...)
{
    char line[1024] = "steptrace: ";
    size_t start = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line + start, sizeof line - start - 1, format, arguments);
    va_end(arguments);
    if (written < 0)
        return;
    size_t end = start + (size_t) written;
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    line[end++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, end);
    (void) ignored;
}
