/* SPDX-License-Identifier: Apache-2.0 */
/* Joins rotated files: see joined_files.h. */
#ifndef CONVERTER_FILES_FILE_JOINING_H
#define CONVERTER_FILES_FILE_JOINING_H

#include <stdbool.h>

#include "converter/containers/name_index.h"
#include "converter/containers/object_table.h"
#include "converter/files/joined_files.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"

/*
 * Dictionary entries of several traces as those of one: an entry that two traces have is written
 * once.  Entries of one trace that are equal, as two threads of one name, stay apart; the first of
 * them is the first one of the trace before.
 */

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

/*
 * An exact window among rotated files: a file with all objects that were allocated in it
 * (window=).  In the joined trace they are samples of an interval of one byte, which stand for
 * themselves.  What became of those that live at its end is not known: they are given up then.
 */

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

/* Joins rotated files: see joined_files.h. */

/* Writes the files as one STEP trace into an unlinked temporary file, which the caller closes.
 * `path` is what stands for them in messages.  Reports damaged files, and files that are not there
 * any more.  Returns CORRUPT, with a reason, for files that are not of one recording. */
enum step_status file_joining_run(const struct rotated_files *files, const char *path, int *spool,
                                  uint64_t *bytes, struct step_error *error);

#endif
