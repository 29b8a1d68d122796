/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompresses the text of a trace: the entry `trace` of a ZIP file, located by minizip; text in
 * memory; or, for a ZIP file without directory because it was cut or never closed, the readable
 * part of a first entry `trace`.
 */
#include "format/io/zip_entry.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/core/bytes.h"
#include "format/core/step_no_memory.h"

#define ENTRY_NAME_MAX 32u
#define LOCAL_HEADER_BYTES 30u
#define FLAG_ENCRYPTED 1u
#define ZIP64_FIELD 1u        /* the id of the extra field */
#define PIECE_MAX (1u << 20)  /* bytes returned at a time */
#define DIRECTORY_END_MIN 22u /* without the file's comment */
#define DIRECTORY_END_MAX (DIRECTORY_END_MIN + 65535u)

struct text_source {
    char name[256];
    char remark[256]; /* the file's comment */
    const char *entry;
    struct zip_file file;
    int descriptor;    /* of the uncompressed text */
    uint64_t size;     /* as stated */
    uint64_t unpacked; /* bytes returned so far */
    enum step_status (*read)(struct text_source *source, void *buffer, size_t size, size_t *got,
                             struct step_error *error);
    unzFile zip;          /* NULL where the directory is missing */
    uint32_t stated_crc;  /* used if it is missing */
    uint32_t crc;         /* of the bytes returned so far */
    uint64_t packed_at;   /* offset of the next compressed byte, */
    uint64_t packed_left; /* and how many are left */
    z_stream inflater;
    bool inflating;          /* the inflater must be ended */
    uint8_t packed[1 << 16]; /* its input */
};

/* ---- unpacking ---- */

static enum step_status input_fault(const struct text_source *source, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, source->name, source->unpacked, "%s",
                          strerror(source->file.error));
}

static enum step_status damage(const struct text_source *source, struct step_error *error)
{
    if (source->file.error != 0)
        return input_fault(source, error);
    return step_error_set(error, STEP_STATUS_CORRUPT, source->name, source->unpacked,
                          "the packed data is damaged or cut");
}

static enum step_status cut_fault(const struct text_source *source, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_CUT, source->name, source->unpacked,
                          "the ZIP file is cut: its directory is missing");
}

/* Checks size and checksum of an entry that has ended. */
static enum step_status check_entry(const struct text_source *source, struct step_error *error)
{
    if (source->unpacked != source->size)
        return damage(source, error);
    if (source->crc != source->stated_crc)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, source->unpacked,
                              "the checksum of the entry is wrong");
    return STEP_STATUS_OK;
}

static size_t take_packed(struct text_source *source, void *buffer, size_t size)
{
    if (size > source->packed_left)
        size = (size_t) source->packed_left;
    size_t got = zip_file_read_at(&source->file, source->packed_at, buffer, size);
    source->packed_at += got;
    source->packed_left -= got;
    return got;
}

static enum step_status count_unpacked(struct text_source *source, const void *buffer, size_t got,
                                       struct step_error *error)
{
    source->unpacked += got;
    source->crc = (uint32_t) crc32(source->crc, buffer, (unsigned) got);
    bool too_much = source->zip != NULL && source->unpacked > source->size;
    return too_much ? damage(source, error) : STEP_STATUS_OK;
}

static enum step_status read_stored(struct text_source *source, void *buffer, size_t size,
                                    size_t *got, struct step_error *error)
{
    *got = take_packed(source, buffer, size < PIECE_MAX ? size : PIECE_MAX);
    if (*got > 0)
        return count_unpacked(source, buffer, *got, error);
    return check_entry(source, error);
}

/* Inflates until there is output, or none is possible.  Returns zlib's last status. */
static int inflate_some(struct text_source *source, void *buffer, unsigned size, size_t *got)
{
    z_stream *inflater = &source->inflater;
    int result = Z_OK;
    inflater->next_out = buffer;
    inflater->avail_out = size;
    while (result == Z_OK && inflater->avail_out == size) {
        if (inflater->avail_in == 0) {
            inflater->next_in = source->packed;
            inflater->avail_in =
                (unsigned) take_packed(source, source->packed, sizeof source->packed);
        }
        result = inflate(inflater, Z_NO_FLUSH);
    }
    *got = size - inflater->avail_out;
    return result;
}

