/* SPDX-License-Identifier: Apache-2.0 */
/* Copies files into and out of another mount namespace. */
#include "converter/recorders/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/files/joined_files.h"
#include "converter/files/trace_files.h"

#define AGENT "libtracer.so"
#define TRACE "run.step"
#define LIMIT_S 60u

static const char *const names[] = {AGENT, TRACE, TRACE ".live"};

struct transfer {
    const struct shared_place *place;
    const char *name;
    int agent;        /* when making the directory: the library, opened by the caller */
    uint64_t left;    /* when fetching: bytes that may still be received */
    const char *path; /* of the output */
    int file;
};

/* ---- in the child ---- */

static int find_directory(const struct jvm_process *process, const struct shared_place *place)
{
    int tmp = target_files_find(process, "tmp", O_DIRECTORY);
    int directory = tmp >= 0 ? openat(tmp, place->name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    close_quietly(tmp);
    return directory;
}

static bool shared_place_copy(int from, int to, uint64_t most)
{
    static char buffer[1 << 16];
    while (most > 0) {
        ssize_t got = read(from, buffer, most < sizeof buffer ? (size_t) most : sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        if (!output_write_all(to, buffer, (size_t) got))
            return false;
        most -= (uint64_t) got;
    }
    return true;
}

static enum step_status remove_all(const struct jvm_process *process, void *context, int output,
                                   struct step_error *error)
{
    const struct transfer *transfer = context;
    (void) output;
    int tmp = target_files_find(process, "tmp", O_DIRECTORY);
    int directory = find_directory(process, transfer->place);
    for (size_t i = 0; directory >= 0 && i < sizeof names / sizeof names[0]; i++)
        unlinkat(directory, names[i], 0);
    if (tmp >= 0 && unlinkat(tmp, transfer->place->name, AT_REMOVEDIR) == 0)
        return STEP_STATUS_OK;
    return IO_FAIL(error, "/tmp/%s of process %ld cannot be removed", transfer->place->name,
                   (long) process->pid);
}

/* No copy is needed if the JVM has loaded the agent from elsewhere. */
static bool put_agent(const struct transfer *transfer, int directory)
{
    if (strstr(transfer->place->agent, transfer->place->name) == NULL)
        return true;
    int to = openat(directory, AGENT, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0700);
    return to >= 0 && shared_place_copy(transfer->agent, to, UINT64_MAX) && close(to) == 0;
}

static enum step_status make(const struct jvm_process *process, void *context, int output,
                             struct step_error *error)
{
    struct transfer *transfer = context;
    struct step_error ignored;
    int tmp = target_files_find(process, "tmp", O_DIRECTORY);
    bool made = tmp >= 0 && mkdirat(tmp, transfer->place->name, 0700) == 0;
    if (tmp >= 0 && !made && errno == EEXIST)
        return IO_FAIL(error,
                       "/tmp/%s of process %ld exists: another attach records it, or one was "
                       "killed (then remove that directory)",
                       transfer->place->name, (long) process->pid);
    int directory = made ? find_directory(process, transfer->place) : -1;
    if (directory >= 0 && put_agent(transfer, directory))
        return STEP_STATUS_OK;
    int code = errno;
    if (made)
        remove_all(process, transfer, output, &ignored);
    return IO_FAIL(error, "/tmp: the agent cannot be copied to where process %ld sees it: %s",
                   (long) process->pid, strerror(code));
}

/* Limited to the file's size at the start: a file that grows while it is read would have no end. */
static enum step_status send_file(const struct jvm_process *process, void *context, int output,
                                  struct step_error *error)
{
    const struct transfer *transfer = context;
    const char *fault = NULL;
    struct stat about;
    int directory = find_directory(process, transfer->place);
    int file = directory >= 0
                   ? target_files_open(process, directory, transfer->name, S_IFREG, &fault)
                   : -1;
    if (file < 0 && errno == ENOENT)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, NULL, STEP_NO_OFFSET,
                              "%s: the JVM has left no trace", transfer->path);
    if (file >= 0)
        file = target_files_read(file);
    if (file < 0 || fstat(file, &about) != 0)
        return IO_FAIL(error, "%s: %s of process %ld is not fetched: %s", transfer->path,
                       transfer->name, (long) process->pid,
                       fault != NULL ? fault : strerror(errno));
    if (!shared_place_copy(file, output, (uint64_t) about.st_size))
        return IO_FAIL(error, "%s: the trace cannot be read: %s", transfer->path, strerror(errno));
    return STEP_STATUS_OK;
}

/* ---- in the caller ---- */

/* A JVM keeps the agent that it has loaded, and finds it again by the same path.  A copy under
 * another path could not define the agent's class again. */
static void choose_names(const struct jvm_process *process, uint64_t number,
                         struct shared_place *place)
{
    static const char start[] = "/tmp/steptrace-";
    const char *loaded = process->agent, *name = loaded + sizeof "/tmp/" - 1;
    size_t length = strcspn(name, "/");
    snprintf(place->name, sizeof place->name, "steptrace-%ld-%016" PRIx64,
             (long) process->inner_pid, number);
    if (strncmp(loaded, start, sizeof start - 1) == 0 && length < sizeof place->name &&
        strcmp(name + length, "/" AGENT) == 0)
        snprintf(place->name, sizeof place->name, "%.*s", (int) length, name);
    if (loaded[0] != '\0')
        snprintf(place->agent, sizeof place->agent, "%s", loaded);
    else
        snprintf(place->agent, sizeof place->agent, "/tmp/%s/" AGENT, place->name);
    snprintf(place->trace, sizeof place->trace, "/tmp/%s/" TRACE, place->name);
}

enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error)
{
    uint64_t number;
    struct transfer transfer = {.place = place};
    const struct target_call call = {.work = make, .context = &transfer, .limit_s = LIMIT_S};
    *place = (struct shared_place){.name = ""};
    transfer.agent = open(agent, O_RDONLY | O_CLOEXEC);
    if (transfer.agent < 0 || getrandom(&number, sizeof number, 0) != (ssize_t) sizeof number) {
        close_quietly(transfer.agent);
        return IO_FAIL(error, "%s: %s", agent, strerror(errno));
    }
    choose_names(process, number, place);
    enum step_status status = target_user_call(process, &call, error);
    close(transfer.agent);
    if (status != STEP_STATUS_OK)
        *place = (struct shared_place){.name = ""};
    return status;
}

