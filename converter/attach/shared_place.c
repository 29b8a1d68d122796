/* SPDX-License-Identifier: Apache-2.0 */
/* Copying into and out of another mount namespace. */
#include "converter/attach/shared_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "converter/files/output_file.h"

#define AGENT "libtracer.so"
#define TRACE "run.step"

#define FAIL(error, ...) step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, __VA_ARGS__)

static bool copy(int from, int to)
{
    static char buffer[1 << 16];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno != EINTR)
            return false;
        for (ssize_t done = 0; done < got;) {
            ssize_t put = write(to, buffer + done, (size_t) (got - done));
            if (put < 0 && errno != EINTR)
                return false;
            done += put > 0 ? put : 0;
        }
    }
    return true;
}

static bool put_agent(const struct shared_place *place, const char *agent)
{
    int from = open(agent, O_RDONLY | O_CLOEXEC);
    int to = openat(place->directory, AGENT, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0755);
    bool ok = from >= 0 && to >= 0 && copy(from, to) && fchmod(to, 0755) == 0;
    int code = errno;
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) != 0)
        ok = false;
    errno = code;
    return ok;
}

static bool make_directory(const struct jvm_process *process, struct shared_place *place)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(place->name, sizeof place->name, "steptrace-%ld-%lld%09ld", (long) process->inner_pid,
             (long long) now.tv_sec, now.tv_nsec);
    if (mkdirat(place->parent, place->name, 0700) != 0)
        return false;
    place->directory =
        openat(place->parent, place->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return place->directory >= 0 &&
           (geteuid() != 0 || fchown(place->directory, process->uid, process->gid) == 0);
}

enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error)
{
    char tmp[64];
    *place = (struct shared_place){.parent = -1, .directory = -1};
    snprintf(tmp, sizeof tmp, "/proc/%ld/root/tmp", (long) process->pid);
    place->parent = open(tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place->parent < 0 || !make_directory(process, place) || !put_agent(place, agent)) {
        int code = errno;
        shared_place_remove(place);
        return FAIL(error, "%s: the agent cannot be put where process %ld sees it: %s", tmp,
                    (long) process->pid, strerror(code));
    }
    snprintf(place->agent, sizeof place->agent, "/tmp/%s/" AGENT, place->name);
    snprintf(place->trace, sizeof place->trace, "/tmp/%s/" TRACE, place->name);
    return STEP_STATUS_OK;
}

/* What a process left that was killed lies in the live file beside the trace. */
static enum step_status fetch_one(const struct shared_place *place, const char *name,
                                  const char *output, struct step_error *error)
{
    int from = openat(place->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0)
        return FAIL(error, "%s: the JVM has left no trace: %s", output, strerror(errno));
    struct output_file file;
    char buffer[1 << 14];
    ssize_t got = 0;
    enum step_status status = output_file_open(&file, output, error);
    if (status != STEP_STATUS_OK) {
        close(from);
        return status;
    }
    while (status == STEP_STATUS_OK && (got = read(from, buffer, sizeof buffer)) > 0)
        status = output_file_write(&file, buffer, (size_t) got, error);
    if (status == STEP_STATUS_OK && got < 0)
        status = FAIL(error, "%s: the trace cannot be read: %s", output, strerror(errno));
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&file, error);
    output_file_abort(&file);
    close(from);
    return status;
}

enum step_status shared_place_fetch(const struct shared_place *place, const char *output,
                                    struct step_error *error)
{
    char live[PATH_MAX];
    enum step_status status = fetch_one(place, TRACE, output, error);
    snprintf(live, sizeof live, "%s.live", output);
    if (status == STEP_STATUS_OK && faccessat(place->directory, TRACE ".live", F_OK, 0) == 0)
        status = fetch_one(place, TRACE ".live", live, error);
    return status;
}

void shared_place_remove(struct shared_place *place)
{
    if (place->directory >= 0) {
        unlinkat(place->directory, AGENT, 0);
        unlinkat(place->directory, TRACE, 0);
        unlinkat(place->directory, TRACE ".live", 0);
        close(place->directory);
    }
    if (place->parent >= 0) {
        if (place->name[0] != '\0')
            unlinkat(place->parent, place->name, AT_REMOVEDIR);
        close(place->parent);
    }
    place->parent = place->directory = -1;
}
