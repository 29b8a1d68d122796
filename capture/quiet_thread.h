/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the recorder's own, which block all signals: they belong to the program. */
#ifndef CAPTURE_QUIET_THREAD_H
#define CAPTURE_QUIET_THREAD_H

#include <pthread.h>

/* Starts a thread as pthread_create() does. `attributes` may be NULL. Returns 0, or an errno. */
int quiet_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *data);

#endif
