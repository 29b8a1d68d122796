/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exact window among rotated files: a file with all objects that were allocated in it
 * (window=).  In the joined trace they are samples of an interval of one byte, which stand for
 * themselves.  What became of those that live at its end is not known: they are given up then.
 */
#ifndef CONVERTER_BASE_JOINED_WINDOW_H
#define CONVERTER_BASE_JOINED_WINDOW_H

#include <stdbool.h>

#include "converter/base/object_table.h"
#include "steptrace/writer.h"

struct joined_window {
    const struct step_definition *definition; /* borrowed */
    struct step_writer *writer;               /* borrowed */
    /* record types */
    uint32_t alloc, alloc_at, existing, sampled, given_up, object_free;
    uint64_t *slots;
    struct object_table living;
    uint64_t threshold; /* of the samples before it */
    uint64_t survivors; /* of all windows */
    uint64_t count;     /* windows */
    bool is_open;
};

/* Returns false if memory runs out; reset is allowed then. */
bool joined_window_init(struct joined_window *window, const struct step_definition *definition,
                        struct step_writer *writer);
void joined_window_reset(struct joined_window *window);
/* Returns true if the definition has the records that windows need. */
bool joined_window_fits(const struct step_definition *definition);

enum step_status joined_window_begin(struct joined_window *window, uint64_t ticks);
enum step_status joined_window_end(struct joined_window *window, uint64_t ticks);
/* Puts a record of a file, changed as it must be: within a window, only what belongs to objects,
 * classes and threads. */
enum step_status joined_window_put(struct joined_window *window, uint64_t stream, uint32_t record,
                                   const uint64_t *slots);

#endif
