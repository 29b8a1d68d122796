/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HATF output: a plain or compressed file, or a ZIP file with one entry per stream.  A ZIP file
 * stores its entries in sequence while the streams grow in parallel, so each stream is deflated
 * into a temporary file, which is copied when the trace is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/core/step_no_memory.h"
#include "format/hatf/hatf_state.h"
#include "format/io/zip_file.h"
#include "steptrace/packed.h"

#define PIECE_BYTES ((size_t) 1 << 16)
#define PIECE_MAX ((size_t) 1 << 30)

/* A stream that will become an entry of a ZIP file. */
struct entry {
    FILE *spool; /* temporary file, deflated */
    z_stream deflate;
    bool deflating; /* the deflater must be ended */
    uint64_t size;
    uint32_t crc;
};

struct hatf_output_file {
    char name[256];
    enum hatf_split split;
    int level;
    struct step_packed_output *packed; /* if there is no split */
    struct zip_file file;
    struct entry entries[HATF_STREAM_COUNT]; /* if there is one */
    struct step_output outputs[HATF_STREAM_COUNT];
};

static enum step_status hatf_output_fail(const char *name, int code, const char *otherwise,
                                         struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, name, STEP_NO_OFFSET, "%s",
                          code != 0 ? strerror(code) : otherwise);
}

/* ---- streams ---- */

static enum step_status deflate_into_spool(struct entry *entry, const void *data, size_t length,
                                           int flush, struct step_error *error)
{
    uint8_t piece[PIECE_BYTES];
    z_stream *stream = &entry->deflate;
    const uint8_t *at = length > 0 ? data : piece; /* never NULL */
    do {
        size_t part = length < PIECE_MAX ? length : PIECE_MAX;
        stream->next_in = (uint8_t *) (uintptr_t) at; /* zlib does not write to it */
        stream->avail_in = (unsigned) part;
        entry->crc = (uint32_t) crc32(entry->crc, at, (unsigned) part);
        entry->size += part;
        at += part;
        length -= part;
        do {
            stream->next_out = piece;
            stream->avail_out = (unsigned) sizeof piece;
            errno = 0;
            if (deflate(stream, flush) == Z_STREAM_ERROR ||
                fwrite(piece, 1, sizeof piece - stream->avail_out, entry->spool) !=
                    sizeof piece - stream->avail_out)
                return hatf_output_fail(NULL, errno, "cannot write a temporary file", error);
        } while (stream->avail_out == 0);
    } while (length > 0);
    return STEP_STATUS_OK;
}

static enum step_status write_entry(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    return deflate_into_spool(user, data, length, Z_NO_FLUSH, error);
}

