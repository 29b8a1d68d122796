/* SPDX-License-Identifier: Apache-2.0 */
/* dormant: an agent that the JVM has loaded, and that does nothing until a command wakes it.
 *
 * The JVM sees no trace of it: no JVMTI environment, no events, no capabilities, no Java thread.
 * Commands come as to any agent in a running JVM, by attach, or by the file of wake=, where a JVM
 * accepts no attach or no agents at run time. The options of load time are the defaults of each
 * trace, and its limits at most what load time says.
 *
 * The thread of wake= is no thread of the JVM, which would wait for it at its end. It asks the
 * kernel once a second for the file's identity. The file is opened and read in a thread with
 * descriptors of its own (capture/apart.h): the program may close all that it does not know. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/base/own_share.h"
#include "agent/base/patience.h"
#include "agent/session/session.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "capture/quiet_thread.h"

#define STACK_BYTES ((size_t) 1 << 20)
#define STEPS_MOST 256u /* names and links on the way to a directory */

/* What distinguishes a file from the one before it. */
struct identity {
    dev_t device;
    ino_t inode;
    off_t size_bytes;
    struct timespec changed;
};

static struct {
    bool is;
    struct options options; /* of load time */
    JavaVM *vm;
    dormant_command *run;
    struct identity seen; /* of wake=: taken, or refused */
} dormant;

static struct identity identity_of(const struct stat *about)
{
    return (struct identity){about->st_dev, about->st_ino, about->st_size, about->st_ctim};
}

static bool is_seen(const struct stat *about)
{
    const struct identity *seen = &dormant.seen;
    return about->st_dev == seen->device && about->st_ino == seen->inode &&
           about->st_size == seen->size_bytes && about->st_ctim.tv_sec == seen->changed.tv_sec &&
           about->st_ctim.tv_nsec == seen->changed.tv_nsec;
}

/* ---- the file; in a thread with descriptors of its own ---- */

struct reading {
    char text[OPTION_TEXT];
    const char *fault; /* why the file is not obeyed; NULL: it is, or is not complete */
    bool is_complete;
};

