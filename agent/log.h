/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to the person who runs the JVM: on stderr, never on stdout. */
#ifndef LOG_H
#define LOG_H

/* Writes "steptrace: message\n" in one piece. */
__attribute__((format(printf, 1, 2))) void log_message(const char *format, ...);

#endif
