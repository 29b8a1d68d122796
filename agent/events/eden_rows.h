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
    uint8_t element_shift;
    uint32_t length_mask; /* all bits of an array's length, none where there is no length */
    uint32_t survived;    /* of eden_survived.h; 0: nothing has */
    uint64_t fixed_bytes; /* without what is variable: of an array, where its elements begin */
    uint64_t objects, bytes;
};

#define EDEN_HEADER_MOST 24u /* bytes to the end of an array's length, rounded up */

/* All rows: a table by the words' hashes. */
struct eden_rows {
    struct eden_row *at;
    uint64_t room;  /* a power of two */
    unsigned shift; /* of a hash to a place: 64 less the room's logarithm */
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

/* The words of classes are multiples of powers of two: of their hashes only the upper bits differ.
 */
static inline uint64_t eden_row_place(uint64_t word)
{
    return step_hash(word) >> eden_rows.shift;
}

/* As objects are aligned. */
static inline uint64_t eden_rounded(uint64_t bytes)
{
    return (bytes + header_layout.alignment - 1) & ~(uint64_t) (header_layout.alignment - 1);
}

/* The same without a call, if this walk has met the class, and its row is where it is looked for
 * first; else NULL. */
static inline struct eden_row *eden_row_met(uint64_t word)
{
    struct eden_row *row = &eden_rows.at[eden_row_place(word)];
    return __builtin_expect(row->word == word && row->walk == eden_rows.walk, 1) ? row : NULL;
}

/* The size of an object whose class does not say it. */
uint64_t eden_variable_bytes(const struct eden_row *row, uintptr_t object);

/* Returns the size of an object with this row, which begins `room` bytes before the end of what can
 * be read; 0: unknown.
 *
 * Instances and arrays follow each other as they happen to, so a branch for them would be guessed
 * wrong all the time: of an instance a length is read as well, wherever there is room, and masked.
 */
static inline uint64_t eden_object_bytes(const struct eden_row *row, uintptr_t object,
                                         uint64_t room)
{
    if (__builtin_expect(row->kind != ROW_FIXED && row->kind != ROW_ARRAY, 0))
        return eden_variable_bytes(row, object);
    uint32_t length = 0;
    if (__builtin_expect(room >= EDEN_HEADER_MOST, 1) || row->kind == ROW_ARRAY)
        length = header_array_length(object) & row->length_mask;
    return eden_rounded(row->fixed_bytes + ((uint64_t) length << row->element_shift));
}

/* Returns the row of the object at `at` and sets its size. Returns NULL if there is none, or if it
 * ends beyond `to`. */
static inline struct eden_row *eden_row_at(uintptr_t at, uintptr_t to, uint64_t *bytes)
{
    uint64_t room = to - at;
    if (__builtin_expect(room < header_class_end(), 0))
        return NULL;
    uint64_t word = header_class_word(at);
    struct eden_row *row = eden_row_met(word);
    if (row == NULL && (row = eden_row_of(word)) == NULL)
        return NULL;
    *bytes = eden_object_bytes(row, at, room);
    return __builtin_expect(*bytes != 0 && *bytes <= room, 1) ? row : NULL;
}

#endif
