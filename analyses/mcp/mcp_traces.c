/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens traces below the server's directories, one part of a path after the other. */
#include "analyses/mcp/mcp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/formats/format_table.h"
#include "steptrace/live.h"

enum { LIST_DEPTH_MOST = 4 };

static enum step_status mcp_traces_refuse(struct step_error *error, enum step_status status,
                                          const char *path, const char *reason)
{
    return step_error_set(error, status, path, STEP_NO_OFFSET, "%s", reason);
}

enum step_status mcp_traces_add(struct mcp_traces *traces, const char *path,
                                struct step_error *error)
{
    if (traces->count == MCP_DIRECTORIES_MOST)
        return mcp_traces_refuse(error, STEP_STATUS_LIMIT, path,
                                 "there are more than 16 directories");
    char *real = realpath(path, NULL);
    int descriptor = real != NULL ? open(real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor < 0) {
        enum step_status status = errno == ENOENT ? STEP_STATUS_NOT_FOUND : STEP_STATUS_IO;
        mcp_traces_refuse(error, status, path, strerror(errno));
        free(real);
        return status;
    }
    traces->items[traces->count].descriptor = descriptor;
    traces->items[traces->count++].path = real;
    return STEP_STATUS_OK;
}

void mcp_traces_close(struct mcp_traces *traces)
{
    while (traces->count > 0) {
        traces->count--;
        close(traces->items[traces->count].descriptor);
        free(traces->items[traces->count].path);
    }
}

/* Opens the directory that has the last part of `path`, which is relative to `directory`.  Sets
 * `*last` to that part.  Returns -1 if a part is a link, no directory, or leads upwards. */
