/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the person who runs the JVM: on stderr, never on stdout. */
#ifndef CAPTURE_LOG_H
#define CAPTURE_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Writes "steptrace: message\n" in one piece; nothing if stderr takes none within a second. */
__attribute__((format(printf, 1, 2))) void log_message(const char *format, ...);

/* From now on they go to nothing but what is stderr now: where the program has closed it, the
 * number may be a file of its own. */
void log_only_to_this_stderr(void);
/* From now on they go to this function, without "steptrace: " and the line's end. */
void log_to(void (*taker)(const char *message, size_t length));

/* Whether they could be written by a thread that has not the program's table of descriptors; and
 * from now on the calling one has not. */
bool log_reaches_from_apart(void);
void log_from_apart(void);

#endif
