/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the thread of rotate= and of windows has made. A file is removed or renamed only
 * if it still is the one that was made: the same device and inode. */
#include "agent/session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/log.h"

struct made_file {
    char *path;
    struct file_identity identity;
};

/* Under the lock of rotation.c. */
static struct {
    struct made_file *files; /* oldest first; the last one is being written */
    size_t count;
} ring_files;

bool ring_files_begin(uint64_t keep)
{
    ring_files.count = 0;
    ring_files.files = calloc(keep + 2, sizeof *ring_files.files);
    return ring_files.files != NULL;
}

void ring_files_note(const struct options *options)
{
    const struct session *session = tracer.last;
    if (options->rotate_ns == 0)
        return;
    struct made_file made = {.path = strdup(session->options.file),
                             .identity = session->drain.identity};
    if (made.path != NULL)
        ring_files.files[ring_files.count++] = made;
}

static void ring_files_remove_oldest(void)
{
    struct made_file *oldest = &ring_files.files[0];
    if (!trace_file_remove(oldest->path, oldest->identity))
        log_message("%s: the file cannot be removed (keep=)", oldest->path);
    free(oldest->path);
    memmove(ring_files.files, ring_files.files + 1, --ring_files.count * sizeof *ring_files.files);
}

void ring_files_keep(uint64_t keep)
{
    while (ring_files.count > keep)
        ring_files_remove_oldest();
}

/* Sets the name that the only file of a trace gets when another file follows. Returns false if it
 * is one of several files already. */
static bool ring_files_name_of_first(const struct options *options, uint64_t file_number,
                                     char *name, size_t size)
{
    bool is_only = options->rotate_ns == 0 && file_number == 1;
    if (is_only)
        session_numbered_name(options, name, size);
    return is_only;
}

bool ring_files_first_can_be_named(const struct options *options, uint64_t file_number)
{
    char name[OPTION_TEXT];
    struct stat about;
    if (!ring_files_name_of_first(options, file_number, name, sizeof name) ||
        (lstat(name, &about) != 0 && errno == ENOENT))
        return true;
    log_message("option window: %s would be renamed to %s, which exists", options->file, name);
    return false;
}

void ring_files_name_first(const struct options *options, uint64_t file_number)
{
    char name[OPTION_TEXT];
    const struct session *session = tracer.last;
    const char *file = options->file;
    if (!ring_files_name_of_first(options, file_number, name, sizeof name))
        return;
    if (!atomic_load(&session->abandoned) && trace_file_rename(file, session->drain.identity, name))
        return;
    log_message("%s cannot be renamed to %s: the name stands for the first file alone", file, name);
}

void ring_files_forget(void)
{
    while (ring_files.count > 0)
        free(ring_files.files[--ring_files.count].path);
    free(ring_files.files);
    ring_files.files = NULL;
}
