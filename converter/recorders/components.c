/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files of the project relative to the running program. A JVM recognises a library that it
 * has loaded only by the same path. */
#include "converter/recorders/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/error_report.h"

static bool is_there(const char *place, char *path)
{
    return access(place, R_OK) == 0 && realpath(place, path) != NULL;
}

bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path)
{
    if (wanted == NULL)
        wanted = secure_getenv(variable);
    if (wanted != NULL && wanted[0] != '\0')
        return is_there(wanted, path);
    char base[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", base, sizeof base - 1);
    if (length <= 0)
        return false;
    base[length] = '\0';
    char *slash = strrchr(base, '/');
    const char *const places[] = {directory, "../" STEPTRACE_LIBDIR "/steptrace",
                                  "../lib/steptrace", "."};
    for (size_t i = 0; slash != NULL && i < sizeof places / sizeof places[0]; i++) {
        char place[PATH_MAX + 256];
        snprintf(place, sizeof place, "%.*s/%s/%s", (int) (slash - base), base, places[i], name);
        if (is_there(place, path))
            return true;
    }
    return false;
}

bool agent_find(const char *wanted, char *path)
{
    bool found = component_find("libtracer.so", "../agent", wanted, "STEPTRACE_AGENT", path);
    if (!found)
        report_line("libtracer.so cannot be found; --agent=PATH or STEPTRACE_AGENT names it");
    return found;
}

bool agent_of(const struct jvm_process *process, const char *wanted, char *path)
{
    const char *loaded = process->agent;
    if (loaded[0] == '\0')
        return agent_find(wanted, path);
    snprintf(path, PATH_MAX, "%s", loaded); /* it may be gone: steptrace.jar removes its own */
    return true;
}
