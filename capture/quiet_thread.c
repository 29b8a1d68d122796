/* SPDX-License-Identifier: Apache-2.0 */
/* A new thread has the signal mask of the one that starts it. */
#include "capture/quiet_thread.h"

#include <signal.h>

int quiet_thread_start(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                       void *data)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(thread, attributes, run, data);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}
