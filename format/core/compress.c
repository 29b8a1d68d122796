/* SPDX-License-Identifier: Apache-2.0 */
/* Selects a compression method, or the best of all. */
#include "format/core/compress.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/compress_method.h"

enum {
    WORTH_TRYING = 24,
    SAMPLE = 1 << 16, /* bytes; the size of the sample that selects a method for long input */
    LONG = 4 * SAMPLE,
    DENSE = 8 /* if the sample shrinks to no less than an eighth, higher levels find nothing more */
};

struct step_compressor {
    const struct step_method *method; /* NULL: none */
    bool best;                        /* try all methods */
    int level;                        /* 0: each method's default */
    struct step_buffer scratch;
    void *contexts[STEP_METHODS_MOST];
};

struct step_decompressor {
    void *contexts[STEP_METHODS_MOST];
};

static size_t compress_row_of(uint64_t id)
{
    size_t i = 0;
    while (i < step_method_count && (uint64_t) step_methods[i]->id != id)
        i++;
    return i;
}

bool step_compression_known(uint64_t id)
{
    return id == STEP_COMPRESSION_NONE || compress_row_of(id) < step_method_count;
}

enum step_status step_compressor_create(enum step_compression method, int level,
                                        struct step_compressor **out)
{
    struct step_compressor *compressor = calloc(1, sizeof *compressor);
    *out = compressor;
    if (compressor == NULL)
        return STEP_STATUS_NO_MEMORY;
    compressor->best = method == STEP_COMPRESSION_BEST;
    compressor->level = level;
    size_t row = compress_row_of(method);
    if (method != STEP_COMPRESSION_NONE)
        compressor->method =
            step_methods[row < step_method_count ? row : 0]; /* a method that is not built in: the
                                                                first row */
    return STEP_STATUS_OK;
}

void step_compressor_destroy(struct step_compressor *compressor)
{
    if (compressor == NULL)
        return;
    for (size_t i = 0; i < step_method_count; i++)
        step_methods[i]->free_compressor(compressor->contexts[i]);
    step_buffer_reset(&compressor->scratch);
    free(compressor);
}

/* Returns the compressed length, or 0 if compression failed or did not fit. */
static size_t compress_run(struct step_compressor *compressor, const struct step_method *method,
                           int level, const uint8_t *data, size_t length, uint8_t *out, size_t room)
{
    if (level == 0)
        level = method->default_level;
    return method->compress(&compressor->contexts[compress_row_of(method->id)],
                            level < method->most_level ? level : method->most_level, data, length,
                            out, room);
}

/* Returns the best method for the middle of long input, and the level for it. */
static const struct step_method *best_for(struct step_compressor *compressor, const uint8_t *data,
                                          size_t length, int *level)
{
    const struct step_method *best = step_methods[0];
    size_t least = SAMPLE;
    for (size_t i = 0; i < step_method_count; i++) {
        const struct step_method *method = step_methods[i];
        size_t result = compress_run(compressor, method, method->most_level, data + length / 2,
                                     SAMPLE, compressor->scratch.data, least);
        if (result == 0 || result >= least)
            continue;
        least = result;
        best = method;
    }
    bool dense = least >= SAMPLE / DENSE && best->level_for_dense != 0;
    *level = dense ? best->level_for_dense : best->most_level;
    return best;
}

/* Compresses long input with one method.  Returns 0 if that does not help. */
static size_t run_best(struct step_compressor *compressor, const uint8_t *data, size_t length,
                       uint8_t *out, enum step_compression *method)
{
    int level;
    compressor->scratch.length = 0;
    if (!step_buffer_reserve(&compressor->scratch, SAMPLE))
        return 0;
    const struct step_method *best = best_for(compressor, data, length, &level);
    *method = best->id;
    return compress_run(compressor, best, level, data, length, out, length - 1);
}

