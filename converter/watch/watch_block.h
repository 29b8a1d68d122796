/* SPDX-License-Identifier: Apache-2.0 */
/* Reads births, deaths and calls from the columns of a block into the model. */
#ifndef CONVERTER_WATCH_WATCH_BLOCK_H
#define CONVERTER_WATCH_WATCH_BLOCK_H

#include "converter/watch/watch_model.h"
#include "converter/watch/watch_phases.h"
#include "converter/watch/watch_tail.h"

/* A record type that is read by columns: its number in the file, and the positions of its
 * fields. */
enum watch_field {
    WATCH_TIME,
    WATCH_THREAD,
    WATCH_CLASS,
    WATCH_SIZE,
    WATCH_OBJECT,
    WATCH_STACK,
    WATCH_METHOD,
    WATCH_FIELDS
};

struct watch_columns {
    uint32_t record;              /* STEP_NO_RECORD: not in the file */
    uint32_t owner[WATCH_FIELDS]; /* STEP_NO_RECORD: no such field */
    size_t slots[WATCH_FIELDS];
};

struct watch_schema {
    uint8_t *wanted; /* by record */
    struct watch_columns births, deaths, calls;
    uint32_t facts;    /* record type of facts; STEP_NO_RECORD: none */
    uint32_t given_up; /* the same, of a sampled trace: of objects that were given up */
};

/* `phases`: also reads the records of phases.  Returns false if memory runs out. */
bool watch_schema_init(struct watch_schema *schema, const struct watch_tail *tail, bool phases);
void watch_schema_reset(struct watch_schema *schema);
/* Returns the number of the block's records that are read. */
uint64_t watch_schema_count(const struct watch_schema *schema, const struct step_block_info *info);

/* Adds a block's events to the model.  `phases` is NULL if records need not be in order: none are
 * selected, and the trace has all objects.  The reader notes
 * damage and skips it; other errors are NO_MEMORY and IO. */
enum step_status watch_block_read(struct watch_tail *tail, const struct watch_schema *schema,
                                  size_t number, struct step_block **block,
                                  struct watch_model *model, struct watch_phases *phases,
                                  struct step_error *error);

#endif
