/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the files of a trace. */
#include "converter/files/trace_files.h"
#include "format/core/input_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "steptrace/reader.h"

struct live_path trace_live_path(const char *trace)
{
    struct live_path path;
    snprintf(path.text, sizeof path.text, "%s%s", trace, STEP_LIVE_SUFFIX);
    return path;
}

bool live_header_read(const char *live_path, struct step_live_header *header)
{
    int file = input_file_open(live_path, INPUT_REGULAR, NULL);
    bool is = file >= 0 && pread(file, header, sizeof *header, 0) == (ssize_t) sizeof *header &&
              memcmp(header->magic, STEP_LIVE_MAGIC, sizeof header->magic) == 0;
    if (file >= 0)
        close(file);
    return is;
}

bool trace_is_held(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = input_file_open(path, INPUT_REGULAR, NULL);
    if (file < 0)
        return false;
    bool held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(file);
    return held;
}

bool trace_is_of_process(const char *path, pid_t process, bool if_unknown)
{
    struct step_reader *reader;
    struct step_error error;
    enum step_status status = step_reader_open(path, &reader, &error);
    if (status != STEP_STATUS_OK)
        return status != STEP_STATUS_FORMAT && if_unknown;
    const char *text = step_reader_property(reader, "process-id");
    bool is = text != NULL ? strtol(text, NULL, 10) == (long) process : if_unknown;
    step_reader_destroy(reader);
    return is;
}

bool trace_is_since(const char *path, const struct timespec *start)
{
    struct stat file;
    return stat(path, &file) == 0 &&
           (file.st_mtim.tv_sec > start->tv_sec ||
            (file.st_mtim.tv_sec == start->tv_sec && file.st_mtim.tv_nsec >= start->tv_nsec));
}

enum step_status trace_load_block(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error)
{
    enum step_status status = step_reader_load(reader, i, wanted, block, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO)
        return status;
    if (error != NULL)
        *error = (struct step_error){.offset = STEP_NO_OFFSET};
    return STEP_STATUS_END;
}
