/* SPDX-License-Identifier: Apache-2.0 */
/* Records as the bytes of CTF events' fields: little-endian, nothing between them. */
#ifndef CONVERTER_CTF_CTF_VALUES_H
#define CONVERTER_CTF_CTF_VALUES_H

#include "converter/ctf/ctf_types.h"
#include "converter/records/record_values.h"
#include "format/core/bytes.h"

struct ctf_values {
    const struct ctf_types *types;
    struct record_values json; /* of fields that are text */
    char *text;                /* where these go to */
    size_t text_length;
};

/* False: out of memory; reset is allowed then. */
bool ctf_values_init(struct ctf_values *values, const struct ctf_types *types,
                     const struct step_reader *reader);
void ctf_values_reset(struct ctf_values *values);

/* A number of 1 to 8 bytes.  False: out of memory. */
bool ctf_put_number(struct step_buffer *out, uint64_t value, size_t bytes);
/* False: out of memory, or a field is longer than CTF's lengths here can say. */
bool ctf_values_put(struct ctf_values *values, uint32_t record, const uint64_t *slots,
                    struct step_buffer *out);

#endif
