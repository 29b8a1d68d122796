/* SPDX-License-Identifier: Apache-2.0 */
/* Reads facts about a JVM from /proc. */
#include "converter/recorders/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"

static FILE *open_proc(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long) pid, name);
    return fopen(path, "re");
}

/* Reads a file as text, as far as there is room.  Returns its length; 0: it cannot be read. */
static size_t read_proc(pid_t pid, const char *name, char *text, size_t room)
{
    FILE *file = open_proc(pid, name);
    size_t length = file != NULL ? fread(text, 1, room - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[length] = '\0';
    return length;
}

struct status {
    unsigned long uid, gid, inner_pid;
    uint64_t caught;
    char *groups; /* that line; read with getline(), since there may be 65,536 */
};

static void read_line(const char *line, struct status *out)
{
    unsigned long effective;
    if (sscanf(line, "Uid: %*u %lu", &effective) == 1)
        out->uid = effective;
    else if (sscanf(line, "Gid: %*u %lu", &effective) == 1)
        out->gid = effective;
    else if (strncmp(line, "NSpid:", 6) == 0)
        out->inner_pid = strtoul(strrchr(line, '\t') + 1, NULL, 10);
    else if (strncmp(line, "SigCgt:", 7) == 0)
        out->caught = strtoull(line + 7, NULL, 16);
    else if (strncmp(line, "Groups:", 7) == 0 && out->groups == NULL)
        out->groups = strdup(line + 7);
}

static bool read_status(pid_t pid, struct status *out)
{
    char *line = NULL;
    size_t size = 0;
    *out = (struct status){.inner_pid = (unsigned long) pid};
    FILE *file = open_proc(pid, "status");
    if (file == NULL)
        return false;
    while (getline(&line, &size, file) > 0)
        read_line(line, out);
    free(line);
    fclose(file);
    return out->groups != NULL;
}

static bool take_groups(const char *line, struct jvm_process *process)
{
    char *end;
    process->groups = malloc((strlen(line) / 2 + 1) * sizeof *process->groups);
    if (process->groups == NULL)
        return false;
    for (const char *at = line;; at = end) {
        unsigned long group = strtoul(at, &end, 10);
        if (end == at)
            return true;
        process->groups[process->group_count++] = (gid_t) group;
    }
}

static unsigned long long start_ticks_of(pid_t pid)
{
    char line[1024];
    read_proc(pid, "stat", line, sizeof line);
    const char *at = strrchr(line, ')');
    for (unsigned field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* Finds the path of a library, such as "/libjvm.so", as the process sees it.  Returns NOT_FOUND if
 * the process has not loaded it. */
static enum step_status find_library(pid_t pid, const char *library, char *path, size_t size)
{
    char line[PATH_MAX + 128];
    FILE *file = open_proc(pid, "maps");
    if (file == NULL)
        return STEP_STATUS_IO;
    enum step_status status = STEP_STATUS_NOT_FOUND;
    while (status == STEP_STATUS_NOT_FOUND && fgets(line, sizeof line, file) != NULL) {
        const char *name = strchr(line, '/');
        char *end = name != NULL ? strstr(name, library) : NULL;
        size_t length = end != NULL ? (size_t) (end - name) + strlen(library) : 0;
        if (end == NULL || length >= size)
            continue;
        memcpy(path, name, length); /* without " (deleted)" */
        path[length] = '\0';
        status = STEP_STATUS_OK;
    }
    bool failed = ferror(file) != 0;
    fclose(file);
    return failed ? STEP_STATUS_IO : status;
}

/* ---- the JDK's version ---- */

/* Writes the path of the file `release` of the JDK that has .../lib/server/libjvm.so (or client, or
 * minimal). */
static bool release_path(const char *libjvm, char *out, size_t size)
{
    const char *lib = NULL;
    for (const char *at = libjvm; (at = strstr(at, "/lib/")) != NULL; at++)
        if (strchr(at + 5, '/') != NULL && strcmp(strchr(at + 5, '/'), "/libjvm.so") == 0)
            lib = at;
    return lib != NULL && snprintf(out, size, "%.*s/release", (int) (lib - libjvm), libjvm) > 0;
}

#define RELEASE_MOST 4096u

/* Runs as the JVM's user, since the JDK may belong to anyone.  Anything but a regular file has no
 * version. */
static enum step_status send_release(const struct jvm_process *process, void *context, int output,
                                     struct step_error *error)
{
    char text[RELEASE_MOST];
    struct stat about;
    int file = target_files_find(process, context, 0);
    if (file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
        (file = target_files_read(file)) >= 0) {
        ssize_t got = read(file, text, sizeof text);
        if (got > 0 && output_write_all(output, text, (size_t) got))
            return STEP_STATUS_OK;
    }
    return REFUSE(error, "the version of the JDK cannot be read");
}

/* Parses JAVA_VERSION="17.0.9". */
static unsigned version_of(const struct jvm_process *process, const char *libjvm)
{
    static const char key[] = "JAVA_VERSION=\"";
    char path[PATH_MAX], text[RELEASE_MOST] = "";
    struct step_error ignored;
    struct target_text release = {text, sizeof text, 0, true};
    const struct target_call call = {.work = send_release,
                                     .context = path,
                                     .receive = target_text_take,
                                     .receiver = &release,
                                     .limit_s = 10};
    if (!release_path(libjvm, path, sizeof path) ||
        target_user_call(process, &call, &ignored) != STEP_STATUS_OK)
        return 0;
    text[release.length] = '\0';
    const char *at = strstr(text, key);
    return at != NULL ? (unsigned) strtoul(at + sizeof key - 1, NULL, 10) : 0;
}

/* ---- checks ---- */

static bool has_argument(pid_t pid, const char *wanted)
{
    char text[16384];
    size_t length = read_proc(pid, "cmdline", text, sizeof text);
    for (const char *at = text; at < text + length; at += strlen(at) + 1)
        if (strcmp(at, wanted) == 0)
            return true;
    return false;
}

#define CANNOT_INSPECT                                                                             \
    "process %ld cannot be inspected: %s (in a container this may need the capability SYS_PTRACE)"

static const char *user_name(uid_t uid)
{
    static char number[24];
    const struct passwd *user = getpwuid(uid);
    snprintf(number, sizeof number, "%lu", (unsigned long) uid);
    return user != NULL ? user->pw_name : number;
}

static bool jvm_process_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_elsewhere(const struct jvm_process *process)
{
    struct stat own, its, own_root, its_root;
    return stat("/proc/self/ns/mnt", &own) != 0 || fstat(process->mount_namespace, &its) != 0 ||
           stat("/", &own_root) != 0 || fstat(process->root, &its_root) != 0 ||
           !jvm_process_is_same(&own, &its) || !jvm_process_is_same(&own_root, &its_root);
}

/* The process controls none of these paths. */
static bool open_root(struct jvm_process *process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/root", (long) process->pid);
    process->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/%ld/ns/mnt", (long) process->pid);
    process->mount_namespace = open(path, O_RDONLY | O_CLOEXEC);
    return process->root >= 0 && process->mount_namespace >= 0;
}

/* A process without a handler for SIGQUIT would be ended by the signal that starts the listener. */
static enum step_status check_attachable(const struct jvm_process *process,
                                         const struct status *status, struct step_error *error)
{
    const pid_t pid = process->pid;
    const char *hint =
        process->agent[0] != '\0' ? "; an agent with wake= takes commands from that file" : "";
    if (has_argument(pid, "-XX:+DisableAttachMechanism"))
        return REFUSE(error,
                      "process %ld does not accept attach requests: it was started with "
                      "-XX:+DisableAttachMechanism%s",
                      (long) pid, hint);
    if (has_argument(pid, "-XX:-EnableDynamicAgentLoading"))
        return REFUSE(error,
                      "process %ld does not accept agents at run time: it was started with "
                      "-XX:-EnableDynamicAgentLoading%s",
                      (long) pid, hint);
    if ((status->caught >> (SIGQUIT - 1) & 1) == 0)
        return REFUSE(error,
                      "process %ld does not accept attach requests (yet): it does not handle "
                      "SIGQUIT, as with -Xrs, or it has just been started",
                      (long) pid);
    return STEP_STATUS_OK;
}

/* Reads the user again once the root directory is open.  The process may just have changed its user
 * (a set-user-id program), and the rights of the former user must not reach the files of the new
 * one. */
static bool is_still(const struct jvm_process *process, const struct status *before)
{
    struct status after;
    bool same = read_status(process->pid, &after) && after.uid == before->uid &&
                after.gid == before->gid && strcmp(after.groups, before->groups) == 0 &&
                jvm_process_is_there(process);
    free(after.groups);
    return same;
}

/* Opens what the process's files are reached by. */
static enum step_status jvm_process_open_files(const struct status *status,
                                               struct jvm_process *process,
                                               struct step_error *error)
{
    long pid = process->pid;
    if (geteuid() != 0 && process->uid != geteuid())
        return REFUSE(error, "process %ld belongs to %s: run this as %s%s", pid,
                      user_name(process->uid), user_name(process->uid),
                      process->uid != 0 ? " or as root" : "");
    if (!open_root(process))
        return REFUSE(error, CANNOT_INSPECT, pid, strerror(errno));
    if (!take_groups(status->groups, process) || !is_still(process, status))
        return REFUSE(error, "process %ld changes its user", pid);
    process->is_elsewhere = is_elsewhere(process);
    return STEP_STATUS_OK;
}

static enum step_status inspect(const struct status *status, struct jvm_process *process,
                                struct step_error *error)
{
    char libjvm[PATH_MAX];
    pid_t pid = process->pid;
    enum step_status opened = jvm_process_open_files(status, process, error);
    if (opened != STEP_STATUS_OK)
        return opened;
    enum step_status found = find_library(pid, "/libjvm.so", libjvm, sizeof libjvm);
    if (found == STEP_STATUS_IO)
        return REFUSE(error, CANNOT_INSPECT, (long) pid, strerror(errno));
    if (found != STEP_STATUS_OK)
        return REFUSE(error,
                      "process %ld is not a JVM: it has no libjvm.so (native programs are recorded "
                      "from their start: steptrace record-malloc)",
                      (long) pid);
    if (find_library(pid, "/libtracer.so", process->agent, sizeof process->agent) != STEP_STATUS_OK)
        process->agent[0] = '\0';
    process->java_version = version_of(process, libjvm);
    return check_attachable(process, status, error);
}

static enum step_status find(pid_t pid, struct jvm_process *process,
                             enum step_status (*look)(const struct status *status,
                                                      struct jvm_process *process,
                                                      struct step_error *error),
                             struct step_error *error)
{
    struct status status = {.groups = NULL};
    *process = (struct jvm_process){.pid = pid, .root = -1, .mount_namespace = -1};
    if (pid <= 0 || !read_status(pid, &status))
        return REFUSE(error, "there is no process %ld", (long) pid);
    process->inner_pid = (pid_t) status.inner_pid;
    process->uid = (uid_t) status.uid;
    process->gid = (gid_t) status.gid;
    process->start_ticks = start_ticks_of(pid);
    enum step_status result = look(&status, process, error);
    free(status.groups);
    return result;
}

enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error)
{
    return find(pid, process, inspect, error);
}

enum step_status jvm_process_find_files(pid_t pid, struct jvm_process *process,
                                        struct step_error *error)
{
    return find(pid, process, jvm_process_open_files, error);
}

bool jvm_process_is_foreign(const struct jvm_process *process)
{
    return process->uid != geteuid() || (process->is_elsewhere && geteuid() == 0);
}

void jvm_process_close(struct jvm_process *process)
{
    if (process->root >= 0)
        close(process->root);
    if (process->mount_namespace >= 0)
        close(process->mount_namespace);
    free(process->groups);
    *process = (struct jvm_process){.root = -1, .mount_namespace = -1};
}

bool jvm_process_is_there(const struct jvm_process *process)
{
    unsigned long long ticks = start_ticks_of(process->pid);
    return ticks != 0 && ticks == process->start_ticks;
}
