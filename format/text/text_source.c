/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a text reader's bytes come from: the entry `trace` of a ZIP file through minizip; the text
 * itself in memory; or, for a ZIP file whose directory is missing because the file was cut or never
 * closed, what can still be unpacked of a first entry `trace`.
 */
#include "text_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_NAME "trace"
#define LOCAL_HEADER_BYTES 30u
#define FLAG_ENCRYPTED 1u
#define DIRECTORY_END_MIN 22u /* without the file's comment */
#define DIRECTORY_END_MAX (DIRECTORY_END_MIN + 65535u)

struct text_source {
    char name[256];
    struct zip_file file;
    uint64_t size;     /* as stated */
    uint64_t unpacked; /* bytes given so far */
    enum step_status (*read)(struct text_source *source, void *buffer, size_t size, size_t *got,
                             struct step_error *error);
    unzFile zip;             /* of a whole ZIP file */
    z_stream inflater;       /* of one without a directory */
    bool inflating;          /* the inflater is to be ended */
    uint64_t packed_at;      /* where its next input is */
    uint8_t packed[1 << 16]; /* its input */
};

/* ---- a whole ZIP file ---- */

static enum step_status entry_fault(const struct text_source *source, int result,
                                    struct step_error *error)
{
    if (source->file.error != 0)
        return step_error_set(error, STEP_STATUS_IO, source->name, source->unpacked, "%s",
                              strerror(source->file.error));
    return step_error_set(error, STEP_STATUS_CORRUPT, source->name, source->unpacked,
                          result == UNZ_CRCERROR ? "the checksum of the entry is wrong"
                                                 : "the packed data is damaged or cut");
}

static enum step_status read_entry(struct text_source *source, void *buffer, size_t size,
                                   size_t *got, struct step_error *error)
{
    unsigned wanted = size < 1u << 20 ? (unsigned) size : 1u << 20;
    int result = unzReadCurrentFile(source->zip, buffer, wanted);
    if (result < 0)
        return entry_fault(source, result, error);
    *got = (size_t) result;
    source->unpacked += *got;
    if (result > 0)
        return STEP_STATUS_OK;
    if (source->unpacked != source->size)
        return entry_fault(source, UNZ_BADZIPFILE, error);
    result = unzCloseCurrentFile(source->zip);
    return result == UNZ_OK ? STEP_STATUS_OK : entry_fault(source, result, error);
}

static enum step_status no_entry(const struct text_source *source, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NOT_FOUND, source->name, STEP_NO_OFFSET,
                          "the ZIP file has no entry `" ENTRY_NAME "`");
}

static enum step_status open_entry(struct text_source *source, struct step_error *error)
{
    unz_file_info64 info;
    int result = unzLocateFile(source->zip, ENTRY_NAME, 1);
    if (result == UNZ_END_OF_LIST_OF_FILE)
        return no_entry(source, error);
    if (result != UNZ_OK ||
        unzGetCurrentFileInfo64(source->zip, &info, NULL, 0, NULL, 0, NULL, 0) != UNZ_OK)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, STEP_NO_OFFSET,
                              "the directory of the ZIP file is damaged");
    if ((info.flag & FLAG_ENCRYPTED) != 0)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, source->name, STEP_NO_OFFSET,
                              "the entry is encrypted");
    if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, source->name, STEP_NO_OFFSET,
                              "the entry is packed with method %lu", info.compression_method);
    if (unzOpenCurrentFile(source->zip) != UNZ_OK)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, STEP_NO_OFFSET,
                              "the header of the entry is damaged");
    source->size = info.uncompressed_size;
    source->read = read_entry;
    return STEP_STATUS_OK;
}

/* ---- a ZIP file without a directory ---- */

static enum step_status cut_fault(const struct text_source *source, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CUT, source->name, source->unpacked,
                          "the ZIP file is cut: its directory is missing");
}

static enum step_status read_torn(struct text_source *source, void *buffer, size_t size,
                                  size_t *got, struct step_error *error)
{
    z_stream *inflater = &source->inflater;
    inflater->next_out = buffer;
    inflater->avail_out = size < 1u << 20 ? (unsigned) size : 1u << 20;
    unsigned room = inflater->avail_out;
    int result = Z_OK;
    while (result == Z_OK && inflater->avail_out == room) {
        if (inflater->avail_in == 0) {
            size_t input = zip_file_read_at(&source->file, source->packed_at, source->packed,
                                            sizeof source->packed);
            source->packed_at += input;
            inflater->next_in = source->packed;
            inflater->avail_in = (unsigned) input;
        }
        result = inflate(inflater, Z_NO_FLUSH);
    }
    *got = room - inflater->avail_out;
    source->unpacked += *got;
    if (*got > 0)
        return STEP_STATUS_OK;
    if (source->file.error != 0 || result == Z_DATA_ERROR || result == Z_NEED_DICT)
        return entry_fault(source, result, error);
    if (result == Z_MEM_ERROR)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, source->name, STEP_NO_OFFSET, "zlib");
    return cut_fault(source, error);
}

static unsigned little_endian_16(const uint8_t *bytes)
{
    return (unsigned) bytes[0] | (unsigned) bytes[1] << 8;
}