static enum step_status read_deflated(struct text_source *source, void *buffer, size_t size,
                                      size_t *got, struct step_error *error)
{
    int result = inflate_some(source, buffer, size < PIECE_MAX ? (unsigned) size : PIECE_MAX, got);
    if (*got > 0)
        return count_unpacked(source, buffer, *got, error);
    if (result == Z_MEM_ERROR)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, source->name, STEP_NO_OFFSET, "zlib");
    if (source->file.error != 0 || result == Z_DATA_ERROR || result == Z_NEED_DICT)
        return damage(source, error);
    if (source->zip == NULL)
        return cut_fault(source, error);
    return result == Z_STREAM_END ? check_entry(source, error) : damage(source, error);
}

static enum step_status start_inflating(struct text_source *source, struct step_error *error)
{
    if (inflateInit2(&source->inflater, -MAX_WBITS) != Z_OK)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, source->name, STEP_NO_OFFSET, "zlib");
    source->inflating = true;
    source->read = read_deflated;
    return STEP_STATUS_OK;
}

/* ---- a whole ZIP file ---- */

/* Takes sizes of more than 32 bits from the directory's ZIP64 field. minizip up to 1.1 does not
 * where `long` has 64 bits, which is also why the entry is decompressed here. */
static void widen_sizes(unz_file_info64 *info, const uint8_t *extra, size_t length)
{
    for (size_t at = 0; length - at >= 4;) {
        unsigned id = step_load_u16(extra + at);
        size_t field_length = step_load_u16(extra + at + 2);
        const uint8_t *field = extra + at + 4;
        at += 4;
        if (field_length > length - at)
            return;
        at += field_length;
        if (id != ZIP64_FIELD)
            continue;
        if (info->uncompressed_size == UINT32_MAX && field_length >= 8) {
            info->uncompressed_size = step_load_u64(field);
            field += 8;
            field_length -= 8;
        }
        if (info->compressed_size == UINT32_MAX && field_length >= 8)
            info->compressed_size = step_load_u64(field);
        return;
    }
}

static enum step_status no_entry(const struct text_source *source, struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NOT_FOUND, source->name, STEP_NO_OFFSET,
                          "the ZIP file has no entry `%s`", source->entry);
}

static enum step_status zip_entry_find(struct text_source *source, unz_file_info64 *info,
                                       struct step_error *error)
{
    int result = unzLocateFile(source->zip, source->entry, 1);
    if (result == UNZ_END_OF_LIST_OF_FILE)
        return no_entry(source, error);
    uint8_t *extra = source->packed; /* still unused */
    if (result != UNZ_OK || unzGetCurrentFileInfo64(source->zip, info, NULL, 0, extra,
                                                    sizeof source->packed, NULL, 0) != UNZ_OK)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, STEP_NO_OFFSET,
                              "the directory of the ZIP file is damaged");
    widen_sizes(info, extra, info->size_file_extra);
    return STEP_STATUS_OK;
}

static enum step_status open_entry(struct text_source *source, struct step_error *error)
{
    unz_file_info64 info;
    enum step_status status = zip_entry_find(source, &info, error);
    if (status != STEP_STATUS_OK)
        return status;
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
    source->stated_crc = (uint32_t) info.crc;
    source->packed_at = unzGetCurrentFileZStreamPos64(source->zip);
    source->packed_left = info.compressed_size;
    source->read = read_stored;
    return info.compression_method == 0 ? STEP_STATUS_OK : start_inflating(source, error);
}

/* ---- a ZIP file without a directory ---- */

