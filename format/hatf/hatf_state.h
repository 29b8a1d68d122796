/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the HATF layer: what reader and writer share, the format's state and its layouts. */
#ifndef FORMAT_HATF_HATF_STATE_H
#define FORMAT_HATF_HATF_STATE_H

#include "steptrace/field_code.h"
#include "steptrace/hatf.h"

/* The byte order of HATF (the paper's figure of 2-byte data). */
#define HATF_BIG_ENDIAN true

struct hatf_state {
    struct hatf_field_state fields[HATF_FIELD_COUNT];
};

/* No record takes more bytes: a comment, or a realloc with 8-byte fields and v2 attributes. */
#define HATF_RECORD_BYTES_MAX (1u + 6u * 8u + 2u + HATF_ATTRIBUTES_MAX)

/* What stands in a record after its tag, in this order; each but HATF_PART_END and
 * HATF_PART_NEW_ADDRESS is an enum hatf_field. */
#define HATF_PART_NEW_ADDRESS 6u
#define HATF_PART_END 7u
extern const uint8_t hatf_layouts[HATF_TAG_COUNT][8];

void hatf_state_init(struct hatf_state *state);

/* NULL, or what is wrong with a metadata record. */
const char *hatf_metadata_fault(uint8_t operation, uint8_t field, uint8_t argument);

/* How many 8-byte values follow the record's four bytes: 0, 1 or 2. */
unsigned hatf_metadata_values(uint8_t operation, uint8_t argument);

/* The writer goes on as the other would; nothing is written. */
void hatf_writer_take_state(struct hatf_writer *writer, const struct hatf_writer *other);

/* Changes the state; the metadata has no fault. */
void hatf_state_apply(struct hatf_state *state, const struct hatf_metadata *metadata);

#endif
