/* SPDX-License-Identifier: Apache-2.0 */
/* The form `varint`: 7 bits a byte, lowest first. */
#include "format/codec/forms/form.h"
#include "format/core/bytes.h"

static uint64_t varint_bound(uint64_t parameter, uint64_t count)
{
    (void) parameter;
    return count * STEP_VARINT_MAX;
}

static size_t varint_encode(uint64_t parameter, const uint64_t *values, size_t count, uint8_t *out)
{
    (void) parameter;
    uint8_t *at = out;
    for (size_t i = 0; i < count; i++)
        at = step_varint_put(at, values[i]);
    return (size_t) (at - out);
}

static bool varint_decode(uint64_t parameter, const uint8_t *in, size_t length, uint64_t *values,
                          size_t count)
{
    (void) parameter;
    if (length < count)
        return false;
    const uint8_t *end = in + length;
    for (size_t i = 0; i < count; i++) {
        if (in < end && *in < 0x80) {
            values[i] = *in++;
            continue;
        }
        in = step_varint_get(in, end, &values[i]);
        if (in == NULL)
            return false;
    }
    return in == end;
}

const struct step_form step_form_varint = {
    .id = STEP_FORM_VARINT,
    .name = "varint",
    .bound = varint_bound,
    .encode = varint_encode,
    .decode = varint_decode,
};
