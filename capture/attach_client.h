/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to the program that attaches to this JVM. */
#ifndef CAPTURE_ATTACH_CLIENT_H
#define CAPTURE_ATTACH_CLIENT_H

#include <stdbool.h>

/* Takes `client=PATH,` off the options of a command and connects to the program that gave it, which
 * gets copies of this thread's messages until attach_client_leave(). Returns false if that program
 * has gone: the command is not carried out. */
bool attach_client_take(const char **options, int *client);
void attach_client_leave(int client);

#endif
