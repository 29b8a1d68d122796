/* SPDX-License-Identifier: Apache-2.0 */
/* A block that is being decoded: its bytes, its storage, its columns.  What both layouts share. */
#ifndef FORMAT_STEP_COLUMNS_DECODING_H
#define FORMAT_STEP_COLUMNS_DECODING_H

#include "format/core/arena.h"
#include "format/step/layout.h"
#include "format/step/plan/plan.h"
#include "steptrace/reader.h"

struct step_row_reader;

/* What decoding needs, kept from block to block. */
struct step_block_reader {
    const struct step_plan *plan;
    struct step_decompressor *decompressor;
    struct step_scratch scratch;
    struct step_arena temporary;  /* of one decoding */
    struct step_row_reader *rows; /* made when first used */
};

/* A slot's values, one for each record that has the slot, `step` apart; 0: all are the same. */
struct step_slot_cursor {
    const uint64_t *next;
    size_t step;
    const uint64_t *first; /* NULL: the slot's field was not asked for */
};

struct step_block_type {
    uint32_t record;
    bool wanted;
    uint64_t count;
    size_t slot_count;
    struct step_slot_cursor **slots; /* of a wanted type: one for each slot; else those to move */
};

struct step_block {
    struct step_arena arena;
    const struct step_definition *definition;
    uint16_t *types; /* NULL: all records are of the first type */
    uint64_t record_count;
    uint64_t at;
    struct step_block_type *block_types;
    size_t type_count;
    uint64_t *slots; /* of the record given last */
};

/* A payload in memory, whose checksum is good, and where it stands in the file. */
struct step_payload {
    const struct step_block_header *header;
    const uint8_t *bytes;
    uint64_t offset;
    const char *file;
};

enum step_column_state {
    STEP_COLUMN_ABSENT,
    STEP_COLUMN_LISTED,
    STEP_COLUMN_UNDER_WAY,
    STEP_COLUMN_DECODED
};

/* A column of the plan in the block at hand. */
struct step_decoding_column {
    enum step_column_state state;
    struct step_coding coding;
    const uint8_t *stored;
    uint64_t count;                   /* values that it must have */
    struct step_slot_cursor *cursors; /* of the slots that it, or the node at it, makes */
    bool unsupported;                 /* it, or something below the node at it, cannot be decoded */
};

struct step_decoding {
    struct step_block_reader *reader;
    const struct step_plan *plan;
    const struct step_payload *payload;
    const uint8_t *wanted;
    const uint8_t *const *fields;     /* by record, a byte for each field; NULL: all fields */
    struct step_slot_cursor *nothing; /* stands for slots of fields that are not decoded */
    struct step_block *block;
    struct step_decoding_column *columns; /* by number in the plan */
    struct step_series *series;           /* the same, of those decoded */
    uint32_t *records;                    /* by local type */
    unsigned depth;                       /* columns that are under way */
    struct step_coding types;
    const uint8_t *types_stored;
    struct step_error *error;
};

/* Fills decoding->error and returns `status`; `at`, in the payload, gives the offset. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum step_status
step_decoding_fail(const struct step_decoding *decoding, enum step_status status, const uint8_t *at,
                   const char *format, ...);
/* UNSUPPORTED: `what` ("java.ObjectAlloc.size") is coded in a way that is not known; names it. */
enum step_status step_decoding_unknown(const struct step_decoding *decoding, const char *what,
                                       const struct step_coding *coding, const uint8_t *at);
enum step_status step_decoding_no_memory(const struct step_decoding *decoding);
/* "java.ObjectAlloc.size" for messages. */
void step_decoding_name(const struct step_decoding *decoding, uint32_t index, char *out,
                        size_t room);

/* Storage that lives as long as the decoded block, and until the block is decoded; NULL with
 * `*status` where there is none. */
void *step_decoding_take(struct step_decoding *decoding, uint64_t count, size_t size,
                         enum step_status *status);
void *step_decoding_borrow(struct step_decoding *decoding, uint64_t count, size_t size,
                           enum step_status *status);

/* Whether the section's bytes before compression fit into what the block may still take; false with
 * `*status`. */
bool step_decoding_has_room(struct step_decoding *decoding, const struct step_coding *coding,
                            enum step_status *status);

/* The compressed bytes after a block's summary (layouts BYTES and ROWS), appended to `out` (at most
 * `most`). */
enum step_status step_block_expand(struct step_block_reader *reader,
                                   const struct step_payload *payload, uint64_t most,
                                   struct step_buffer *out, struct step_error *error);

#endif
