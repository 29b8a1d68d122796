/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the trace of a process, which has the trace's live file mapped. */
#include "converter/verbs/watch_target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/base/trace_files.h"
#include "steptrace/live.h"

#define REFUSE(error, ...)                                                                         \
    step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, __VA_ARGS__)

static bool is_number(const char *text, long *pid)
{
    char *end;
    errno = 0;
    *pid = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *pid > 0;
}

/* Extracts the trace's path as the process sees it: that of the live file without its extension. */
static bool take_line(char *line, char *path, size_t size)
{
    static const size_t suffix = sizeof STEP_LIVE_SUFFIX - 1;
    line[strcspn(line, "\n")] = '\0';
    char *name = strchr(line, '/');
    size_t length = name != NULL ? strlen(name) : 0;
    if (length <= suffix || length - suffix >= size ||
        strcmp(name + length - suffix, STEP_LIVE_SUFFIX) != 0)
        return false;
    memcpy(path, name, length - suffix);
    path[length - suffix] = '\0';
    return true;
}

/* Finds the file at the path itself, or below the process's root if that differs. */
static bool find_file(long pid, const char *path, char *out, size_t size)
{
    char root[PATH_MAX + 32];
    struct stat here, there;
    snprintf(root, sizeof root, "/proc/%ld/root%s", pid, path);
    bool is_there = stat(trace_live_path(root).text, &there) == 0;
    bool is_here = stat(trace_live_path(path).text, &here) == 0 &&
                   (!is_there || (here.st_dev == there.st_dev && here.st_ino == there.st_ino));
    int length = snprintf(out, size, "%s", is_here ? path : root);
    return (is_here || is_there) && length > 0 && (size_t) length < size;
}

enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error)
{
    char name[64], line[PATH_MAX + 128], path[PATH_MAX] = "";
    *target = (struct watch_target){.pid = 0};
    if (access(operand, F_OK) == 0 || !is_number(operand, &target->pid)) {
        target->pid = 0;
        if (snprintf(target->path, sizeof target->path, "%s", operand) < (int) sizeof target->path)
            return STEP_STATUS_OK;
        return REFUSE(error, "the name is too long");
    }
    snprintf(name, sizeof name, "/proc/%ld/maps", target->pid);
    FILE *maps = fopen(name, "re");
    bool has_live = false;
    while (maps != NULL && !has_live && fgets(line, sizeof line, maps) != NULL)
        has_live = take_line(line, path, sizeof path);
    int code = errno;
    bool unreadable = maps == NULL || (!has_live && ferror(maps) != 0);
    if (maps != NULL)
        fclose(maps);
    if (unreadable && (code == ENOENT || code == ESRCH))
        return REFUSE(error, "there is no process %ld, and no such file", target->pid);
    if (unreadable)
        return REFUSE(error, "process %ld may not be looked at: %s (its user, or root, may)",
                      target->pid, strerror(code));
    if (!has_live)
        return REFUSE(error,
                      "process %ld is not being recorded; if it is a JVM, `steptrace attach -o "
                      "run.step %ld` begins a trace, and `steptrace watch run.step` shows it",
                      target->pid, target->pid);
    if (!find_file(target->pid, path, target->path, sizeof target->path))
        return REFUSE(error, "the trace of process %ld cannot be reached: %s", target->pid, path);
    return STEP_STATUS_OK;
}