/* minizip found no directory; is there a first entry to unpack? */
static enum step_status open_torn(struct text_source *source, struct step_error *error)
{
    uint8_t header[LOCAL_HEADER_BYTES + sizeof ENTRY_NAME - 1];
    size_t got = zip_file_read_at(&source->file, 0, header, sizeof header);
    if (source->file.error != 0)
        return step_error_set(error, STEP_STATUS_IO, source->name, STEP_NO_OFFSET, "%s",
                              strerror(source->file.error));
    if (got >= 4 && memcmp(header, "PK\5\6", 4) == 0) /* a ZIP file of no entries */
        return no_entry(source, error);
    if (got < 4 || memcmp(header, "PK\3\4", 4) != 0)
        return step_error_set(error, STEP_STATUS_FORMAT, source->name, 0, "not a ZIP file");
    bool usable = got == sizeof header && (header[6] & FLAG_ENCRYPTED) == 0 &&
                  little_endian_16(header + 8) == Z_DEFLATED &&
                  little_endian_16(header + 26) == sizeof ENTRY_NAME - 1 &&
                  memcmp(header + LOCAL_HEADER_BYTES, ENTRY_NAME, sizeof ENTRY_NAME - 1) == 0;
    if (!usable)
        return cut_fault(source, error);
    if (inflateInit2(&source->inflater, -MAX_WBITS) != Z_OK)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, source->name, STEP_NO_OFFSET, "zlib");
    source->inflating = true;
    source->packed_at = sizeof header + little_endian_16(header + 28);
    source->read = read_torn;
    return STEP_STATUS_OK;
}

/* ---- the text itself ---- */

static enum step_status read_plain(struct text_source *source, void *buffer, size_t size,
                                   size_t *got, struct step_error *error)
{
    (void) error;
    *got = zip_file_read_at(&source->file, source->unpacked, buffer, size);
    source->unpacked += *got;
    return STEP_STATUS_OK;
}

/* ---- all of them ---- */

static struct text_source *create(const char *name, struct step_error *error)
{
    struct text_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_error_set(error, STEP_STATUS_NO_MEMORY, name, STEP_NO_OFFSET, "out of memory");
        return NULL;
    }
    size_t length = strnlen(name, sizeof source->name - 1);
    memcpy(source->name, name, length);
    return source;
}

/* True if the record that ends a ZIP file's directory is there in full.  minizip takes what is
 * missing at the end of a cut file for zeros. */
static bool has_directory_end(struct zip_file *file)
{
    static const uint8_t signature[] = {'P', 'K', 5, 6};
    uint64_t size = zip_file_size(file);
    size_t length = size < DIRECTORY_END_MAX ? (size_t) size : DIRECTORY_END_MAX;
    uint8_t *tail = malloc(length + 1);
    bool found = false;
    if (tail != NULL && length >= DIRECTORY_END_MIN &&
        zip_file_read_at(file, size - length, tail, length) == length) {
        size_t at = length - sizeof signature;
        while (at > 0 && memcmp(tail + at, signature, sizeof signature) != 0)
            at--;
        found = memcmp(tail + at, signature, sizeof signature) == 0 &&
                length - at >= DIRECTORY_END_MIN &&
                length - at - DIRECTORY_END_MIN >= little_endian_16(tail + at + 20);
    }
    free(tail);
    return found;
}

static enum step_status open_zip(struct text_source *source, struct text_source **out,
                                 struct step_error *error)
{
    zlib_filefunc64_def functions;
    zip_file_functions(&source->file, &functions);
    if (has_directory_end(&source->file))
        source->zip = unzOpen2_64(source->name, &functions);
    enum step_status status =
        source->zip != NULL ? open_entry(source, error) : open_torn(source, error);
    if (status == STEP_STATUS_OK)
        *out = source;
    else
        text_source_destroy(source);
    return status;
}

enum step_status text_source_open(const char *path, struct text_source **out,
                                  struct step_error *error)
{
    *out = NULL;
    struct text_source *source = create(path, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    enum step_status status;
    if (!zip_file_open(&source->file, path, "rb"))
        status = step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET, "%s",
                                strerror(source->file.error));
    else if (zip_file_size(&source->file) == 0 && source->file.error == ESPIPE)
        status = step_error_set(error, STEP_STATUS_UNSUPPORTED, path, STEP_NO_OFFSET,
                                "a ZIP file cannot be read from a pipe");
    else
        return open_zip(source, out, error);
    text_source_destroy(source);
    return status;
}

enum step_status text_source_open_memory(const void *data, size_t length, const char *name,
                                         struct text_source **out, struct step_error *error)
{
    *out = NULL;
    struct text_source *source = create(name, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    zip_file_open_memory(&source->file, data, length);
    return open_zip(source, out, error);
}

enum step_status text_source_open_plain(const void *data, size_t length, const char *name,
                                        struct text_source **out, struct step_error *error)
{
    *out = create(name, error);
    if (*out == NULL)
        return STEP_STATUS_NO_MEMORY;
    zip_file_open_memory(&(*out)->file, data, length);
    (*out)->size = length;
    (*out)->read = read_plain;
    return STEP_STATUS_OK;
}

enum step_status text_source_read(struct text_source *source, void *buffer, size_t size,
                                  size_t *got, struct step_error *error)
{
    *got = 0;
    return source->read(source, buffer, size, got, error);
}

const char *text_source_name(const struct text_source *source)
{
    return source->name;
}

uint64_t text_source_size(const struct text_source *source)
{
    return source->size;
}

void text_source_destroy(struct text_source *source)
{
    if (source == NULL)
        return;
    if (source->zip != NULL)
        unzClose(source->zip);
    if (source->inflating)
        inflateEnd(&source->inflater);
    zip_file_close(&source->file);
    free(source);
}
