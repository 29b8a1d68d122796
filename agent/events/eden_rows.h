/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of one walk of eden, by class: how large each is, how many there are, and the number
 * of their class in the trace. Called while the program stands still. */
#ifndef AGENT_EVENTS_EDEN_ROWS_H
#define AGENT_EVENTS_EDEN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/tracer.h"
#include "agent/hotspot/eden_layout.h"
#include "agent/hotspot/headers.h"
#include "format/core/hash.h"

struct eden_row {
    uint64_t word; /* of the class, in headers */
    uint64_t walk; /* the last one that met it; 0: the row is free */
    uintptr_t class;
    enum eden_row_kind { ROW_FIXED, ROW_ARRAY, ROW_MIRROR, ROW_CHUNK } kind;
    enum eden_row_fills { ROW_OF_PROGRAM, ROW_FILLER, ROW_PERHAPS_FILLER } fills;
    uint8_t element_shift, elements_at;
    uint32_t survived;    /* of eden_survived.h; 0: nothing has */
    uint64_t fixed_bytes; /* without what is variable */
    uint64_t objects, bytes;
};

/* All rows: a table by the words' hashes. */
struct eden_rows {
    struct eden_row *at;
    uint64_t room; /* a power of two */
    uint64_t count, walk;
};
extern struct eden_rows eden_rows;

/* Begins a session: no class has a number yet. */
void eden_rows_begin(void);
/* Begins a walk: all rows are empty. Returns false if out of memory. */
bool eden_rows_clear(void);
/* Returns the row of a class by its word in a header, at its first meeting with what the JVM says
 * of the class; NULL: that is no class, or out of memory. Rows move. */
struct eden_row *eden_row_of(uint64_t word);
/* Calls `visit` for each row that this walk has met. */
void eden_rows_each(void (*visit)(void *user, struct eden_row *row), void *user);
/* Returns the number of the row's class in the session, which a class of arrays gets here; 0: it
 * has none. */
uint64_t eden_row_class(struct session *session, const struct eden_row *row);

/* The same without a call, if this walk has met the class, and its row is where it is looked for
 * first; else NULL. */
static inline struct eden_row *eden_row_met(uint64_t word)
{
    struct eden_row *row = &eden_rows.at[step_hash(word) & (eden_rows.room - 1)];
    return row->word == word && row->walk == eden_rows.walk ? row : NULL;
}

/* Returns the size of an object with this row; 0: unknown. */
static inline uint64_t eden_object_bytes(const struct eden_row *row, uintptr_t object)
{
    uint64_t bytes = row->fixed_bytes, words;
    if (row->kind == ROW_FIXED)
        return bytes;
    if (row->kind == ROW_ARRAY) {
        bytes = row->elements_at + ((uint64_t) header_array_length(object) << row->element_shift);
    } else if (row->kind == ROW_MIRROR) {
        uint32_t own;
        memcpy(&own, (const void *) (object + eden_layout.mirror_words), sizeof own);
        bytes = own * (uint64_t) sizeof(uint64_t);
    } else {
        uint32_t stack;
        memcpy(&stack, (const void *) (object + eden_layout.chunk_words), sizeof stack);
        /* behind the stack, a bit for each reference that could be in it */
        words = stack + (((uint64_t) stack << (3 - header_layout.references_shift)) + 63) / 64;
        bytes += words * sizeof(uint64_t);
    }
    return (bytes + header_layout.alignment - 1) & ~(uint64_t) (header_layout.alignment - 1);
}

#endif
