/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns ids to pairs of a number and a text: 1, 2, 3... in order of first appearance. */
#ifndef CONVERTER_BASE_NAME_INDEX_H
#define CONVERTER_BASE_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/hash_index.h"
#include "steptrace/value.h"

struct name_index_entry {
    uint64_t number;
    struct step_bytes text; /* borrowed */
};

/* Zero-initialise for an empty index. */
struct name_index {
    struct step_index index;
    struct name_index_entry *entries; /* entry 0 is unused */
    size_t count;
    size_t capacity;
};

void name_index_reset(struct name_index *index);

/* Returns the pair's id, assigning one if it is new; 0 if out of memory.  The index borrows a
 * new text: keep it alive, or replace it with name_index_set_text() before the next call. */
uint32_t name_index_put(struct name_index *index, uint64_t number, struct step_bytes text,
                        bool *is_new);
/* Returns the pair's id, or 0 if it has none. */
uint32_t name_index_find(const struct name_index *index, uint64_t number, struct step_bytes text);
void name_index_set_text(struct name_index *index, uint32_t id, struct step_bytes text);

#endif