/* Tries all methods at their highest level; each must beat the previous one. */
static size_t run_all(struct step_compressor *compressor, const uint8_t *data, size_t length,
                      uint8_t *out, enum step_compression *method)
{
    size_t best = 0;
    compressor->scratch.length = 0;
    if (!step_buffer_reserve(&compressor->scratch, length))
        return 0;
    for (size_t i = 0; i < step_method_count; i++) {
        size_t room = best > 0 ? best - 1 : length - 1;
        size_t result = compress_run(compressor, step_methods[i], step_methods[i]->most_level, data,
                                     length, compressor->scratch.data, room);
        if (result == 0)
            continue;
        memcpy(out, compressor->scratch.data, best = result);
        *method = step_methods[i]->id;
    }
    return best;
}

static size_t run_dense(struct step_compressor *compressor, const uint8_t *data, size_t length,
                        uint8_t *out, size_t room)
{
    const struct step_method *method = compressor->method;
    return method->compress_dense(&compressor->contexts[compress_row_of(method->id)], data, length,
                                  out, room);
}

enum step_status step_compress(struct step_compressor *compressor, bool dense, const uint8_t *data,
                               size_t length, struct step_buffer *out,
                               enum step_compression *method)
{
    size_t result = 0;
    *method = STEP_COMPRESSION_NONE;
    if (!step_buffer_reserve(out, length))
        return STEP_STATUS_NO_MEMORY;
    uint8_t *place = out->data != NULL ? out->data + out->length : NULL;
    if (length >= LONG && compressor->best)
        result = run_best(compressor, data, length, place, method);
    else if (length >= WORTH_TRYING && compressor->best)
        result = run_all(compressor, data, length, place, method);
    else if (length >= WORTH_TRYING && compressor->method != NULL && dense &&
             compressor->level == 0 && compressor->method->compress_dense != NULL)
        result = run_dense(compressor, data, length, place, length - 1);
    else if (length >= WORTH_TRYING && compressor->method != NULL)
        result = compress_run(compressor, compressor->method, compressor->level, data, length,
                              place, length - 1);
    if (result > 0 && !compressor->best)
        *method = compressor->method->id;
    else if (result == 0)
        *method = STEP_COMPRESSION_NONE;
    if (result == 0 && length > 0)
        memcpy(place, data, result = length);
    out->length += result;
    return STEP_STATUS_OK;
}

size_t step_compress_estimate(struct step_compressor *compressor, bool close, const uint8_t *data,
                              size_t length)
{
    compressor->scratch.length = 0;
    if (length < WORTH_TRYING || compressor->method == NULL ||
        !step_buffer_reserve(&compressor->scratch, length))
        return length;
    const struct step_method *method = compressor->method;
    int level = close ? method->default_level : method->quick_level;
    size_t result =
        compress_run(compressor, method, level, data, length, compressor->scratch.data, length - 1);
    return result > 0 ? result : length;
}

bool step_compressor_is_best(const struct step_compressor *compressor)
{
    return compressor->best;
}

enum step_status step_decompressor_create(struct step_decompressor **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

void step_decompressor_destroy(struct step_decompressor *decompressor)
{
    if (decompressor == NULL)
        return;
    for (size_t i = 0; i < step_method_count; i++)
        step_methods[i]->free_decompressor(decompressor->contexts[i]);
    free(decompressor);
}

enum step_status step_decompress(struct step_decompressor *decompressor, uint64_t method,
                                 const uint8_t *data, size_t length, uint8_t *raw,
                                 size_t raw_length)
{
    if (method == STEP_COMPRESSION_NONE) {
        if (length != raw_length)
            return STEP_STATUS_CORRUPT;
        if (length > 0)
            memcpy(raw, data, length);
        return STEP_STATUS_OK;
    }
    size_t row = compress_row_of(method);
    return row < step_method_count ? step_methods[row]->decompress(&decompressor->contexts[row],
                                                                   data, length, raw, raw_length)
                                   : STEP_STATUS_UNSUPPORTED;
}
