/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the HATF layer: the format's state and record layouts, shared by reader and writer,
 * and their files. */
#ifndef FORMAT_HATF_HATF_STATE_H
#define FORMAT_HATF_HATF_STATE_H

#include "steptrace/field_code.h"
#include "steptrace/hatf.h"

/* The byte order of HATF (the paper's figure of 2-byte data). */
#define HATF_BIG_ENDIAN true

struct hatf_state {
    struct hatf_field_state fields[HATF_FIELD_COUNT];
};

/* Upper limit for a record: a comment, or a realloc with 8-byte fields and V2 attributes. */
#define HATF_RECORD_BYTES_MAX (1u + 6u * 8u + 2u + HATF_ATTRIBUTES_MAX)

/* The parts of a record after its tag, in this order; each but HATF_PART_END and
 * HATF_PART_NEW_ADDRESS is an enum hatf_field. */
#define HATF_PART_NEW_ADDRESS 6u
#define HATF_PART_END 7u
extern const uint8_t hatf_layouts[HATF_TAG_COUNT][8];

static inline uint64_t hatf_number_of(const struct hatf_record *record, uint8_t part)
{
    switch (part) {
    case HATF_SIZE:
        return record->size;
    case HATF_ADDRESS:
        return record->address;
    case HATF_PART_NEW_ADDRESS:
        return record->new_address;
    case HATF_TIME:
        return record->time;
    case HATF_THREAD:
        return record->thread;
    default:
        return record->heap;
    }
}

void hatf_state_init(struct hatf_state *state);

/* Returns NULL, or the reason why a metadata record is not valid. */
const char *hatf_metadata_fault(uint8_t operation, uint8_t field, uint8_t argument);

/* Returns how many 8-byte values follow the record's four bytes: 0, 1 or 2. */
unsigned hatf_metadata_values(uint8_t operation, uint8_t argument);

/* Copies the state of another writer, without writing anything. */
void hatf_writer_take_state(struct hatf_writer *writer, const struct hatf_writer *other);

/* Applies valid metadata to the state. */
void hatf_state_apply(struct hatf_state *state, const struct hatf_metadata *metadata);

struct hatf_output_file;

/* Creates a file, like hatf_writer_open(). */
enum step_status hatf_output_file_open(const char *path, enum hatf_split split, int level,
                                       struct hatf_output_file **out, struct step_error *error);
const struct step_output *hatf_output_file_outputs(const struct hatf_output_file *file);
/* Completes the file. */
enum step_status hatf_output_file_finish(struct hatf_output_file *file, struct step_error *error);
void hatf_output_file_destroy(struct hatf_output_file *file);

#endif
