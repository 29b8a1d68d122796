/* SPDX-License-Identifier: Apache-2.0 */
/* A block that is being decoded: what the files that do so share. */
#ifndef FORMAT_STEP_BLOCK_BLOCK_DECODE_H
#define FORMAT_STEP_BLOCK_BLOCK_DECODE_H

#include "format/step/columns/decoding.h"

/* Layout COLUMNS: reads the directory, and the types of the records. */
enum step_status step_decoding_columns(struct step_decoding *decoding);
/* Fills series[index] with the column's values, if it is not yet.  UNSUPPORTED leaves the rest of
 * the block usable. */
enum step_status step_decoding_decode(struct step_decoding *decoding, uint32_t index);

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
