/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of decoding a block, shared by both layouts: its bytes, storage and columns.
 *
 * Storage is of two kinds, both with the limit of the block: what the decoded block owns
 * (step_decoding_take()), and what is needed while it is decoded (step_decoding_borrow()). A
 * hostile block that claims to be large is refused when it asks for the memory, not when the
 * machine has none.
 *
 * What a record's slots point to must be of the first kind, and so must the series that cursors
 * walk over.  Memory is not zeroed.  Each array is therefore filled completely before it is read,
 * or the block is refused.
 */
#ifndef FORMAT_STEP_COLUMNS_DECODING_H
#define FORMAT_STEP_COLUMNS_DECODING_H

#include "format/core/arena.h"
#include "format/step/layout.h"
#include "format/step/plan/plan.h"
#include "steptrace/reader.h"

struct step_row_reader;

/* State for decoding, kept from block to block.  `scratch` serves one column at a time.  A column
 * that needs others must have decoded them before it uses it (block_columns.c). */
struct step_block_reader {
    const struct step_plan *plan;
    struct step_decompressor *decompressor;
    struct step_scratch scratch;
    struct step_arena temporary;  /* for decoding one block */
    struct step_row_reader *rows; /* created on first use */
};

/* A slot's values, one for each record that has the slot, `step` apart; 0: all are equal. */
struct step_slot_cursor {
    const uint64_t *next;
    size_t step;
    const uint64_t *first; /* NULL: the slot's field was not requested */
};

struct step_block_type {
    uint32_t record;
    bool wanted;
    uint64_t count;
    size_t slot_count;
    struct step_slot_cursor **slots; /* of a wanted type: one for each slot; of others: those to
                                        advance */
};

struct step_block {
    struct step_arena arena;
    const struct step_definition *definition;
    uint16_t *types; /* NULL: all records are of the first type */
    uint64_t record_count;
    uint64_t at;
    struct step_block_type *block_types;
    size_t type_count;
    uint64_t *slots; /* of the last record returned */
};

/* Takes the next records of the block as a run: at most `most` (not 0) of the type `record`, all
 * with a value below `before` in the slot `time_slot`.  Returns their number. */
struct step_records_run;
size_t step_block_run(struct step_block *block, uint32_t record, size_t time_slot, uint64_t before,
                      size_t most, struct step_records_run *run);

/* A payload in memory with a valid checksum, and its position in the file. */
struct step_payload {
    const struct step_block_header *header;
    const uint8_t *bytes;
    uint64_t offset;
    const char *file;
};

/* ABSENT: the block lacks the column.  LISTED: its bytes are known.  UNDER_WAY: it is being
 * decoded, so a column that needs it now needs itself.  DECODED: its values are in `series`. */
enum step_column_state {
    STEP_COLUMN_ABSENT,
    STEP_COLUMN_LISTED,
    STEP_COLUMN_UNDER_WAY,
    STEP_COLUMN_DECODED
};

/* A column of the plan in the current block. */
struct step_decoding_column {
    enum step_column_state state;
    struct step_coding coding;
    const uint8_t *stored;
    uint64_t count;                   /* number of its values */
    struct step_slot_cursor *cursors; /* of the slots that the column, or its node, makes */
    bool unsupported;                 /* the column, or one below its node, cannot be decoded */
};

struct step_decoding {
    struct step_block_reader *reader;
    const struct step_plan *plan;
    const struct step_payload *payload;
    const uint8_t *wanted;
    const uint8_t *const *fields;     /* by record, a byte for each field; NULL: all fields */
    struct step_slot_cursor *nothing; /* used for slots of fields that are not decoded */
    struct step_block *block;
    struct step_decoding_column *columns; /* by number in the plan */
    struct step_series *series;           /* by number in the plan, those decoded */
    uint32_t *records;                    /* by local type */
    unsigned depth;                       /* columns being decoded recursively */
    struct step_coding types;
    const uint8_t *types_stored;
    struct step_error *error;
};

/* Fills decoding->error and returns `status`; `at`, a position in the payload, gives the offset. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum step_status
step_decoding_fail(const struct step_decoding *decoding, enum step_status status, const uint8_t *at,
                   const char *format, ...);
/* Returns UNSUPPORTED with a message that names `what` ("java.ObjectAlloc.size") and its unknown
 * coding. */
enum step_status step_decoding_unknown(const struct step_decoding *decoding, const char *what,
                                       const struct step_coding *coding, const uint8_t *at);
enum step_status step_decoding_no_memory(const struct step_decoding *decoding);
/* Writes the field's name for messages ("java.ObjectAlloc.size"). */
void step_decoding_name(const struct step_decoding *decoding, uint32_t index, char *out,
                        size_t room);

/* Return storage that lives as long as the decoded block, and until the block is decoded.  On
 * failure return NULL and set `*status`. */
void *step_decoding_take(struct step_decoding *decoding, uint64_t count, size_t size,
                         enum step_status *status);
void *step_decoding_borrow(struct step_decoding *decoding, uint64_t count, size_t size,
                           enum step_status *status);

/* Returns whether the section's decompressed bytes fit into the block's limit.  Sets `*status` if
 * not. */
bool step_decoding_has_room(struct step_decoding *decoding, const struct step_coding *coding,
                            enum step_status *status);

/* Appends the decompressed bytes after a block's summary (layouts BYTES and ROWS) to `out`, at most
 * `most`. */
enum step_status step_block_expand(struct step_block_reader *reader,
                                   const struct step_payload *payload, uint64_t most,
                                   struct step_buffer *out, struct step_error *error);

#endif
