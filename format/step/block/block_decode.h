/* SPDX-License-Identifier: Apache-2.0 */
/* A block that is being decoded: what the files that do so share. */
#ifndef STEP_STEP_BLOCK_DECODE_H
#define STEP_STEP_BLOCK_DECODE_H

#include "format/step/block/block_read.h"

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
    uint64_t count;                  /* values that it must have */
    struct step_slot_cursor *cursor; /* of the slots that it, or the node at it, makes */
    bool unsupported;                /* it, or something below the node at it, cannot be decoded */
};

struct step_decoding {
    struct step_block_reader *reader;
    const struct step_plan *plan;
    const struct step_payload *payload;
    const uint8_t *wanted;
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

/* Layout COLUMNS: reads the directory, and the types of the records. */
enum step_status step_decoding_directory(struct step_decoding *decoding);
enum step_status step_decoding_types(struct step_decoding *decoding);
/* Fills series[index] with the column's values, if it is not yet.  UNSUPPORTED leaves the rest of
 * the block usable. */
enum step_status step_decoding_decode(struct step_decoding *decoding, uint32_t index);

/* Layout ROWS: the types of the records, and all columns. */
enum step_status step_decoding_rows(struct step_decoding *decoding);

/* Adds to the columns of a node the values that they must have; those inside an array get theirs
 * when the array's lengths are known. */
void step_decoding_count(struct step_decoding *decoding, const struct step_plan_node *node,
                         uint64_t count);
/* Of a TREE: hangs the values of its list, `total` of them, below those that hold them, and writes
 * the slots of the `count` first ones as step_decoding_slots() does. */
enum step_status step_decoding_link(struct step_decoding *decoding,
                                    const struct step_plan_node *node, const uint64_t *list,
                                    uint64_t total, uint64_t count, uint64_t *out, size_t stride);
/* Makes the cursors of a node's slots, and lists them at `*slots`, which moves on. */
enum step_status step_decoding_slots(struct step_decoding *decoding,
                                     const struct step_plan_node *node,
                                     struct step_slot_cursor ***slots);
/* The same of a type that is passed over: those that other types made. */
void step_decoding_moved(struct step_decoding *decoding, const struct step_plan_node *node,
                         struct step_slot_cursor ***slots);

#endif
