/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads with a table of descriptors of their own: what the agent opens there the program cannot
 * close, and no number of its own ever means a file of the program's.  A program that closes all
 * descriptors and opens its own files finds nothing of the agent in them.
 */
#ifndef CAPTURE_APART_H
#define CAPTURE_APART_H

#include <stdbool.h>

/* From now on the calling thread has a table of its own, an empty one.  False: this system does not
 * let it, and all stays as it was. */
bool apart_begin(void);

/* Calls the function in a short-lived thread with such a table, and waits; in the calling one where
 * there is no such thread. */
void apart_run(void (*step)(void *data), void *data);

#endif