/* Returns true if nobody else can have written there. */
static bool is_trusted(const struct stat *about)
{
    return (about->st_uid == geteuid() || about->st_uid == 0) &&
           (about->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static const char *fault_of(const struct stat *about)
{
    return !S_ISREG(about->st_mode)                    ? "it is no regular file"
           : !is_trusted(about)                        ? "others can write it"
           : about->st_nlink != 1                      ? "it has another name, too"
           : about->st_size >= (off_t) OPTION_TEXT - 1 ? "it is too long"
                                                       : NULL;
}

/* A command is a line: what has no end yet is still being written. Returns whether it is one. */
static bool dormant_cut_line(char *text)
{
    size_t length = strcspn(text, "\n");
    bool is_line = text[length] == '\n';
    text[length] = '\0';
    return is_line;
}

static void read_command(struct reading *reading, int file)
{
    struct stat about;
    if (fstat(file, &about) != 0 || (reading->fault = fault_of(&about)) != NULL)
        return;
    ssize_t got = read(file, reading->text, sizeof reading->text - 1);
    reading->text[got > 0 ? got : 0] = '\0';
    dormant.seen = identity_of(&about);
    reading->is_complete = dormant_cut_line(reading->text);
}

/* Goes on where the link at `link` leads. Returns false if another user may have made it. */
static bool follow(struct reading *reading, int link, const struct stat *about, char *rest)
{
    char target[OPTION_TEXT];
    size_t size = strlen(rest) + 1;
    bool is_ours = about->st_uid == geteuid() || about->st_uid == 0;
    ssize_t length = is_ours ? readlinkat(link, "", target, sizeof target) : -1;
    if (length <= 0 || (size_t) length + 1 + size > OPTION_TEXT) {
        reading->fault = is_ours ? "a link above it cannot be followed"
                                 : "a directory above it is a link that another user has made";
        return false;
    }
    memmove(rest + length + 1, rest, size);
    memcpy(rest, target, (size_t) length);
    rest[length] = '/';
    return true;
}

/* Opens what a directory has under the first name in `rest`, which it takes from there, and closes
 * the directory. Returns -1 with errno, or with a fault. */
static int enter(struct reading *reading, int directory, char *rest)
{
    char name[OPTION_TEXT];
    struct stat about;
    size_t length = strcspn(rest, "/"), gap = strspn(rest + length, "/");
    snprintf(name, sizeof name, "%.*s", (int) length, rest);
    memmove(rest, rest + length + gap, strlen(rest + length + gap) + 1);
    int opened = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (opened >= 0 && fstat(opened, &about) == 0 && S_ISLNK(about.st_mode)) {
        bool goes_on = follow(reading, opened, &about, rest);
        close(opened);
        opened = !goes_on         ? -1
                 : rest[0] == '/' ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)
                                  : openat(directory, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    close(directory);
    return opened;
}

/* Opens a directory, as the kernel does, but by no link that another user may have planted. */
static int open_by_own_links(struct reading *reading, const char *path)
{
    char rest[OPTION_TEXT];
    int opened = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(rest, sizeof rest, "%s", path);
    for (unsigned steps = 0; opened >= 0 && rest[strspn(rest, "/")] != '\0'; steps++) {
        memmove(rest, rest + strspn(rest, "/"), strlen(rest + strspn(rest, "/")) + 1);
        if (steps == STEPS_MOST) {
            reading->fault = "there are too many links above it";
            close(opened);
            return -1;
        }
        opened = enter(reading, opened, rest);
    }
    return opened;
}

/* The directory is the operator's choice; whoever can write in it gives commands. */
static int dormant_open_directory(struct reading *reading, const char **name)
{
    const char *path = dormant.options.wake;
    char directory[OPTION_TEXT];
    struct stat about;
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    snprintf(directory, sizeof directory, "%.*s",
             slash == path   ? 1
             : slash != NULL ? (int) (slash - path)
                             : 1,
             slash != NULL ? path : ".");
    int opened = open_by_own_links(reading, directory);
    if (opened >= 0 &&
        (fstat(opened, &about) != 0 || !S_ISDIR(about.st_mode) || !is_trusted(&about))) {
        reading->fault = "others can write in its directory";
        close(opened);
        return -1;
    }
    return opened;
}

/* A file that cannot be removed, on a volume that is read-only, is known by its identity. */
static void dormant_read(void *data)
{
    struct reading *reading = data;
    const char *name;
    int directory = dormant_open_directory(reading, &name);
    int file = directory >= 0
                   ? openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                   : -1;
    if (file < 0 && directory >= 0 && errno != ENOENT)
        reading->fault = errno == ELOOP ? "it is a link" : strerror(errno);
    if (file >= 0) {
        read_command(reading, file);
        close(file);
    }
    if (reading->is_complete)
        unlinkat(directory, name, 0);
    if (directory >= 0)
        close(directory);
}

/* ---- the thread ---- */

/* Returns false if the JVM is not ready for it. The thread is one of the JVM's for that long, as
 * the one that takes attach requests is. */
static bool run_in_jvm(const char *command)
{
    JNIEnv *jni = NULL;
    JavaVMAttachArgs arguments = {JNI_VERSION_1_8, (char[]){"StepTrace wake"}, NULL};
    if ((*dormant.vm)->AttachCurrentThreadAsDaemon(dormant.vm, (void **) &jni, &arguments) !=
        JNI_OK)
        return false;
    log_message("%s: %s", dormant.options.wake, command);
    dormant.run(dormant.vm, command);
    (*dormant.vm)->DetachCurrentThread(dormant.vm);
    return true;
}

static void obey(const char *command)
{
    while (!run_in_jvm(command))
        nanosleep(&(struct timespec){1, 0}, NULL);
}

static void look(void)
{
    struct stat about;
    struct reading *reading = NULL;
    if (fstatat(AT_FDCWD, dormant.options.wake, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
        is_seen(&about) || (reading = calloc(1, sizeof *reading)) == NULL)
        return;
    apart_run(dormant_read, reading);
    if (reading->fault != NULL) {
        dormant.seen = identity_of(&about);
        log_message("%s is not obeyed: %s", dormant.options.wake, reading->fault);
    } else if (reading->is_complete) {
        obey(reading->text);
    }
    free(reading);
}

static void *dormant_run(void *unused)
{
    (void) unused;
    pthread_setname_np(pthread_self(), "StepTrace wake");
    own_share_thread_begins();
    for (;;) {
        nanosleep(&(struct timespec){1, 0}, NULL);
        look();
    }
    return NULL;
}

/* What is there at load was meant for a process before this one. */
static bool start_thread(void)
{
    struct stat about;
    pthread_t thread;
    pthread_attr_t attributes;
    if (fstatat(AT_FDCWD, dormant.options.wake, &about, AT_SYMLINK_NOFOLLOW) == 0)
        dormant.seen = identity_of(&about);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int code = quiet_thread_start(&thread, &attributes, dormant_run, NULL);
    pthread_attr_destroy(&attributes);
    if (code != 0)
        log_message("option wake: its thread could not be started: %s", strerror(code));
    return code == 0;
}

bool dormant_begin(JavaVM *vm, const struct options *options, dormant_command *run)
{
    if (dormant.is) {
        log_message("the agent is loaded twice");
        return false;
    }
    dormant.is = true;
    dormant.options = *options;
    dormant.vm = vm;
    dormant.run = run;
    return options->wake[0] == '\0' || start_thread() || !options->required;
}

/* ---- commands ---- */

bool dormant_parse(struct options *options, const char *text)
{
    return dormant.is ? options_parse_command(options, &dormant.options, text)
                      : options_parse(options, text);
}
