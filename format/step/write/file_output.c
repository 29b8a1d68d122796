/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output file of a writer, which gets its final name when it is complete.
 *
 * While it is written its name ends with .part, so that nobody takes a half for the whole, and an
 * older trace of the name stays until the new one can replace it.  `made` says which file it is:
 * another file that got the temporary name meanwhile is not renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/output_place.h"
#include "format/core/step_no_memory.h"

#include "steptrace/writer.h"

enum { MOST_NAMES = 100 };

struct file_output {
    int file;
    bool in_place; /* not a regular file: it has its final name already */
    uint64_t size_bytes;
    char *path;
    char *part;                /* its path during writing, */
    const char *part_name;     /* and the last of it */
    struct output_place place; /* where it is renamed */
    struct stat made;
};

static enum step_status file_output_fail(const struct file_output *output, const char *path,
                                         struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, path, output->size_bytes, "cannot write: %s",
                          strerror(errno));
}

static enum step_status file_output_write(void *user, const void *data, size_t length,
                                          struct step_error *error)
{
    struct file_output *output = user;
    const char *at = data;
    while (length > 0) {
        ssize_t put = write(output->file, at, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return file_output_fail(output, output->in_place ? output->path : output->part, error);
        at += put;
        output->size_bytes += (uint64_t) put;
        length -= (size_t) put;
    }
    return STEP_STATUS_OK;
}

/* The file is closed before it is renamed: some file systems report a full disk only then, and what
 * could not be stored must not get the final name.  An incomplete file keeps its name with .part:
 * its blocks can be read like those of any trace that was cut. */
static enum step_status finish_file(void *user, bool complete, struct step_error *error)
{
    struct file_output *output = user;
    enum step_status status = STEP_STATUS_OK;
    if (output->file >= 0 && close(output->file) != 0 && complete)
        status = file_output_fail(output, output->in_place ? output->path : output->part, error);
    if (complete && status == STEP_STATUS_OK && !output->in_place &&
        !output_place_put(&output->place, output->part_name, &output->made))
        status = file_output_fail(output, output->path, error);
    output_place_reset(&output->place);
    free(output->path);
    free(output->part);
    free(output);
    return status;
}

/* Opens PATH.part, or, if another process writes there, PATH.1.part and so on. */
static bool open_part(struct file_output *output, size_t size)
{
    const char *slash = strrchr(output->path, '/');
    output->part_name = output->part + (slash != NULL ? slash + 1 - output->path : 0);
    snprintf(output->part, size, "%s.part", output->path);
    if (output_place_find(&output->place, output->path, OUTPUT_PLACE_REPLACED, NULL) !=
        STEP_STATUS_OK)
        return false;
    for (int i = 1; i < MOST_NAMES; i++) {
        output->file = output_place_make_named(&output->place, output->part_name, 0666);
        if (output->file >= 0 || errno != EEXIST)
            break;
        snprintf(output->part, size, "%s.%d.part", output->path, i);
    }
    return output->file >= 0 && fstat(output->file, &output->made) == 0;
}

/* An existing path that is not a regular file (a device, a pipe) is written in place, and so is
 * whatever a name like /dev/stdout refers to: the writer must not replace it.  Returns false for
 * other paths. */
static bool open_in_place(struct file_output *output)
{
    struct stat status;
    bool is_named =
        strncmp(output->path, "/dev/", 5) == 0 || strncmp(output->path, "/proc/", 6) == 0;
    if (stat(output->path, &status) != 0 || (S_ISREG(status.st_mode) && !is_named))
        return false;
    output->in_place = true;
    output->file = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return true;
}

static struct file_output *open_output(const char *path, struct step_error *error)
{
    struct file_output *output = calloc(1, sizeof *output);
    size_t size = strlen(path) + 16;
    bool opened = false;
    if (output != NULL) {
        output->file = -1;
        output->path = strdup(path);
        output->part = malloc(size);
    }
    if (output == NULL || output->path == NULL || output->part == NULL)
        step_no_memory(error, path);
    else if (path[0] == '\0')
        step_error_set(error, STEP_STATUS_INVALID, path, STEP_NO_OFFSET, "the file has no name");
    else if (open_in_place(output))
        opened = output->file >= 0;
    else
        opened = open_part(output, size);
    if (opened)
        return output;
    if (error->status == STEP_STATUS_OK)
        file_output_fail(output, path, error);
    if (output != NULL)
        finish_file(output, false, NULL);
    return NULL;
}

enum step_status step_writer_open(const char *path, const struct step_writer_options *options,
                                  struct step_writer **out, struct step_error *error)
{
    struct step_writer_options with_file = *options;
    struct step_error local;
    struct step_error *fault = error != NULL ? error : &local;
    fault->status = STEP_STATUS_OK;
    *out = NULL;
    struct file_output *output = open_output(path, fault);
    if (output == NULL)
        return fault->status;
    with_file.output = (struct step_output){output, file_output_write};
    with_file.finish = finish_file;
    enum step_status status = step_writer_create(&with_file, out, fault);
    if (status != STEP_STATUS_OK) {
        if (!output->in_place)
            output_place_remove(output->place.directory, output->part_name, &output->made);
        finish_file(output, false, NULL);
    }
    return status;
}