static enum step_status start_entry(struct entry *entry, int level, struct step_error *error)
{
    errno = 0;
    entry->spool = tmpfile();
    if (entry->spool == NULL)
        return hatf_output_fail(NULL, errno, "cannot make a temporary file", error);
    entry->deflating = deflateInit2(&entry->deflate, level, Z_DEFLATED, -MAX_WBITS,
                                    ZIP_FILE_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    return entry->deflating ? STEP_STATUS_OK : step_no_memory(error, NULL);
}

/* ---- the file ---- */

static enum step_status hatf_output_write_file(void *user, const void *data, size_t length,
                                               struct step_error *error)
{
    struct hatf_output_file *file = user;
    errno = 0;
    return fwrite(data, 1, length, file->file.file) == length
               ? STEP_STATUS_OK
               : hatf_output_fail(file->name, errno, "cannot write", error);
}

static enum step_status hatf_output_start(struct hatf_output_file *file, const char *path,
                                          struct step_error *error)
{
    if (!zip_file_open(&file->file, path, "wb"))
        return hatf_output_fail(path, file->file.error, "cannot open", error);
    if (file->split == HATF_SPLIT_NONE) {
        const struct step_output to = {file, hatf_output_write_file};
        enum step_status status = step_packed_output_create(step_packing_by_ending(path),
                                                            file->level, &to, &file->packed, error);
        if (status == STEP_STATUS_OK)
            status = step_packed_output_use_thread(file->packed, error);
        if (status == STEP_STATUS_OK)
            file->outputs[HATF_STREAM_MAIN] = step_packed_output_as_output(file->packed);
        return status;
    }
    enum step_status status = STEP_STATUS_OK;
    for (unsigned i = 0; i < HATF_STREAM_COUNT && status == STEP_STATUS_OK; i++) {
        if (hatf_stream_name(file->split, i) == NULL)
            continue;
        status = start_entry(&file->entries[i],
                             file->level != 0 ? file->level : Z_DEFAULT_COMPRESSION, error);
        file->outputs[i] = (struct step_output){&file->entries[i], write_entry};
    }
    return status;
}

enum step_status hatf_output_file_open(const char *path, enum hatf_split split, int level,
                                       struct hatf_output_file **out, struct step_error *error)
{
    *out = NULL;
    struct hatf_output_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return step_no_memory(error, path);
    memcpy(file->name, path, strnlen(path, sizeof file->name - 1));
    file->split = split;
    file->level =
        split != HATF_SPLIT_NONE && level > Z_BEST_COMPRESSION ? Z_BEST_COMPRESSION : level;
    enum step_status status = hatf_output_start(file, path, error);
    if (status == STEP_STATUS_OK)
        *out = file;
    else
        hatf_output_file_destroy(file);
    return status;
}

const struct step_output *hatf_output_file_outputs(const struct hatf_output_file *file)
{
    return file->outputs;
}

/* Copies the deflated bytes. */
static bool copy_spool(struct entry *entry, zipFile zip)
{
    uint8_t piece[PIECE_BYTES];
    if (fflush(entry->spool) != 0 || fseeko(entry->spool, 0, SEEK_SET) != 0)
        return false;
    size_t got;
    while ((got = fread(piece, 1, sizeof piece, entry->spool)) > 0)
        if (zipWriteInFileInZip(zip, piece, (unsigned) got) != ZIP_OK)
            return false;
    return ferror(entry->spool) == 0;
}

static bool hatf_output_add_entry(struct hatf_output_file *file, zipFile zip, unsigned stream)
{
    struct entry *entry = &file->entries[stream];
    return deflate_into_spool(entry, NULL, 0, Z_FINISH, NULL) == STEP_STATUS_OK &&
           zip_file_add(zip, hatf_stream_name(file->split, stream), Z_DEFAULT_COMPRESSION, true) &&
           copy_spool(entry, zip) && zipCloseFileInZipRaw64(zip, entry->size, entry->crc) == ZIP_OK;
}

static enum step_status finish_zip(struct hatf_output_file *file, struct step_error *error)
{
    zipFile zip = zip_file_start(&file->file, file->name);
    bool ok = zip != NULL;
    errno = 0;
    for (unsigned i = 0; i < HATF_STREAM_COUNT && ok; i++)
        ok = hatf_stream_name(file->split, i) == NULL || hatf_output_add_entry(file, zip, i);
    if (zip != NULL && zipClose(zip, NULL) != ZIP_OK)
        ok = false;
    int code = file->file.error != 0 ? file->file.error : errno;
    return ok ? STEP_STATUS_OK
              : hatf_output_fail(file->name, code, "cannot write the ZIP file", error);
}

enum step_status hatf_output_file_finish(struct hatf_output_file *file, struct step_error *error)
{
    enum step_status status = file->split == HATF_SPLIT_NONE
                                  ? step_packed_output_close(file->packed, error)
                                  : finish_zip(file, error);
    bool closed = zip_file_close(&file->file);
    if (status == STEP_STATUS_OK && !closed)
        status = hatf_output_fail(file->name, file->file.error, "cannot close", error);
    return status;
}

void hatf_output_file_destroy(struct hatf_output_file *file)
{
    if (file == NULL)
        return;
    step_packed_output_destroy(file->packed);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        struct entry *entry = &file->entries[i];
        if (entry->deflating)
            deflateEnd(&entry->deflate);
        if (entry->spool != NULL)
            fclose(entry->spool);
    }
    zip_file_close(&file->file);
    free(file);
}
