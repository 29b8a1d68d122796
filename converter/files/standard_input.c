/* SPDX-License-Identifier: Apache-2.0 */
/* Peeks at standard input and copies it. */
#include "converter/files/standard_input.h"
#include "converter/cli/descriptors.h"
#include "converter/files/spool.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COPY_BYTES ((size_t) 1 << 16)

static enum step_status standard_input_fail(int code, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, STANDARD_INPUT_NAME, STEP_NO_OFFSET, "%s",
                          strerror(code));
}

/* Like read(), but restarts after EINTR. */
static ssize_t read_some(void *buffer, size_t size)
{
    ssize_t got;
    do
        got = read(STDIN_FILENO, buffer, size);
    while (got < 0 && errno == EINTR);
    return got;
}

enum step_status standard_input_peek(struct standard_input *input, struct step_error *error)
{
    ssize_t got = 1;
    *input = (struct standard_input){.length = 0};
    while (got > 0 && input->length < sizeof input->start - 1) {
        got = read_some(input->start + input->length, sizeof input->start - 1 - input->length);
        if (got < 0)
            return standard_input_fail(errno, error);
        input->length += (size_t) got;
    }
    return STEP_STATUS_OK;
}

enum step_status standard_input_spool(const struct standard_input *input, int *spool,
                                      struct step_error *error)
{
    char *buffer = malloc(COPY_BYTES);
    ssize_t got = 1;
    bool ok = buffer != NULL && (*spool = spool_file()) >= 0 &&
              output_write_all(*spool, input->start, input->length);
    while (ok && got > 0) {
        got = read_some(buffer, COPY_BYTES);
        ok = got >= 0 && output_write_all(*spool, buffer, (size_t) got);
    }
    int code = errno;
    free(buffer);
    return ok ? STEP_STATUS_OK : standard_input_fail(code, error);
}

enum step_status seekable_path_open(struct seekable_path *seekable, const char *path,
                                    struct step_error *error)
{
    const struct standard_input nothing_yet = {.length = 0};
    *seekable = (struct seekable_path){.path = path, .spool = -1};
    if (strcmp(path, "-") != 0)
        return STEP_STATUS_OK;
    enum step_status status = standard_input_spool(&nothing_yet, &seekable->spool, error);
    snprintf(seekable->copy, sizeof seekable->copy, COPY_PATH_START "%d", seekable->spool);
    seekable->path = seekable->copy;
    return status;
}

void seekable_path_close(struct seekable_path *seekable)
{
    if (seekable->path == seekable->copy && seekable->spool >= 0)
        close(seekable->spool);
    seekable->spool = -1;
}
