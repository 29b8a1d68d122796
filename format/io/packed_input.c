/* SPDX-License-Identifier: Apache-2.0 */
/* Decompresses gzip and zstd files while they are read. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#if STEPTRACE_ZSTD
#include <zstd.h>

#endif

#include "format/core/input_file.h"
#include "format/core/step_no_memory.h"
#include "steptrace/budget.h"
#include "steptrace/packed.h"

#define IN_BYTES ((size_t) 1 << 17)
#define MAGIC_BYTES 4u
#define PIECE_MAX ((size_t) 1 << 30)
/* What a file may unpack to: as much as gzip can reach (1,032 for each byte), and a constant.  A
 * block of zstd can stand for 32,768 times its bytes, so that a download of some megabytes is
 * terabytes. */
#define UNPACKED_LEAST (UINT64_C(1) << 30)
#define UNPACKED_PER_BYTE 1100u

struct step_packed_input {
    char name[256];
    enum step_packing packing;
    int file; /* -1: in memory */
    struct step_bytes memory;
    uint64_t size; /* of the file; 0: unknown */
    uint64_t taken;
    uint64_t given;            /* decompressed bytes returned so far */
    struct step_budget budget; /* decompressed bytes that may follow */
    bool ended;                /* the file has no more bytes */
    bool inside;               /* inside a gzip member or zstd frame */
    z_stream inflater;
    bool inflating; /* the inflater must be ended */
#if STEPTRACE_ZSTD
    ZSTD_DCtx *zstd;
#endif
    size_t at; /* in `in` */
    size_t end;
    uint8_t in[IN_BYTES];
};

enum step_packing step_packing_by_ending(const char *path)
{
    size_t length = strlen(path);
    if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0)
        return STEP_PACKING_GZIP;
    if (length > 4 && strcasecmp(path + length - 4, ".zst") == 0)
        return STEP_PACKING_ZSTD;
    return STEP_PACKING_NONE;
}

static enum step_status packed_input_fail(const struct step_packed_input *input,
                                          enum step_status status, const char *what,
                                          struct step_error *error)
{
    return step_error_set(error, status, input->name, input->given, "%s", what);
}

/* ---- packed bytes ---- */

static enum step_status packed_input_take(struct step_packed_input *input, void *buffer,
                                          size_t size, size_t *got, struct step_error *error)
{
    if (input->file < 0) {
        *got = size < input->memory.length ? size : input->memory.length;
        if (*got > 0)
            memcpy(buffer, input->memory.data, *got);
        input->memory.data += *got;
        input->memory.length -= *got;
    } else {
        ssize_t count;
        do
            count = read(input->file, buffer, size < PIECE_MAX ? size : PIECE_MAX);
        while (count < 0 && errno == EINTR);
        if (count < 0)
            return packed_input_fail(input, STEP_STATUS_IO, strerror(errno), error);
        *got = (size_t) count;
    }
    input->taken += *got;
    step_budget_earn(&input->budget, UNPACKED_PER_BYTE, *got);
    input->ended = *got == 0;
    return STEP_STATUS_OK;
}

static enum step_status packed_input_fill(struct step_packed_input *input, struct step_error *error)
{
    if (input->at < input->end || input->ended)
        return STEP_STATUS_OK;
    size_t got = 0;
    enum step_status status = packed_input_take(input, input->in, IN_BYTES, &got, error);
    input->at = 0;
    input->end = got;
    return status;
}

static enum step_packing packing_of(const uint8_t *start, size_t length)
{
    if (length >= 2 && start[0] == 0x1f && start[1] == 0x8b)
        return STEP_PACKING_GZIP;
    if (length >= 4 && memcmp(start, "\x28\xb5\x2f\xfd", 4) == 0)
        return STEP_PACKING_ZSTD;
    return STEP_PACKING_NONE;
}

/* ---- unpacking ---- */

