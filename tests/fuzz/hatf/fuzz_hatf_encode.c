/* SPDX-License-Identifier: Apache-2.0 */
/* Any trace through every encoding: what was read must read again, and OPTIMAL, BEST and NAIVE are
 * in this order of size.  The trace is read split where the first byte says so: then the rest is
 * dealt out to the streams. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"
#include "steptrace/packed.h"
#include "tests/fuzz/kept_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS = 600 };

/* Gives the trace's records to the encoder. */
static void encode(struct hatf_reader *reader, enum hatf_encoding encoding,
                   struct kept_output *output)
{
    const struct step_output to = kept_output_of(output);
    struct hatf_writer *writer;
    struct hatf_encoder *encoder;
    struct hatf_record record;
    if (hatf_writer_create(&to, &writer, NULL) != STEP_STATUS_OK ||
        hatf_encoder_create(writer, encoding, &encoder, NULL) != STEP_STATUS_OK)
        abort();
    unsigned count = 0;
    while (count < RECORDS && hatf_reader_next(reader, &record, NULL) == STEP_STATUS_OK) {
        count += record.tag != HATF_METADATA;
        if (hatf_encoder_put(encoder, &record, NULL) != STEP_STATUS_OK)
            abort();
    }
    if (hatf_encoder_flush(encoder, NULL) != STEP_STATUS_OK ||
        hatf_writer_close(writer, NULL) != STEP_STATUS_OK)
        abort();
    hatf_encoder_destroy(encoder);
    hatf_writer_destroy(writer);
}

static struct kept_output encode_memory(const struct kept_output *from, enum hatf_encoding encoding)
{
    struct kept_output output = {NULL, 0};
    struct hatf_reader *reader;
    if (hatf_reader_create_memory(from->data, from->length, "fuzz", &reader, NULL) !=
        STEP_STATUS_OK)
        abort();
    encode(reader, encoding, &output);
    hatf_reader_destroy(reader);
    return output;
}

static void try_all(const struct kept_output *naive)
{
    size_t sizes[HATF_ENCODING_COUNT];
    for (unsigned i = 0; i < HATF_ENCODING_COUNT; i++) {
        struct kept_output encoded = encode_memory(naive, (enum hatf_encoding) i);
        struct kept_output again = encode_memory(&encoded, HATF_ENCODING_NAIVE);
        sizes[i] = encoded.length;
        if (again.length != naive->length ||
            (again.length > 0 && memcmp(again.data, naive->data, again.length) != 0) ||
            sizes[i] > sizes[0])
            abort();
        free(encoded.data);
        free(again.data);
    }
    if (sizes[HATF_ENCODING_OPTIMAL] > sizes[HATF_ENCODING_BEST])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step_packed_input *parts[HATF_STREAM_COUNT] = {NULL};
    struct hatf_input inputs[HATF_STREAM_COUNT] = {{NULL, NULL}};
    struct hatf_reader *reader = NULL;
    struct kept_output naive = {NULL, 0};
    if (size == 0)
        return 0;
    enum hatf_split split = (enum hatf_split)(data[0] % 3);
    size_t share = split == HATF_SPLIT_NONE ? size - 1 : (size - 1) / HATF_STREAM_COUNT;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        const uint8_t *start = data + 1 + (split == HATF_SPLIT_NONE ? 0 : i * share);
        if (step_packed_input_open_memory(start, share, "fuzz", &parts[i], NULL) != STEP_STATUS_OK)
            goto out;
        inputs[i] = (struct hatf_input){parts[i], step_packed_input_read};
    }
    if (hatf_reader_create_split(inputs, split, "fuzz", &reader, NULL) == STEP_STATUS_OK) {
        encode(reader, HATF_ENCODING_NAIVE, &naive);
        try_all(&naive);
    }
out:
    hatf_reader_destroy(reader);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        step_packed_input_close(parts[i]);
    free(naive.data);
    return 0;
}
