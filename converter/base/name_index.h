/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, from 1 in order of appearance, for pairs of a number and a text. */
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

/* Zero-initialised is empty. */
struct name_index {
    struct step_index index;
    struct name_index_entry *entries; /* the first is not used */
    size_t count;
    size_t capacity;
};

void name_index_reset(struct name_index *index);

/* The pair's number; where it is new the text must live on, or be replaced by name_index_set_text()
 * before the next call.  0: out of memory. */
uint32_t name_index_put(struct name_index *index, uint64_t number, struct step_bytes text,
                        bool *is_new);
/* The pair's number, 0 if it has none. */
uint32_t name_index_find(const struct name_index *index, uint64_t number, struct step_bytes text);
void name_index_set_text(struct name_index *index, uint32_t id, struct step_bytes text);

#endif
