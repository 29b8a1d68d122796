/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any trace with any live file beside it.  The first 4 bytes of the input are the length of the
 * trace, whose checksums are made good; the rest is the live file.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/bytes.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"
#include "tests/fuzz/step/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/steptrace-fuzz-XXXXXX";
static char trace_path[sizeof directory + 8];
static char live_path[sizeof trace_path + sizeof STEP_LIVE_SUFFIX];

static void remove_files(void)
{
    unlink(trace_path);
    unlink(live_path);
    rmdir(directory);
}

static bool make_directory(void)
{
    if (trace_path[0] != '\0')
        return true;
    if (mkdtemp(directory) == NULL)
        return false;
    snprintf(trace_path, sizeof trace_path, "%s/a.step", directory);
    snprintf(live_path, sizeof live_path, "%s%s", trace_path, STEP_LIVE_SUFFIX);
    return atexit(remove_files) == 0;
}

static bool write_file(const char *path, const uint8_t *data, size_t length)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = file >= 0 && write(file, data, length) == (ssize_t) length;
    if (file >= 0)
        close(file);
    return ok;
}

static void read_all(void)
{
    struct step_reader *reader;
    struct step_block *block = NULL;
    struct step_record_view view;
    if (step_reader_open(trace_path, &reader, NULL) != STEP_STATUS_OK)
        return;
    for (size_t i = 0; i < step_reader_block_count(reader); i++)
        if (step_reader_load(reader, i, NULL, &block, NULL) == STEP_STATUS_OK)
            while (step_block_next(block, &view) == STEP_STATUS_OK)
                ;
    step_block_destroy(block);
    step_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4 || !make_directory())
        return 0;
    size_t rest = size - 4, length = step_load_u32(data);
    length = length < rest ? length : rest;
    uint8_t *trace = malloc(length + 1);
    if (trace == NULL)
        return 0;
    memcpy(trace, data + 4, length);
    seal_trace(trace, length);
    if (write_file(trace_path, trace, length) &&
        write_file(live_path, data + 4 + length, rest - length))
        read_all();
    free(trace);
    return 0;
}
