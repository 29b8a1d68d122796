/* SPDX-License-Identifier: Apache-2.0 */
/* Appends to a growing buffer. */
#include "converter/output/byte_output.h"

#include "converter/cli/utf8_text.h"

void bytes_reset(struct byte_output *out)
{
    step_buffer_reset(&out->bytes);
    step_buffer_reset(&out->text);
}

void bytes_put(struct byte_output *out, const void *data, size_t length)
{
    out->failed = (length > 0 && !step_buffer_append(&out->bytes, data, length)) || out->failed;
}

uint8_t *bytes_put_room(struct byte_output *out, size_t length)
{
    if (!step_buffer_reserve(&out->bytes, length)) {
        out->failed = true;
        return NULL;
    }
    out->bytes.length += length;
    return out->bytes.data + out->bytes.length - length;
}

void bytes_put_varint(struct byte_output *out, uint64_t value)
{
    out->failed = !step_buffer_append_varint(&out->bytes, value) || out->failed;
}

void bytes_put_little(struct byte_output *out, uint64_t value, size_t length)
{
    uint8_t little[8];
    step_store_u64(little, value);
    bytes_put(out, little, length);
}

void bytes_put_big(struct byte_output *out, uint64_t value, size_t length)
{
    uint8_t big[8];
    step_store_u64(big, __builtin_bswap64(value));
    bytes_put(out, big + 8 - length, length);
}

void bytes_put_numbers(struct byte_output *out, const uint64_t *numbers, size_t count)
{
    uint8_t *at = bytes_put_room(out, count * 8);
    for (size_t i = 0; at != NULL && i < count; i++)
        step_store_u64(at + i * 8, numbers[i]);
}

void bytes_put_part(struct byte_output *out, const struct byte_output *part)
{
    bytes_put(out, part->bytes.data, part->bytes.length);
    out->failed = out->failed || part->failed;
}

struct step_bytes bytes_valid_text(struct byte_output *out, struct step_bytes text)
{
    out->text.length = 0;
    out->failed = !utf8_append(&out->text, text) || out->failed;
    return (struct step_bytes){out->text.data, out->text.length};
}
