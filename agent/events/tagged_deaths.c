/* SPDX-License-Identifier: Apache-2.0 */
/* Enables ObjectFree for good, and waits for its outstanding reports. */
#include "agent/events/events.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/base/jvm_classes.h"
#include "agent/events/engine.h"
#include "capture/apart.h"
#include "capture/provenance.h"

#define TELLER "Service Thread"
#define TASKS "/proc/self/task"
#define LOOK_NS 1000000
#define IDLE_LOOKS 3
#define MOST_LOOKS 2000

/* Set under tracer.control_lock. */
static _Atomic bool reported;

void tagged_deaths_report(void)
{
    if (!atomic_exchange(&reported, true))
        engine_notify(true, JVMTI_EVENT_OBJECT_FREE);
}

static void tagged_deaths_reported(void *unused)
{
    (void) unused;
}

/* Reads a small file of that task into `text`; "" if there is none. */
static void read_of_task(long task, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, TASKS "/%ld/%s", task, name);
    provenance_read(path, text, size);
}

/* Returns the JVM's thread that reports the dead objects: the oldest of that name. */
static long find_reporter(void)
{
    long teller = 0;
    DIR *tasks = opendir(TASKS);
    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        char name[32];
        long task = strtol(entry->d_name, NULL, 10);
        read_of_task(task, "comm", name, sizeof name);
        if (strcmp(name, TELLER "\n") == 0 && (teller == 0 || task < teller))
            teller = task;
    }
    if (tasks != NULL)
        closedir(tasks);
    return teller;
}

static bool sleeps(long task)
{
    char text[512];
    read_of_task(task, "stat", text, sizeof text);
    const char *after_name = strrchr(text, ')');
    return after_name == NULL || strncmp(after_name, ") S", 3) == 0;
}

static void await_reporter(void *data)
{
    (void) data;
    long teller = find_reporter();
    int idle = 0;
    for (int looks = 0; teller != 0 && idle < IDLE_LOOKS && looks < MOST_LOOKS; looks++) {
        idle = sleeps(teller) ? idle + 1 : 0;
        if (idle < IDLE_LOOKS)
            nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
    }
}

/* JVMTI has no function that waits for outstanding reports. Before a walk of the heap the JVM
 * processes its tag map at a safepoint, and reports or queues what is dead; the thread that posts
 * the events then works through the queue and sleeps when it is empty. Its sleep is read from
 * /proc, several times in a row, as it also sleeps for moments while it works. The looks are
 * limited: a JVM without such a thread, or with a busy one, loses the last deaths, not the trace's
 * end. */
void tagged_deaths_flush(void)
{
    if (!atomic_load(&reported))
        return;
    heap_stand_still(tagged_deaths_reported, NULL);
    apart_run(await_reporter, NULL);
}
