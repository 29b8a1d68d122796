/* SPDX-License-Identifier: Apache-2.0 */
/* mount_racer VICTIM CPU: binds VICTIM over each new /tmp/steptrace-* as fast as it can, and prints
 * a line for each time that it could.  attach_hostile.py runs it in namespaces of an ordinary user.
 */
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char events[4096] __attribute__((aligned(8)));
    char path[PATH_MAX];
    cpu_set_t processors;
    if (argc != 3)
        return 2;
    CPU_ZERO(&processors);
    CPU_SET((unsigned) atoi(argv[2]), &processors);
    sched_setaffinity(0, sizeof processors, &processors);
    int watch = inotify_init1(0);
    if (watch < 0 || inotify_add_watch(watch, "/tmp", IN_CREATE) < 0)
        return 1;
    while (read(watch, events, sizeof events) > 0) {
        const struct inotify_event *event = (const void *) events;
        if (event->len == 0 || strncmp(event->name, "steptrace-", 10) != 0)
            continue;
        snprintf(path, sizeof path, "/tmp/%s", event->name);
        if (mount(argv[1], path, NULL, MS_BIND, NULL) == 0 && write(1, "bound\n", 6) != 6)
            return 1;
    }
    return 1;
}