static int open_folder(int directory, const char *path, const char **last)
{
    char part[NAME_MAX + 1];
    int folder = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    for (const char *end; folder >= 0 && (end = strchr(path, '/')) != NULL; path = end + 1) {
        size_t length = (size_t) (end - path);
        if (length == 0 || (length == 1 && path[0] == '.'))
            continue;
        int below = -1;
        if (length < sizeof part && !(length == 2 && memcmp(path, "..", 2) == 0)) {
            memcpy(part, path, length);
            part[length] = '\0';
            below = openat(folder, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        close(folder);
        folder = below;
    }
    *last = path;
    return folder;
}

static int open_regular(int folder, const char *name)
{
    struct stat about;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0 && (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(file);
        file = -1;
    }
    return file;
}

/* Returns the rest of `path` below the directory, or NULL if it is elsewhere. */
static const char *below(const char *directory, const char *path)
{
    size_t length = strlen(directory);
    if (path[0] != '/')
        return path;
    if (strcmp(directory, "/") == 0)
        return path + 1;
    return strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

static bool open_in(int directory, const char *path, struct mcp_trace *trace)
{
    char live[sizeof trace->name + sizeof STEP_LIVE_SUFFIX];
    const char *name;
    int folder = open_folder(directory, path, &name);
    if (folder < 0)
        return false;
    if (strlen(name) < sizeof trace->name)
        trace->file = open_regular(folder, name);
    if (trace->file >= 0) {
        snprintf(trace->name, sizeof trace->name, "%s", name);
        snprintf(live, sizeof live, "%s" STEP_LIVE_SUFFIX, name);
        trace->live = open_regular(folder, live);
    }
    close(folder);
    return trace->file >= 0;
}

/* Makes a link to an open file, which the verb's process inherits. */
static bool link_to(int place, const char *name, int file)
{
    char target[40];
    snprintf(target, sizeof target, "/proc/self/fd/%d", file);
    return symlinkat(target, place, name) == 0;
}

static bool make_place(struct mcp_trace *trace)
{
    char live[sizeof trace->name + sizeof STEP_LIVE_SUFFIX];
    const char *folder = getenv("TMPDIR");
    int length = snprintf(trace->place, sizeof trace->place, "%s/steptrace-XXXXXX",
                          folder != NULL && strlen(folder) < 32 ? folder : "/tmp");
    if (length < 0 || (size_t) length >= sizeof trace->place || mkdtemp(trace->place) == NULL) {
        trace->place[0] = '\0';
        return false;
    }
    int place = open(trace->place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(live, sizeof live, "%s" STEP_LIVE_SUFFIX, trace->name);
    length = snprintf(trace->path, sizeof trace->path, "%s/%s", trace->place, trace->name);
    bool ok = length > 0 && (size_t) length < sizeof trace->path && place >= 0 &&
              link_to(place, trace->name, trace->file) &&
              (trace->live < 0 || link_to(place, live, trace->live));
    if (place >= 0)
        close(place);
    return ok;
}

bool mcp_trace_open(const struct mcp_traces *traces, const char *path, struct mcp_trace *trace,
                    const char **fault)
{
    *trace = (struct mcp_trace){.file = -1, .live = -1};
    for (size_t i = 0; i < traces->count && trace->file < 0; i++) {
        const char *rest = below(traces->items[i].path, path);
        if (rest != NULL)
            open_in(traces->items[i].descriptor, rest, trace);
    }
    *fault = "there is no such file in the server's directories (links are not followed)";
    if (trace->file < 0)
        return false;
    *fault = "no room for temporary files";
    if (make_place(trace))
        return true;
    mcp_trace_close(trace);
    return false;
}

void mcp_trace_close(struct mcp_trace *trace)
{
    char live[sizeof trace->name + sizeof STEP_LIVE_SUFFIX];
    int place = trace->place[0] != '\0'
                    ? open(trace->place, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    : -1;
    if (place >= 0) {
        snprintf(live, sizeof live, "%s" STEP_LIVE_SUFFIX, trace->name);
        unlinkat(place, trace->name, 0);
        unlinkat(place, live, 0);
        close(place);
        rmdir(trace->place);
    }
    if (trace->file >= 0)
        close(trace->file);
    if (trace->live >= 0)
        close(trace->live);
    *trace = (struct mcp_trace){.file = -1, .live = -1};
}

/* ---- the list ---- */

struct listing {
    FILE *out;
    size_t count, most;
};

static void list_folder(struct listing *listing, int folder, const char *path, unsigned depth);

static void list_entry(struct listing *listing, int folder, const char *path,
                       const struct dirent *entry, unsigned depth)
{
    struct stat about;
    char full[PATH_MAX];
    int length =
        snprintf(full, sizeof full, "%s/%s", strcmp(path, "/") == 0 ? "" : path, entry->d_name);
    if (entry->d_name[0] == '.' || length < 0 || (size_t) length >= sizeof full ||
        fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISDIR(about.st_mode) && depth > 0) {
        int below = openat(folder, entry->d_name,
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (below >= 0)
            list_folder(listing, below, full, depth - 1);
        return;
    }
    const struct trace_format *format = trace_format_by_ending(entry->d_name);
    if (!S_ISREG(about.st_mode) || format == NULL || format->open_source == NULL)
        return;
    fprintf(listing->out, "%s\t%llu\n", full, (unsigned long long) about.st_size);
    listing->count++;
}

/* Takes ownership of `folder`. */
static void list_folder(struct listing *listing, int folder, const char *path, unsigned depth)
{
    DIR *directory = fdopendir(folder);
    if (directory == NULL) {
        close(folder);
        return;
    }
    for (const struct dirent *entry;
         listing->count < listing->most && (entry = readdir(directory)) != NULL;)
        list_entry(listing, folder, path, entry, depth);
    closedir(directory);
}

size_t mcp_traces_list(const struct mcp_traces *traces, size_t most, FILE *out)
{
    struct listing listing = {.out = out, .most = most};
    for (size_t i = 0; i < traces->count; i++) {
        int folder = openat(traces->items[i].descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0)
            list_folder(&listing, folder, traces->items[i].path, LIST_DEPTH_MOST);
    }
    return listing.count;
}