static enum step_status start_unpacking(struct step_packed_input *input, struct step_error *error)
{
    if (input->packing == STEP_PACKING_GZIP) {
        input->inflating = inflateInit2(&input->inflater, 15 + 16) == Z_OK;
        return input->inflating
                   ? STEP_STATUS_OK
                   : packed_input_fail(input, STEP_STATUS_NO_MEMORY, "out of memory", error);
    }
    if (input->packing == STEP_PACKING_ZSTD) {
#if STEPTRACE_ZSTD
        input->zstd = ZSTD_createDCtx();
        if (input->zstd == NULL)
            return packed_input_fail(input, STEP_STATUS_NO_MEMORY, "out of memory", error);
#else
        return packed_input_fail(input, STEP_STATUS_UNSUPPORTED, "this build has no zstd", error);
#endif
    }
    return STEP_STATUS_OK;
}

/* If another member follows the end of one, decompression continues with it. */
static enum step_status inflate_some(struct step_packed_input *input, void *buffer, size_t size,
                                     size_t *got, struct step_error *error)
{
    z_stream *inflater = &input->inflater;
    unsigned room = size < PIECE_MAX ? (unsigned) size : (unsigned) PIECE_MAX;
    inflater->next_in = input->in + input->at;
    inflater->avail_in = (unsigned) (input->end - input->at);
    inflater->next_out = buffer;
    inflater->avail_out = room;
    int result = inflate(inflater, Z_NO_FLUSH);
    input->inside = result != Z_STREAM_END;
    input->at = input->end - inflater->avail_in;
    *got = room - inflater->avail_out;
    if (result == Z_STREAM_END && inflateReset(inflater) == Z_OK)
        return STEP_STATUS_OK;
    if (result == Z_MEM_ERROR)
        return packed_input_fail(input, STEP_STATUS_NO_MEMORY, "out of memory", error);
    if (result != Z_OK && result != Z_BUF_ERROR)
        return packed_input_fail(input, STEP_STATUS_CORRUPT, "the packed data is damaged", error);
    return STEP_STATUS_OK;
}

#if STEPTRACE_ZSTD
static enum step_status unzstd_some(struct step_packed_input *input, void *buffer, size_t size,
                                    size_t *got, struct step_error *error)
{
    ZSTD_inBuffer in = {input->in, input->end, input->at};
    ZSTD_outBuffer out = {buffer, size, 0};
    size_t left = ZSTD_decompressStream(input->zstd, &out, &in);
    if (ZSTD_isError(left))
        return packed_input_fail(input, STEP_STATUS_CORRUPT, "the packed data is damaged", error);
    input->inside = left != 0;
    input->at = in.pos;
    *got = out.pos;
    return STEP_STATUS_OK;
}
#endif

static enum step_status unpack_some(struct step_packed_input *input, void *buffer, size_t size,
                                    size_t *got, struct step_error *error)
{
#if STEPTRACE_ZSTD
    if (input->packing == STEP_PACKING_ZSTD)
        return unzstd_some(input, buffer, size, got, error);
#endif
    return inflate_some(input, buffer, size, got, error);
}

static size_t take_rest(struct step_packed_input *input, void *buffer, size_t size)
{
    size_t left = input->end - input->at;
    size_t got = size < left ? size : left;
    memcpy(buffer, input->in + input->at, got);
    input->at += got;
    return got;
}

enum step_status step_packed_input_read(void *user, void *buffer, size_t size, size_t *got,
                                        struct step_error *error)
{
    struct step_packed_input *input = user;
    enum step_status status = STEP_STATUS_OK;
    *got = 0;
    if (input->packing == STEP_PACKING_NONE) {
        *got = take_rest(input, buffer, size);
        if (*got == 0 && !input->ended)
            status = packed_input_take(input, buffer, size, got, error);
    }
    while (input->packing != STEP_PACKING_NONE && *got == 0 && status == STEP_STATUS_OK) {
        status = packed_input_fill(input, error);
        bool is_end = input->at == input->end;
        if (status != STEP_STATUS_OK || (is_end && !input->inside))
            break;
        status = unpack_some(input, buffer, size, got, error);
        if (status == STEP_STATUS_OK && is_end && *got == 0 && input->inside)
            status = packed_input_fail(input, STEP_STATUS_CUT, "the packed data is cut", error);
    }
    if (input->packing != STEP_PACKING_NONE && !step_budget_take(&input->budget, *got)) {
        *got = 0;
        status = packed_input_fail(
            input, STEP_STATUS_CORRUPT,
            "it unpacks to more than 1 GiB and 1,100 times its bytes; unpack it with "
            "another program if it is to be read",
            error);
    }
    input->given += *got;
    return status;
}

