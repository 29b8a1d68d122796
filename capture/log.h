/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the user who runs the JVM: on stderr, never on stdout. */
#ifndef CAPTURE_LOG_H
#define CAPTURE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "steptrace/status.h"

/* Writes "steptrace: ", the message as step_show() escapes it, and the line's end in one piece;
 * nothing if stderr accepts none within a second. */
__attribute__((format(printf, 1, 2))) void log_message(const char *format, ...);
/* Same, for a text of step_error_print(). Returns false. */
bool log_error(const struct step_error *error);

/* Writes messages only to the file that is stderr now: if the program closes it, its number may
 * become another file of the program. */
void log_only_to_this_stderr(void);
/* Sends the calling thread's messages to this socket as well; -1: no longer. */
void log_copy_to(int descriptor);
/* Passes messages to this function from now on, without "steptrace: " and the line's end. */
void log_to(void (*taker)(const char *message, size_t length));

/* log_reaches_from_apart() returns true if a thread without the program's descriptor table can log.
 * log_from_apart() says that the calling thread has no such table from now on. */
bool log_reaches_from_apart(void);
void log_from_apart(void);

#endif
