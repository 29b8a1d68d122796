/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions shared by the files that decode a block. */
#ifndef FORMAT_STEP_BLOCK_BLOCK_DECODE_H
#define FORMAT_STEP_BLOCK_BLOCK_DECODE_H

#include "format/step/columns/decoding.h"

/* Layout COLUMNS: reads the directory, and the types of the records. */
enum step_status step_decoding_columns(struct step_decoding *decoding);
/* Fills series[index] with the column's values, unless done before.  After UNSUPPORTED the rest of
 * the block is usable. */
enum step_status step_decoding_decode(struct step_decoding *decoding, uint32_t index);

/* Adds a node's values to the counts of its columns; those inside an array follow when the array's
 * lengths are known. */
void step_decoding_count(struct step_decoding *decoding, const struct step_plan_node *node,
                         uint64_t count);
/* For a TREE: attaches the `total` values of its list to those that contain them, and writes the
 * slots of the first `count` like step_decoding_slots(). */
enum step_status step_decoding_link(struct step_decoding *decoding,
                                    const struct step_plan_node *node, const uint64_t *list,
                                    uint64_t total, uint64_t count, uint64_t *out, size_t stride);
/* Makes the cursors of a node's slots, and appends them at `*slots`, which advances. */
enum step_status step_decoding_slots(struct step_decoding *decoding,
                                     const struct step_plan_node *node,
                                     struct step_slot_cursor ***slots);
/* Does so for a skipped type, with the cursors that other types share. */
void step_decoding_moved(struct step_decoding *decoding, const struct step_plan_node *node,
                         struct step_slot_cursor ***slots);

#endif
