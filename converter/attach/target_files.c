/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files with openat2(), or, if the kernel lacks it, one path component at a time without
 * links. */
#include "converter/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void close_quietly(int file)
{
    int code = errno;
    if (file >= 0)
        close(file);
    errno = code;
}

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

static int walk(int root, const char *path, int flags)
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
    return file >= 0 || !is_missing(errno) ? file : walk(process->root, path, flags);
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
