/* SPDX-License-Identifier: Apache-2.0 */
/* The trace of a process, which has its live file mapped. */
#include "converter/recorders/recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/cli/trace_text.h"
#include "converter/files/trace_files.h"
#include "converter/numbers/quantity.h"
#include "format/core/input_file.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

static bool is_process(const char *text, long *pid)
{
    uint64_t number;
    const char *fault;
    bool is = take_count(&number, text, &fault) && number > 0 && number <= INT_MAX;
    *pid = is ? (long) number : 0;
    return is;
}

/* Extracts the trace's path as the process sees it: that of the live file without its extension. */
static bool take_live_path(char *line, char *path, size_t size)
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

enum step_status process_trace_find(long pid, char *path, struct step_error *error)
{
    char name[64], line[PATH_MAX + 128];
    snprintf(name, sizeof name, "/proc/%ld/maps", pid);
    FILE *maps = input_file_stream(name, INPUT_STREAM);
    bool has_live = false;
    while (maps != NULL && !has_live && fgets(line, sizeof line, maps) != NULL)
        has_live = take_live_path(line, path, PATH_MAX);
    int code = errno;
    bool unreadable = maps == NULL || (!has_live && ferror(maps) != 0);
    if (maps != NULL)
        fclose(maps);
    if (unreadable && (code == ENOENT || code == ESRCH))
        return REFUSE(error, "there is no process %ld, and no such file", pid);
    if (unreadable)
        return REFUSE(error, "process %ld: %s; run as its user or root", pid, strerror(code));
    if (!has_live)
        return REFUSE(error,
                      "process %ld is not being recorded; if it is a JVM, `steptrace attach -o "
                      "run.step %ld` begins a trace, and `steptrace watch run.step` shows it",
                      pid, pid);
    return STEP_STATUS_OK;
}

/* The rights of the process's user may not be enough to look into /proc/PID/root, but the
 * descriptor is open. */
bool process_file_find(const struct jvm_process *process, const char *path, char *out, size_t size)
{
    char root[PATH_MAX + 32];
    struct stat here, there;
    snprintf(root, sizeof root, "/proc/%ld/root%s", (long) process->pid, path);
    bool is_there = stat(trace_live_path(root).text, &there) == 0;
    if (!is_there) {
        snprintf(root, sizeof root, "/proc/self/fd/%d%s", process->root, path);
        is_there = stat(trace_live_path(root).text, &there) == 0;
    }
    bool is_here = stat(trace_live_path(path).text, &here) == 0 &&
                   (!is_there || (here.st_dev == there.st_dev && here.st_ino == there.st_ino));
    int length = snprintf(out, size, "%s", is_here ? path : root);
    return (is_here || is_there) && length > 0 && (size_t) length < size;
}

/* Another user's files are opened with that user's rights: whatever has the trace's name shows
 * nothing that the user may not read.  The process's root directory stays open. */
static enum step_status process_trace_reach(struct watch_target *target, const char *path,
                                            struct step_error *error)
{
    struct jvm_process process;
    enum step_status status = jvm_process_find_files((pid_t) target->pid, &process, error);
    if (status == STEP_STATUS_OK && jvm_process_is_foreign(&process))
        status = target_user_become(&process, error);
    if (status == STEP_STATUS_OK &&
        !process_file_find(&process, path, target->path, sizeof target->path))
        status = REFUSE(error, "the trace of process %ld cannot be reached: %s: %s", target->pid,
                        path, strerror(errno));
    if (status == STEP_STATUS_OK)
        process.root = -1; /* it stays open */
    jvm_process_close(&process);
    return status;
}

enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error)
{
    char path[PATH_MAX];
    *target = (struct watch_target){.pid = 0};
    if (access(operand, F_OK) == 0 || !is_process(operand, &target->pid)) {
        target->pid = 0;
        if (snprintf(target->path, sizeof target->path, "%s", operand) < (int) sizeof target->path)
            return STEP_STATUS_OK;
        return REFUSE(error, "the name is too long");
    }
    enum step_status status = process_trace_find(target->pid, path, error);
    return status == STEP_STATUS_OK ? process_trace_reach(target, path, error) : status;
}

static void process_trace_print_property(const struct step_reader *reader, const char *key)
{
    struct trace_text value = trace_text_of(step_reader_property(reader, key));
    if (!trace_text_is_there(value))
        return;
    printf("%-9s ", key);
    trace_text_print(value, stdout);
    putchar('\n');
}

/* Prints what the trace waits for. The copy of its buffers says so within 100 ms. */
static void print_waiting(const char *trace)
{
    struct step_live_header header;
    if (!live_header_read(trace_live_path(trace).text, &header) || header.waits_for[0] == '\0')
        return;
    header.waits_for[sizeof header.waits_for - 1] = '\0';
    printf("window    waits for start=");
    print_shown_text(header.waits_for, stdout);
    putchar('\n');
}

enum step_status process_trace_print(const char *pid)
{
    static const char *const keys[] = {"engine", "sample",      "rate",  "live",  "rotate-ns",
                                       "keep",   "file-number", "stack", "window"};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct watch_target target;
    struct step_reader *reader = NULL;
    if (watch_target_find(pid, &target, &error) != STEP_STATUS_OK) {
        report_error(&error);
        return STEP_STATUS_NOT_FOUND;
    }
    enum step_status status = step_reader_open(target.path, &reader, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    printf("process   %s\ntrace     ", pid);
    print_shown_text(target.path, stdout);
    printf("\nsize      %s\n", quantity_of_bytes((double) step_reader_file_size(reader)).text);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        process_trace_print_property(reader, keys[i]);
    print_waiting(target.path);
    step_reader_destroy(reader);
    return STEP_STATUS_OK;
}