/* Opens a file without directory, if it has a first entry to decompress. */
static enum step_status open_torn(struct text_source *source, struct step_error *error)
{
    uint8_t header[LOCAL_HEADER_BYTES + ENTRY_NAME_MAX];
    size_t name_length = strnlen(source->entry, ENTRY_NAME_MAX);
    size_t length = LOCAL_HEADER_BYTES + name_length;
    size_t got = zip_file_read_at(&source->file, 0, header, length);
    if (source->file.error != 0)
        return input_fault(source, error);
    if (got >= 4 && memcmp(header, "PK\5\6", 4) == 0) /* a ZIP file without entries */
        return no_entry(source, error);
    if (got < 4 || memcmp(header, "PK\3\4", 4) != 0)
        return step_error_set(error, STEP_STATUS_FORMAT, source->name, 0, "not a ZIP file");
    bool usable = got == length && (header[6] & FLAG_ENCRYPTED) == 0 &&
                  step_load_u16(header + 8) == Z_DEFLATED &&
                  step_load_u16(header + 26) == name_length &&
                  memcmp(header + LOCAL_HEADER_BYTES, source->entry, name_length) == 0;
    if (!usable)
        return cut_fault(source, error);
    source->packed_at = length + step_load_u16(header + 28);
    source->packed_left = UINT64_MAX;
    return start_inflating(source, error);
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

static enum step_status zip_entry_read_file(struct text_source *source, void *buffer, size_t size,
                                            size_t *got, struct step_error *error)
{
    ssize_t count;
    do
        count = read(source->descriptor, buffer, size);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return step_error_set(error, STEP_STATUS_IO, source->name, source->unpacked, "%s",
                              strerror(errno));
    *got = (size_t) count;
    source->unpacked += *got;
    if (count == 0 && source->unpacked < source->size)
        return step_error_set(error, STEP_STATUS_CUT, source->name, source->unpacked,
                              "the file became shorter while it was read");
    return STEP_STATUS_OK;
}

/* ---- all of them ---- */

static struct text_source *zip_entry_create(const char *name, struct step_error *error)
{
    struct text_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_no_memory(error, name);
        return NULL;
    }
    size_t length = strnlen(name, sizeof source->name - 1);
    memcpy(source->name, name, length);
    source->entry = TEXT_ENTRY;
    return source;
}

/* Returns true if the record that ends a ZIP file's directory is complete. minizip reads zeros for
 * bytes missing at the end of a cut file. */
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
                length - at - DIRECTORY_END_MIN >= step_load_u16(tail + at + 20);
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
    if (source->zip == NULL ||
        unzGetGlobalComment(source->zip, source->remark, sizeof source->remark - 1) < 0)
        source->remark[0] = '\0';
    enum step_status status =
        source->zip != NULL ? open_entry(source, error) : open_torn(source, error);
    if (status == STEP_STATUS_OK)
        *out = source;
    else
        text_source_destroy(source);
    return status;
}

enum step_status text_source_open_entry(const char *path, const char *entry,
                                        struct text_source **out, struct step_error *error)
{
    *out = NULL;
    struct text_source *source = zip_entry_create(path, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    source->entry = entry;
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
    struct text_source *source = zip_entry_create(name, error);
    if (source == NULL)
        return STEP_STATUS_NO_MEMORY;
    if (zip_file_open_memory(&source->file, data, length))
        return open_zip(source, out, error);
    text_source_destroy(source);
    return step_no_memory(error, name);
}

enum step_status text_source_open_plain(const void *data, size_t length, const char *name,
                                        struct text_source **out, struct step_error *error)
{
    *out = zip_entry_create(name, error);
    if (*out == NULL)
        return STEP_STATUS_NO_MEMORY;
    if (!zip_file_open_memory(&(*out)->file, data, length)) {
        text_source_destroy(*out);
        return step_no_memory(error, name);
    }
    (*out)->size = length;
    (*out)->read = read_plain;
    return STEP_STATUS_OK;
}

enum step_status text_source_open_file(int file, uint64_t size, const char *name,
                                       struct text_source **out, struct step_error *error)
{
    *out = zip_entry_create(name, error);
    if (*out == NULL)
        return STEP_STATUS_NO_MEMORY;
    (*out)->descriptor = file;
    (*out)->size = size;
    (*out)->read = zip_entry_read_file;
    return STEP_STATUS_OK;
}

enum step_status text_source_read(void *user, void *buffer, size_t size, size_t *got,
                                  struct step_error *error)
{
    struct text_source *source = user;
    *got = 0;
    return source->read(source, buffer, size, got, error);
}

const char *text_source_name(const struct text_source *source)
{
    return source->name;
}

const char *text_source_remark(const struct text_source *source)
{
    return source->remark;
}

uint64_t text_source_size(const struct text_source *source)
{
    return source->size;
}

double text_source_progress(const struct text_source *source)
{
    return source->size > 0 ? (double) source->unpacked / (double) source->size : 1.0;
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