/* Creates the output with the first byte, or at the end.  The name may have been taken meanwhile in
 * a shared directory, so nothing is replaced and no link is followed. */
static enum step_status shared_place_create(struct transfer *transfer, struct step_error *error)
{
    if (transfer->file >= 0)
        return STEP_STATUS_OK;
    transfer->file =
        open(transfer->path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
    return transfer->file >= 0
               ? STEP_STATUS_OK
               : step_error_set(error, errno == EEXIST ? STEP_STATUS_BUSY : STEP_STATUS_IO, NULL,
                                STEP_NO_OFFSET, "%s: cannot create: %s", transfer->path,
                                strerror(errno));
}

static enum step_status shared_place_receive(void *receiver, const void *data, size_t length,
                                             struct step_error *error)
{
    struct transfer *transfer = receiver;
    if (length > transfer->left)
        return IO_FAIL(error, "%s: %s of the JVM would take more than half of the free space",
                       transfer->path, transfer->name);
    transfer->left -= length;
    enum step_status status = shared_place_create(transfer, error);
    if (status == STEP_STATUS_OK && !output_write_all(transfer->file, data, length))
        status = IO_FAIL(error, "%s: cannot write: %s", transfer->path, strerror(errno));
    return status;
}

/* The live file beside the trace has the last events of a killed process. */
static enum step_status fetch_one(const struct jvm_process *process, struct transfer *transfer,
                                  struct step_error *error)
{
    const struct target_call call = {.work = send_file,
                                     .context = transfer,
                                     .receive = shared_place_receive,
                                     .receiver = transfer,
                                     .limit_s = LIMIT_S};
    transfer->file = -1;
    enum step_status status = target_user_call(process, &call, error);
    if (status == STEP_STATUS_OK)
        status = shared_place_create(transfer, error);
    if (transfer->file >= 0 && close(transfer->file) != 0 && status == STEP_STATUS_OK)
        status = IO_FAIL(error, "%s: cannot write: %s", transfer->path, strerror(errno));
    if (status != STEP_STATUS_OK && transfer->file >= 0)
        unlink(transfer->path);
    return status;
}

uint64_t half_of_free_space(const char *output)
{
    char directory[PATH_MAX];
    struct statvfs about;
    const char *slash = strrchr(output, '/');
    snprintf(directory, sizeof directory, "%.*s", slash != NULL ? (int) (slash - output + 1) : 1,
             slash != NULL ? output : ".");
    return statvfs(directory, &about) == 0 ? (uint64_t) about.f_bavail * about.f_frsize / 2 : 0;
}

enum step_status shared_place_fetch(const struct jvm_process *process,
                                    const struct shared_place *place, const char *output,
                                    struct step_error *error)
{
    char live[PATH_MAX];
    struct transfer transfer = {
        .place = place, .name = TRACE, .path = output, .left = half_of_free_space(output)};
    enum step_status status = fetch_one(process, &transfer, error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NOT_FOUND ? STEP_STATUS_IO : status;
    snprintf(live, sizeof live, "%s.live", output);
    transfer.name = TRACE ".live";
    transfer.path = live;
    status = fetch_one(process, &transfer, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NOT_FOUND)
        return STEP_STATUS_OK;
    unlink(output); /* one without the other is useless */
    return status;
}

void shared_place_remove(const struct jvm_process *process, struct shared_place *place)
{
    struct step_error ignored;
    struct transfer transfer = {.place = place};
    const struct target_call call = {.work = remove_all, .context = &transfer, .limit_s = LIMIT_S};
    if (place->name[0] != '\0')
        target_user_call(process, &call, &ignored);
    *place = (struct shared_place){.name = ""};
}

/* ---- names that replace no file ---- */

#define NAMES_MOST 10000u

/* A dangling link occupies the name as well, and so do files that it stands for. */
static bool is_free_name(const char *name)
{
    struct stat about;
    return lstat(name, &about) != 0 && errno == ENOENT &&
           lstat(trace_live_path(name).text, &about) != 0 && errno == ENOENT &&
           !rotated_files_exist(name);
}

bool trace_name_free(const char *wanted, char *out, size_t size)
{
    const char *slash = strrchr(wanted, '/'), *name = slash != NULL ? slash + 1 : wanted;
    const char *dot = strrchr(name, '.');
    const char *ending = dot != NULL && dot != name ? dot : wanted + strlen(wanted);
    for (unsigned number = 1; number <= NAMES_MOST; number++) {
        int length = number == 1 ? snprintf(out, size, "%s", wanted)
                                 : snprintf(out, size, "%.*s.%u%s", (int) (ending - wanted), wanted,
                                            number, ending);
        if (length < 0 || (size_t) length + sizeof ".live" > size || length >= PATH_MAX - 8)
            return false;
        if (is_free_name(out))
            return true;
    }
    return false;
}
