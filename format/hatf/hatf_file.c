/* SPDX-License-Identifier: Apache-2.0 */
/* Opens HATF files for reading: plain or compressed files, or the entries of a ZIP file. */
#include "format/hatf/hatf_state.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/no_memory.h"
#include "format/io/zip_entry.h"
#include "steptrace/packed.h"

struct hatf_file {
    enum hatf_split split;
    struct step_packed_input *packed;               /* if there is no split */
    struct text_source *entries[HATF_STREAM_COUNT]; /* if there is one */
    uint64_t taken;                                 /* bytes read from the first entry */
    struct hatf_input inputs[HATF_STREAM_COUNT];
};

static bool is_zip(const char *path)
{
    char start[4] = {0};
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is = pread(file, start, sizeof start, 0) == sizeof start &&
              memcmp(start, "PK\3\4", sizeof start) == 0;
    close(file);
    return is;
}

static enum step_status read_entry(void *user, void *buffer, size_t size, size_t *got,
                                   struct step_error *error)
{
    struct text_source *entry = user;
    return text_source_read(entry, buffer, size, got, error);
}

static enum step_status read_first_entry(void *user, void *buffer, size_t size, size_t *got,
                                         struct step_error *error)
{
    struct hatf_file *file = user;
    enum step_status status =
        text_source_read(file->entries[HATF_STREAM_MAIN], buffer, size, got, error);
    file->taken += *got;
    return status;
}

static enum step_status open_entries(struct hatf_file *file, const char *path,
                                     struct step_error *error)
{
    static const enum hatf_split splits[] = {HATF_SPLIT_FIELDS, HATF_SPLIT_ADDRESS};
    enum step_status status = STEP_STATUS_NOT_FOUND;
    for (size_t i = 0; i < 2 && status == STEP_STATUS_NOT_FOUND; i++) {
        file->split = splits[i];
        status = text_source_open_entry(path, hatf_stream_name(file->split, HATF_STREAM_MAIN),
                                        &file->entries[HATF_STREAM_MAIN], error);
    }
    if (status == STEP_STATUS_NOT_FOUND)
        return step_error_set(error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                              "the ZIP file has neither an entry `tag` nor an entry `hatf`");
    file->inputs[HATF_STREAM_MAIN] = (struct hatf_input){file, read_first_entry};
    for (unsigned i = 1; i < HATF_STREAM_COUNT && status == STEP_STATUS_OK; i++) {
        const char *name = hatf_stream_name(file->split, i);
        if (name == NULL)
            continue;
        status = text_source_open_entry(path, name, &file->entries[i], error);
        file->inputs[i] = (struct hatf_input){file->entries[i], read_entry};
    }
    return status;
}

enum step_status hatf_file_open(const char *path, struct hatf_file **out, struct step_error *error)
{
    *out = NULL;
    struct hatf_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return step_no_memory(error, path);
    enum step_status status;
    if (is_zip(path)) {
        status = open_entries(file, path, error);
    } else {
        status = step_packed_input_open(path, &file->packed, error);
        file->inputs[HATF_STREAM_MAIN] = (struct hatf_input){file->packed, step_packed_input_read};
    }
    if (status == STEP_STATUS_OK)
        *out = file;
    else
        hatf_file_close(file);
    return status;
}

enum hatf_split hatf_file_split(const struct hatf_file *file)
{
    return file->split;
}

const struct hatf_input *hatf_file_inputs(const struct hatf_file *file)
{
    return file->inputs;
}

double hatf_file_progress(const struct hatf_file *file)
{
    if (file->packed != NULL)
        return step_packed_input_progress(file->packed);
    uint64_t size = text_source_size(file->entries[HATF_STREAM_MAIN]);
    return size > 0 ? (double) file->taken / (double) size : 1.0;
}

void hatf_file_close(struct hatf_file *file)
{
    if (file == NULL)
        return;
    step_packed_input_close(file->packed);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        text_source_destroy(file->entries[i]);
    free(file);
}
