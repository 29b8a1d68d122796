/* SPDX-License-Identifier: Apache-2.0 */
/* Gives a thread its own descriptor table, with close_range(2) of Linux 5.9 or else unshare(2). */
#include "capture/apart.h"

#include <limits.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/detached.h"
#include "capture/log.h"
#include "capture/quiet_thread.h"

#define STACK_BYTES ((size_t) 512 << 10)

/* A descriptor of the agent in the program's table would be visible to the program: it shifts the
 * numbers of later descriptors, and a program that closes all it does not know (as before it
 * executes another) would close the trace, or write its own data into it. A thread with its own
 * table avoids both. The table is copied and emptied by one call where the kernel can; CLONE_FILES
 * alone leaves copies, which would keep the program's pipes and sockets open after it has closed
 * them. */
static bool take_table_apart(void)
{
    if (syscall(SYS_close_range, 0u, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0)
        return true;
    if (unshare(CLONE_FILES) != 0)
        return false;
    detached_close_from(0); /* one by one if there is no close_range() */
    return true;
}

/* Messages must still reach the program's stderr. */
bool apart_begin(void)
{
    if (!log_reaches_from_apart() || !take_table_apart())
        return false;
    log_from_apart();
    return true;
}

struct errand {
    void (*step)(void *data);
    void *data;
};

static void *run(void *data)
{
    const struct errand *errand = data;
    apart_begin();
    errand->step(errand->data);
    return NULL;
}

void apart_run(void (*step)(void *data), void *data)
{
    struct errand errand = {step, data};
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int code = quiet_thread_start(&thread, &attributes, run, &errand);
    pthread_attr_destroy(&attributes);
    if (code == 0)
        pthread_join(thread, NULL);
    else
        step(data);
}
