/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with a descriptor table of their own. The program cannot close what the agent opens
 * there, and a number in such a table never refers to a file of the program, even if the program
 * closes all its descriptors and opens other files. */
#ifndef CAPTURE_APART_H
#define CAPTURE_APART_H

#include <stdbool.h>

/* Gives the calling thread its own, empty table from now on. Returns false, without effect, if the
 * system does not allow it. */
bool apart_begin(void);

/* Calls `step` in a short-lived thread with such a table and waits for it. Calls it in the calling
 * thread if no thread can be created. */
void apart_run(void (*step)(void *data), void *data);

#endif
