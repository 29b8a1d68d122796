/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dictionary entries of several traces as those of one: an entry that two traces have is written
 * once.  Entries of one trace that are equal, as two threads of one name, stay apart; the first of
 * them is the first one of the trace before.
 */
#ifndef CONVERTER_BASE_JOINED_ENTRIES_H
#define CONVERTER_BASE_JOINED_ENTRIES_H

#include <stdbool.h>

#include "converter/base/name_index.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"

struct joined_entries {
    const struct step_definition *definition; /* borrowed */
    struct step_writer *writer;               /* borrowed */
    struct joined_type *types;                /* by record */
    struct name_index index;                  /* by record and contents: first of the equal ones */
    struct joined_chain *chains;              /* by that */
    size_t chain_capacity;
    uint32_t trace; /* 1 for the first */
    uint64_t *slots;
    uint8_t *key;
    size_t key_length, key_capacity;
};

/* All traces have this definition.  Returns false if out of memory; reset is allowed then. */
bool joined_entries_init(struct joined_entries *entries, const struct step_definition *definition,
                         struct step_writer *writer);
void joined_entries_reset(struct joined_entries *entries);
/* Takes the dictionaries of the next trace. */
enum step_status joined_entries_next(struct joined_entries *entries,
                                     const struct step_reader *reader);
/* Copies a record of that trace, with the ids of the joined one.  The result is valid until the
 * next call of any function. */
uint64_t *joined_entries_record(struct joined_entries *entries, uint32_t record,
                                const uint64_t *slots);
/* Returns true if a trace before this one has the entry. */
bool joined_entries_was_known(const struct joined_entries *entries, uint32_t record, uint64_t id);
/* The entry does not go on: equal ones of later traces are others. */
void joined_entries_end(struct joined_entries *entries, uint32_t record, uint64_t id);

#endif
