/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns ids to pairs of a number and a text: 1, 2, 3... in order of first appearance. */
#ifndef CONVERTER_CONTAINERS_NAME_INDEX_H
#define CONVERTER_CONTAINERS_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/core/arena.h"
#include "format/core/hash_index.h"
#include "steptrace/value.h"

struct name_index_entry {
    uint64_t number;
    struct step_bytes text; /* a copy */
};

/* Zero-initialise for an empty index. */
struct name_index {
    struct step_index index;
    struct name_index_entry *entries; /* entry 0 is unused */
    size_t count;
    size_t capacity;
    struct step_arena texts; /* the copies that name_index_put() makes */
};

void name_index_reset(struct name_index *index);

/* Returns the pair's id, assigning one if it is new; 0 if out of memory.  The index copies a new
 * text; the copy is NUL-terminated. */
uint32_t name_index_put(struct name_index *index, uint64_t number, struct step_bytes text,
                        bool *is_new);

/* Copies a text into storage that outlives the index.  Returns false if out of memory. */
typedef bool name_keep(void *store, struct step_bytes text, struct step_bytes *copy);
/* Like name_index_put(), but `keep` makes the copy. */
uint32_t name_index_put_kept(struct name_index *index, uint64_t number, struct step_bytes text,
                             name_keep *keep, void *store, bool *is_new);
/* Returns the pair's id, or 0 if it has none. */
uint32_t name_index_find(const struct name_index *index, uint64_t number, struct step_bytes text);

#endif
