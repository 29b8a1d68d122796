/* SPDX-License-Identifier: Apache-2.0 */
/* A block's columns into the model: births, deaths, calls. */
#ifndef CONVERTER_WATCH_WATCH_BLOCK_H
#define CONVERTER_WATCH_WATCH_BLOCK_H

#include "converter/watch/watch_model.h"
#include "converter/watch/watch_tail.h"

/* A record type that is read by columns: its number in the file, and where its fields are. */
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
    uint32_t record;              /* STEP_NO_RECORD: the file has none */
    uint32_t owner[WATCH_FIELDS]; /* STEP_NO_RECORD: there is no such field */
    size_t slots[WATCH_FIELDS];
};

struct watch_schema {
    uint8_t *wanted; /* by record */
    struct watch_columns births, deaths, calls;
    uint32_t facts; /* STEP_NO_RECORD: none */
};

/* False: out of memory. */
bool watch_schema_init(struct watch_schema *schema, const struct watch_tail *tail);
void watch_schema_reset(struct watch_schema *schema);
/* How many of the block's records are read; and of the first two kinds. */
uint64_t watch_schema_count(const struct watch_schema *schema, const struct step_block_info *info);

/* Puts a block's events into the model.  Damage is noted by the reader and passed over; other
 * errors are NO_MEMORY and IO. */
enum step_status watch_block_read(struct watch_tail *tail, const struct watch_schema *schema,
                                  size_t number, struct step_block **block,
                                  struct watch_model *model, struct step_error *error);

#endif
