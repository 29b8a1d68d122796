/* SPDX-License-Identifier: Apache-2.0 */
/* Compresses output with gzip or zstd. */
#include "steptrace/packed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "format/io/output_behind.h"
#if STEPTRACE_ZSTD
#include <zstd.h>
#endif

#define OUT_BYTES ((size_t) 1 << 17)

struct step_packed_output {
    enum step_packing packing;
    struct step_output to;
    z_stream deflate;
    bool has_deflate;
#if STEPTRACE_ZSTD
    ZSTD_CCtx *zstd;
#endif
    unsigned char *out;
    struct step_output_behind *behind; /* NULL: the caller compresses */
};

static enum step_status failed(struct step_error *error, const char *what)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "%s cannot compress",
                          what);
}

static enum step_status pack_gzip(struct step_packed_output *output, const void *data,
                                  size_t length, bool is_end, struct step_error *error)
{
    z_stream *stream = &output->deflate;
    const unsigned char *at = length != 0 ? data : output->out; /* never NULL */
    do {
        size_t piece = length < ((size_t) 1 << 30) ? length : (size_t) 1 << 30;
        /* zlib does not write to it, but declares that only with ZLIB_CONST */
        stream->next_in = (unsigned char *) (uintptr_t) at;
        stream->avail_in = (unsigned) piece;
        at += piece;
        length -= piece;
        do {
            stream->next_out = output->out;
            stream->avail_out = (unsigned) OUT_BYTES;
            if (deflate(stream, is_end ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
                return failed(error, "zlib");
            size_t made = OUT_BYTES - stream->avail_out;
            enum step_status status =
                made > 0 ? output->to.write(output->to.user, output->out, made, error)
                         : STEP_STATUS_OK;
            if (status != STEP_STATUS_OK)
                return status;
        } while (stream->avail_out == 0);
    } while (length > 0);
    return STEP_STATUS_OK;
}

#if STEPTRACE_ZSTD
static enum step_status pack_zstd(struct step_packed_output *output, const void *data,
                                  size_t length, bool is_end, struct step_error *error)
{
    ZSTD_inBuffer in = {data, length, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {output->out, OUT_BYTES, 0};
        left = ZSTD_compressStream2(output->zstd, &out, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return failed(error, "zstd");
        enum step_status status = out.pos > 0
                                      ? output->to.write(output->to.user, out.dst, out.pos, error)
                                      : STEP_STATUS_OK;
        if (status != STEP_STATUS_OK)
            return status;
    } while (in.pos < in.size || (is_end && left > 0));
    return STEP_STATUS_OK;
}
#endif

static enum step_status packed_output_pack(struct step_packed_output *output, const void *data,
                                           size_t length, bool is_end, struct step_error *error)
{
    switch (output->packing) {
    case STEP_PACKING_GZIP:
        return pack_gzip(output, data, length, is_end, error);
    case STEP_PACKING_ZSTD:
#if STEPTRACE_ZSTD
        return pack_zstd(output, data, length, is_end, error);
#endif
    case STEP_PACKING_NONE:
        break;
    }
    return length > 0 ? output->to.write(output->to.user, data, length, error) : STEP_STATUS_OK;
}

static enum step_status packed_output_start(struct step_packed_output *output, int level,
                                            struct step_error *error)
{
    output->out = malloc(OUT_BYTES);
    if (output->out == NULL)
        return failed(error, "there is no memory: nothing");
    if (output->packing == STEP_PACKING_GZIP) {
        /* 15 + 16: the largest window, and a gzip header */
        output->has_deflate =
            deflateInit2(&output->deflate, level != 0 ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                         15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
        return output->has_deflate ? STEP_STATUS_OK : failed(error, "zlib");
    }
    if (output->packing == STEP_PACKING_ZSTD) {
#if STEPTRACE_ZSTD
        output->zstd = ZSTD_createCCtx();
        if (output->zstd == NULL)
            return failed(error, "zstd");
        if (level != 0)
            ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
#else
        return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                              "this build has no zstd");
#endif
    }
    return STEP_STATUS_OK;
}

enum step_status step_packed_output_create(enum step_packing packing, int level,
                                           const struct step_output *to,
                                           struct step_packed_output **out,
                                           struct step_error *error)
{
    struct step_packed_output *output = calloc(1, sizeof *output);
    if (output == NULL)
        return failed(error, "there is no memory: nothing");
    output->packing = packing;
    output->to = *to;
    enum step_status status = packed_output_start(output, level, error);
    if (status != STEP_STATUS_OK) {
        step_packed_output_destroy(output);
        return status;
    }
    *out = output;
    return status;
}

static enum step_status write_packed(void *user, const void *data, size_t length,
                                     struct step_error *error)
{
    return packed_output_pack(user, data, length, false, error);
}

enum step_status step_packed_output_use_thread(struct step_packed_output *output,
                                               struct step_error *error)
{
    const struct step_output self = {output, write_packed};
    if (output->packing != STEP_PACKING_NONE && output->behind == NULL) {
        output->behind = step_output_behind_create(&self);
        if (output->behind == NULL)
            return failed(error, "there is no memory: nothing");
    }
    return STEP_STATUS_OK;
}

struct step_output step_packed_output_as_output(struct step_packed_output *output)
{
    if (output->behind != NULL)
        return step_output_behind_as_output(output->behind);
    return (struct step_output){output, write_packed};
}

enum step_status step_packed_output_close(struct step_packed_output *output,
                                          struct step_error *error)
{
    enum step_status status =
        output->behind != NULL ? step_output_behind_finish(output->behind, error) : STEP_STATUS_OK;
    return status == STEP_STATUS_OK ? packed_output_pack(output, NULL, 0, true, error) : status;
}

void step_packed_output_destroy(struct step_packed_output *output)
{
    if (output == NULL)
        return;
    step_output_behind_destroy(output->behind);
    if (output->has_deflate)
        deflateEnd(&output->deflate);
#if STEPTRACE_ZSTD
    ZSTD_freeCCtx(output->zstd);
#endif
    free(output->out);
    free(output);
}