/* ---- opening ---- */

static enum step_status packed_input_start(struct step_packed_input *input,
                                           struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    size_t got = 1;
    while (input->end < MAGIC_BYTES && got > 0 && status == STEP_STATUS_OK) {
        got = 0;
        status =
            packed_input_take(input, input->in + input->end, IN_BYTES - input->end, &got, error);
        input->end += got;
    }
    input->packing = packing_of(input->in, input->end);
    return status == STEP_STATUS_OK ? start_unpacking(input, error) : status;
}

static struct step_packed_input *packed_input_create(const char *name, struct step_error *error)
{
    struct step_packed_input *input = malloc(sizeof *input);
    if (input == NULL) {
        step_no_memory(error, name);
        return NULL;
    }
    memset(input, 0, offsetof(struct step_packed_input, in));
    memcpy(input->name, name, strnlen(name, sizeof input->name - 1));
    input->file = -1;
    input->budget = step_budget_of(UNPACKED_LEAST, 0, 0);
    return input;
}

static enum step_status packed_input_give(struct step_packed_input *input,
                                          struct step_packed_input **out, struct step_error *error)
{
    enum step_status status = packed_input_start(input, error);
    if (status == STEP_STATUS_OK)
        *out = input;
    else
        step_packed_input_close(input);
    return status;
}

enum step_status step_packed_input_open(const char *path, struct step_packed_input **out,
                                        struct step_error *error)
{
    *out = NULL;
    struct step_packed_input *input = packed_input_create(path, error);
    if (input == NULL)
        return STEP_STATUS_NO_MEMORY;
    struct stat facts;
    input->file = input_file_open(path, INPUT_STREAM, &facts);
    if (input->file < 0) {
        enum step_status status = step_error_set(error, STEP_STATUS_IO, path, STEP_NO_OFFSET,
                                                 "cannot open: %s", strerror(errno));
        step_packed_input_close(input);
        return status;
    }
    if (S_ISREG(facts.st_mode))
        input->size = (uint64_t) facts.st_size;
    return packed_input_give(input, out, error);
}

enum step_status step_packed_input_open_descriptor(int descriptor, const char *name,
                                                   const void *start, size_t start_length,
                                                   struct step_packed_input **out,
                                                   struct step_error *error)
{
    *out = NULL;
    struct step_packed_input *input = packed_input_create(name, error);
    if (input == NULL) {
        close(descriptor);
        return STEP_STATUS_NO_MEMORY;
    }
    input->file = descriptor;
    input->end = start_length < STEP_PACKED_START_MAX ? start_length : STEP_PACKED_START_MAX;
    if (input->end > 0)
        memcpy(input->in, start, input->end);
    input->taken = input->end;
    step_budget_earn(&input->budget, UNPACKED_PER_BYTE, input->end);
    return packed_input_give(input, out, error);
}

enum step_status step_packed_input_open_memory(const void *data, size_t length, const char *name,
                                               struct step_packed_input **out,
                                               struct step_error *error)
{
    *out = NULL;
    struct step_packed_input *input = packed_input_create(name, error);
    if (input == NULL)
        return STEP_STATUS_NO_MEMORY;
    input->memory = (struct step_bytes){data, length};
    input->size = length;
    return packed_input_give(input, out, error);
}

enum step_packing step_packed_input_packing(const struct step_packed_input *input)
{
    return input->packing;
}

double step_packed_input_progress(const struct step_packed_input *input)
{
    return input->size > 0 ? (double) input->taken / (double) input->size : 1.0;
}

void step_packed_input_close(struct step_packed_input *input)
{
    if (input == NULL)
        return;
    if (input->inflating)
        inflateEnd(&input->inflater);
#if STEPTRACE_ZSTD
    ZSTD_freeDCtx(input->zstd);
#endif
    if (input->file >= 0)
        close(input->file);
    free(input);
}
