/* SPDX-License-Identifier: Apache-2.0 */
/* Reading /proc. */
#include "converter/attach/jvm_process.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REFUSE(error, ...)                                                                         \
    step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, __VA_ARGS__)

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long) pid, name);
    return fopen(path, "re");
}

struct status {
    unsigned long uid, gid, inner_pid;
    uint64_t caught;
};

static bool read_status(pid_t pid, struct status *out)
{
    char line[1024];
    FILE *file = open_proc(pid, "status");
    if (file == NULL)
        return false;
    *out = (struct status){.inner_pid = (unsigned long) pid};
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long effective;
        if (sscanf(line, "Uid: %*u %lu", &effective) == 1)
            out->uid = effective;
        else if (sscanf(line, "Gid: %*u %lu", &effective) == 1)
            out->gid = effective;
        else if (strncmp(line, "NSpid:", 6) == 0)
            out->inner_pid = strtoul(strrchr(line, '\t') + 1, NULL, 10);
        else if (strncmp(line, "SigCgt:", 7) == 0)
            out->caught = strtoull(line + 7, NULL, 16);
    }
    fclose(file);
    return true;
}

static unsigned long long start_ticks_of(pid_t pid)
{
    char line[1024] = "";
    unsigned long long ticks = 0;
    FILE *file = open_proc(pid, "stat");
    if (file == NULL)
        return 0;
    size_t length = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[length] = '\0';
    const char *at = strrchr(line, ')');
    for (unsigned field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        ticks = strtoull(at, NULL, 10);
    return ticks;
}

/* The path of its libjvm.so, as the process sees it.  NOT_FOUND: it has none. */
static enum step_status find_libjvm(pid_t pid, char *path, size_t size)
{
    char line[PATH_MAX + 128];
    FILE *file = open_proc(pid, "maps");
    if (file == NULL)
        return STEP_STATUS_IO;
    enum step_status status = STEP_STATUS_NOT_FOUND;
    while (status == STEP_STATUS_NOT_FOUND && fgets(line, sizeof line, file) != NULL) {
        char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (name == NULL || strstr(name, "/libjvm.so") == NULL)
            continue;
        snprintf(path, size, "%s", name);
        status = STEP_STATUS_OK;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? STEP_STATUS_IO : status;
}

/* JAVA_VERSION="17.0.9" in the JDK's file `release`. */
static unsigned version_of(pid_t pid, const char *libjvm)
{
    char path[2 * PATH_MAX], line[512];
    unsigned version = 0;
    const char *lib = strstr(libjvm, "/lib/server/"); /* or client, minimal */
    for (const char *at = libjvm; lib == NULL && (at = strstr(at, "/lib/")) != NULL; at++)
        if (strchr(at + 5, '/') != NULL && strcmp(strchr(at + 5, '/'), "/libjvm.so") == 0)
            lib = at;
    if (lib == NULL)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/root%.*s/release", (long) pid, (int) (lib - libjvm),
             libjvm);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "JAVA_VERSION=\"%u", &version) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return version;
}

static bool has_argument(pid_t pid, const char *wanted)
{
    char text[16384];
    FILE *file = open_proc(pid, "cmdline");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    for (const char *at = text; at < text + length; at += strlen(at) + 1)
        if (strcmp(at, wanted) == 0)
            return true;
    return false;
}

static const char *user_name(uid_t uid)
{
    static char number[24];
    const struct passwd *user = getpwuid(uid);
    snprintf(number, sizeof number, "%lu", (unsigned long) uid);
    return user != NULL ? user->pw_name : number;
}

static bool is_elsewhere(pid_t pid)
{
    char path[64];
    struct stat own, its;
    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", (long) pid);
    return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &its) == 0 &&
           own.st_ino != its.st_ino;
}

/* A JVM without a handler for SIGQUIT would end by the signal that asks it to listen. */
static enum step_status check_attachable(pid_t pid, const struct status *status,
                                         struct step_error *error)
{
    if (has_argument(pid, "-XX:+DisableAttachMechanism"))
        return REFUSE(error,
                      "process %ld takes no attach requests: it was started with "
                      "-XX:+DisableAttachMechanism",
                      (long) pid);
    if (has_argument(pid, "-XX:-EnableDynamicAgentLoading"))
        return REFUSE(error,
                      "process %ld takes no agents while it runs: it was started with "
                      "-XX:-EnableDynamicAgentLoading",
                      (long) pid);
    if ((status->caught >> (SIGQUIT - 1) & 1) == 0)
        return REFUSE(error,
                      "process %ld does not take attach requests (yet): it does not handle "
                      "SIGQUIT, as with -Xrs, or it has just been started",
                      (long) pid);
    return STEP_STATUS_OK;
}

enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error)
{
    struct status status;
    char libjvm[PATH_MAX];
    if (pid <= 0 || !read_status(pid, &status))
        return REFUSE(error, "there is no process %ld", (long) pid);
    *process = (struct jvm_process){.pid = pid,
                                    .inner_pid = (pid_t) status.inner_pid,
                                    .uid = (uid_t) status.uid,
                                    .gid = (gid_t) status.gid,
                                    .start_ticks = start_ticks_of(pid)};
    enum step_status found = find_libjvm(pid, libjvm, sizeof libjvm);
    if (geteuid() != 0 && process->uid != geteuid())
        return REFUSE(error, "process %ld belongs to %s: run this as %s or as root", (long) pid,
                      user_name(process->uid), user_name(process->uid));
    if (found == STEP_STATUS_IO)
        return REFUSE(error,
                      "process %ld cannot be looked at: %s (in a container this may take "
                      "the capability SYS_PTRACE)",
                      (long) pid, strerror(errno));
    if (found != STEP_STATUS_OK)
        return REFUSE(error,
                      "process %ld is no JVM: it has no libjvm.so (native programs are recorded "
                      "from their start: steptrace record-malloc)",
                      (long) pid);
    process->java_version = version_of(pid, libjvm);
    process->is_elsewhere = is_elsewhere(pid);
    return check_attachable(pid, &status, error);
}

bool jvm_process_is_there(const struct jvm_process *process)
{
    unsigned long long ticks = start_ticks_of(process->pid);
    return ticks != 0 && ticks == process->start_ticks;
}
