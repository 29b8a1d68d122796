/* SPDX-License-Identifier: Apache-2.0 */
/* Work with the rights of a JVM's user: forks the child, drops its rights, and reads from its pipe;
 * opens files with openat2(), or, if the kernel lacks it, one path component at a time without
 * links. */
#include "converter/recorders/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/files/monotonic_time.h"

#define PART_BYTES ((size_t) 1 << 20)

/* ---- the child ---- */

static bool has_groups(const struct jvm_process *process)
{
    int count = getgroups(0, NULL);
    if (count < 0 || (size_t) count != process->group_count)
        return false;
    gid_t *own = malloc(((size_t) count + 1) * sizeof *own);
    bool same = own != NULL && getgroups(count, own) == count &&
                memcmp(own, process->groups, (size_t) count * sizeof *own) == 0;
    free(own);
    return same;
}

/* Root of a container without CAP_SETGID may keep ids that equal the JVM's. */
static bool take_identity(const struct jvm_process *process)
{
    uid_t real, effective, saved;
    if (geteuid() != 0)
        return true;
    return (has_groups(process) || setgroups(process->group_count, process->groups) == 0) &&
           setresgid(process->gid, process->gid, process->gid) == 0 &&
           setresuid(process->uid, process->uid, process->uid) == 0 &&
           getresuid(&real, &effective, &saved) == 0 && real == process->uid &&
           effective == process->uid && saved == process->uid;
}

/* A JVM of user 0 in a container has no rights on the host, so the child must have none either. */
static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

/* This process is not dumpable, so the JVM's user can neither trace it nor open its descriptors. */
static bool take_rights(const struct jvm_process *process)
{
    return take_identity(process) && drop_capabilities() && prctl(PR_SET_DUMPABLE, 0) == 0;
}

static enum step_status cannot_act(const struct jvm_process *process, struct step_error *error)
{
    return IO_FAIL(error, "cannot act as the user of process %ld: %s", (long) process->pid,
                   strerror(errno));
}

enum step_status target_user_become(const struct jvm_process *process, struct step_error *error)
{
    return take_rights(process) ? STEP_STATUS_OK : cannot_act(process, error);
}

static bool become(const struct jvm_process *process, pid_t parent)
{
    return take_rights(process) && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* A link below the JVM's root directory leads to what the JVM itself would find. */
static bool enter_root(const struct jvm_process *process)
{
    return fchdir(process->root) == 0 && chroot(".") == 0;
}

static _Noreturn void act(const struct jvm_process *process, const struct target_call *call,
                          pid_t parent, int output, struct step_error *answer)
{
    signal(SIGPIPE, SIG_DFL);
    umask(077);
    if ((!call->enters_root || enter_root(process)) && become(process, parent))
        answer->status = call->work(process, call->context, output, answer);
    else
        cannot_act(process, answer);
    _exit(0);
}

/* ---- the caller ---- */

enum step_status target_text_take(void *receiver, const void *data, size_t length,
                                  struct step_error *error)
{
    struct target_text *text = receiver;
    size_t room = text->size - 1 - text->length;
    if (length > room && !text->cuts)
        return IO_FAIL(error, "the JVM's answer is longer than %zu bytes", text->size - 1);
    memcpy(text->text + text->length, data, length < room ? length : room);
    text->length += length < room ? length : room;
    return length > room ? STEP_STATUS_END : STEP_STATUS_OK;
}

static int64_t now_ms(void)
{
    return (int64_t) (monotonic_ns() / 1000000);
}

/* Returns the number of bytes, 0 at the end, or -1 if none arrive before the deadline. */
static ssize_t read_some(int input, char *data, size_t size, int64_t deadline_ms)
{
    struct pollfd one = {.fd = input, .events = POLLIN};
    for (;;) {
        int64_t left = deadline_ms - now_ms();
        int ready = left > 0 ? poll(&one, 1, left > INT32_MAX ? INT32_MAX : (int) left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return -1;
        ssize_t got = read(input, data, size);
        if (got >= 0 || errno != EINTR)
            return got;
    }
}

static enum step_status listen_to(int input, const struct target_call *call,
                                  struct step_error *error)
{
    static char buffer[1 << 16];
    enum step_status status = STEP_STATUS_OK;
    int64_t deadline_ms = 0;
    for (size_t left = 0; status == STEP_STATUS_OK;) {
        if (left == 0) {
            left = PART_BYTES;
            deadline_ms = now_ms() + (int64_t) call->limit_s * 1000;
        }
        size_t most = left < sizeof buffer ? left : sizeof buffer;
        ssize_t got = read_some(input, buffer, most, deadline_ms);
        if (got == 0)
            return STEP_STATUS_OK;
        if (got < 0)
            return IO_FAIL(error,
                           "no answer within %u seconds: the JVM, or the file system of its "
                           "/tmp, does not respond",
                           call->limit_s);
        left -= (size_t) got;
        if (call->receive != NULL)
            status = call->receive(call->receiver, buffer, (size_t) got, error);
    }
    return status;
}

/* The child's pipe has ended or the child was killed.  It may hang in a file system that ignores
 * both. */
static void reap(pid_t child)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    for (unsigned i = 0; i < 2000 && waitpid(child, NULL, WNOHANG) == 0; i++) {
        if (i == 1000)
            kill(child, SIGKILL);
        nanosleep(&pause, NULL);
    }
}

static enum step_status target_user_finish(pid_t child, int input, const struct target_call *call,
                                           const struct step_error *answer,
                                           struct step_error *error)
{
    enum step_status status = listen_to(input, call, error);
    close(input);
    if (status != STEP_STATUS_OK)
        kill(child, SIGKILL);
    reap(child);
    if (status == STEP_STATUS_END) /* the receiver has enough */
        return STEP_STATUS_OK;
    if (status == STEP_STATUS_OK && answer->status != STEP_STATUS_OK) {
        *error = *answer;
        error->message[sizeof error->message - 1] = '\0';
        status = error->status;
    }
    return status;
}

enum step_status target_user_call(const struct jvm_process *process, const struct target_call *call,
                                  struct step_error *error)
{
    int ends[2];
    pid_t parent = getpid();
    struct step_error *answer =
        mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (answer == MAP_FAILED)
        return IO_FAIL(error, "cannot start a process: %s", strerror(errno));
    IO_FAIL(answer, "the process that acts as the JVM's user was killed");
    enum step_status status = STEP_STATUS_OK;
    pid_t child = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        status = IO_FAIL(error, "cannot start a process: %s", strerror(errno));
    } else if ((child = fork()) == 0) {
        close(ends[0]);
        act(process, call, parent, ends[1], answer);
    } else {
        close(ends[1]);
        if (child < 0) {
            status = IO_FAIL(error, "cannot start a process: %s", strerror(errno));
            close(ends[0]);
        } else {
            status = target_user_finish(child, ends[0], call, answer, error);
        }
    }
    munmap(answer, sizeof *answer);
    return status;
}

/* ---- files, in the child ---- */

/* Opens with O_PATH: otherwise a FIFO would block, and a device would be opened. */
static int open_how(int directory, const char *path, int flags, uint64_t resolve)
{
    struct open_how how = {.flags = (unsigned) (O_PATH | O_CLOEXEC | flags), .resolve = resolve};
    return (int) syscall(SYS_openat2, directory, path, &how, sizeof how);
}

/* Old kernels have no openat2(), and old container managers block it. */
static bool is_missing(int code)
{
    return code == ENOSYS || code == EPERM;
}

static int target_user_walk(int root, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    int directory = dup(root);
    for (path += strspn(path, "/"); directory >= 0 && *path != '\0';) {
        size_t length = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int) length, path);
        path += length;
        path += strspn(path, "/");
        bool is_bad = length > NAME_MAX || strcmp(name, "..") == 0;
        int next =
            is_bad
                ? -1
                : openat(directory, name,
                         O_PATH | O_NOFOLLOW | O_CLOEXEC | (*path != '\0' ? O_DIRECTORY : flags));
        errno = is_bad ? EINVAL : errno;
        close_quietly(directory);
        directory = next;
    }
    return directory;
}

int target_files_find(const struct jvm_process *process, const char *path, int flags)
{
    int file = open_how(process->root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    return file >= 0 || !is_missing(errno) ? file : target_user_walk(process->root, path, flags);
}

int target_files_open(const struct jvm_process *process, int directory, const char *name,
                      unsigned type, const char **fault)
{
    struct stat about;
    int file = open_how(directory, name, O_NOFOLLOW,
                        RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
    if (file < 0 && is_missing(errno))
        file = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    *fault = file >= 0        ? NULL
             : errno == EXDEV ? "something is mounted there"
             : errno == ELOOP ? "it is a link"
                              : strerror(errno);
    if (file < 0)
        return -1;
    if (fstat(file, &about) != 0)
        *fault = strerror(errno);
    else if ((about.st_mode & S_IFMT) != type)
        *fault = type == S_IFSOCK ? "it is no socket" : "it is no regular file";
    else if (about.st_uid != process->uid)
        *fault = "it belongs to another user";
    else if (about.st_nlink != 1)
        *fault = "it has several names";
    if (*fault == NULL)
        return file;
    close(file);
    errno = EPERM;
    return -1;
}

int target_files_read(int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int readable = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    close_quietly(file);
    return readable;
}
