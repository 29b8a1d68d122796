/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a STEP trace (STEP paper, figure 3b and section 3).
 *
 * A reader opens a file, finds its blocks (by the index at the end, or, where the writer did not
 * get to write one, by walking the block headers), and gives blocks one by one and records inside
 * them.  It never trusts the file: every length, offset and identifier is checked before use.
 * Damaged blocks are reported through step_reader_damage() and skipped; the rest is read.
 *
 * A reader and its blocks are used by one thread at a time; several readers may read one file.
 */
#ifndef STEPTRACE_READER_H
#define STEPTRACE_READER_H

#include <stdbool.h>

#include "steptrace/definition.h"
#include "steptrace/status.h"
#include "steptrace/value.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct step_reader;
struct step_block;

/* How many records of a type there are. */
struct step_record_count {
    uint32_t record;
    uint64_t count;
};

/* What the index knows of a field in a block: of all records that have it, as the definition's
 * record `record` declares it or changed its attributes. */
struct step_field_range {
    uint32_t record;
    uint32_t field; /* among the record's */
    uint64_t least;
    uint64_t most;
};

/* What is known of a data block without decoding it. */
struct step_block_info {
    uint64_t offset;       /* of the block header in the file */
    uint64_t stored_bytes; /* header included */
    uint64_t stream;
    uint64_t first_record; /* number of its first record within the stream, from 0 */
    uint64_t record_count;
    uint64_t time_min; /* of the field with property "time", in the trace's ticks; 0 if none */
    uint64_t time_max;
    uint64_t thread_min; /* of the field with property "thread"; 0 if none */
    uint64_t thread_max;
    const struct step_record_count *counts; /* of the types that it has, ascending; borrowed */
    size_t type_count;
    const struct step_field_range *ranges; /* of unsigned numbers that go with those before them
                                              (docs/formats/step.md), as ids do; borrowed */
    size_t range_count; /* 0 where the file, an older or a cut one, does not tell */
};

struct step_damage {
    uint64_t offset;   /* of the first byte that could not be read */
    uint64_t length;   /* bytes skipped */
    char message[160]; /* what was wrong */
};

/* One record of a block.  `slots` follows value.h and lives until the next call for that block. */
struct step_record_view {
    uint32_t record; /* index in the file's definition */
    const uint64_t *slots;
};

/* Opens a file.  Where `path` has no footer and `path`.live exists and no process holds it, what
 * the traced process left there is read too (steptrace/live.h), as further blocks.
 * Returns FORMAT for a file of another kind, CORRUPT where not even the definition can be read. */
enum step_status step_reader_open(const char *path, struct step_reader **out,
                                  struct step_error *error);
/* The same with a text of STEP-DL (without includes; `data` NULL: none), which stands in where the
 * file has lost its definition and the copy of that; then damage is noted.  It must define the same
 * records in the same order: with another the blocks are damaged, or mean something else. */
enum step_status step_reader_open_defined(const char *path, struct step_bytes definition,
                                          struct step_reader **out, struct step_error *error);
/* The same for bytes in memory; they are borrowed for the reader's life. */
enum step_status step_reader_open_memory(const void *data, size_t length, const char *name,
                                         struct step_reader **out, struct step_error *error);
void step_reader_destroy(struct step_reader *reader);

/* Where bytes come from that are neither a file nor in memory.  `read` must give all `length` bytes
 * at `offset`, which are within `size_bytes`, or fail. */
struct step_input {
    void *user;
    uint64_t size_bytes;
    enum step_status (*read)(void *user, uint64_t offset, void *data, size_t length,
                             struct step_error *error);
};
/* The same for such an input, which is copied; `name` stands for it in messages. */
enum step_status step_reader_open_input(const struct step_input *input, const char *name,
                                        struct step_reader **out, struct step_error *error);

/* For a trace that its process still writes: takes what was written since it was opened, or since
 * this was called before, without reading anything twice.  Further blocks come after those that
 * were there, dictionaries grow; what step_reader_block_info() gave before is no longer good.
 * `*running`: the process writes on.  Where it does no more, the trace has all that its file will
 * ever have; if it is not whole then, open it anew for what lies in the live file.  Of any other
 * reader: OK, and not running. */
enum step_status step_reader_refresh(struct step_reader *reader, bool *running,
                                     struct step_error *error);

const struct step_definition *step_reader_borrow_definition(const struct step_reader *reader);

/* The provenance value of a key, or NULL; and all of them by number. */
const char *step_reader_property(const struct step_reader *reader, const char *key);
size_t step_reader_property_count(const struct step_reader *reader);
const char *step_reader_property_key(const struct step_reader *reader, size_t i);
const char *step_reader_property_value(const struct step_reader *reader, size_t i);

/* True if the writer closed the file: footer and index are there and agree with the blocks; or if
 * it left the rest in the live file beside it, and that was read. */
bool step_reader_is_whole(const struct step_reader *reader);
/* True if the trace's process still ran and wrote when it was opened: each stream is there as far
 * as it had reached the file, some farther than others, and what was to come is no damage. */
bool step_reader_is_running(const struct step_reader *reader);
/* How many records came from a live mapping. */
uint64_t step_reader_recovered_count(const struct step_reader *reader);
uint64_t step_reader_file_size(const struct step_reader *reader);

/* Data blocks in file order (blocks of one stream are in the stream's order). */
size_t step_reader_block_count(const struct step_reader *reader);
const struct step_block_info *step_reader_block_info(const struct step_reader *reader, size_t i);

/* Puts the numbers of all blocks into `numbers`, those of a stream together and in their order,
 * streams in order of their numbers.  NO_MEMORY. */
enum step_status step_reader_sort_blocks(const struct step_reader *reader, size_t *numbers);

/* The file's name, as messages have it. */
const char *step_reader_borrow_name(const struct step_reader *reader);

/* What was damaged and skipped so far: opening finds broken headers, loading broken contents. */
size_t step_reader_damage_count(const struct step_reader *reader);
const struct step_damage *step_reader_damage(const struct step_reader *reader, size_t i);

/* Dictionaries: number of entries of a record type, and the slots of entry `id` (1..count), or NULL
 * where the entry is missing or damaged.  The slots live as long as the reader. */
uint64_t step_reader_dictionary_count(const struct step_reader *reader, uint32_t record);
const uint64_t *step_reader_dictionary_entry(const struct step_reader *reader, uint32_t record,
                                             uint64_t id);
/* The first entry after `id` that is there, or 0: in a damaged file the numbers may have any gaps,
 * and whoever goes over all entries goes by this. */
uint64_t step_reader_dictionary_next(const struct step_reader *reader, uint32_t record,
                                     uint64_t id);

/* Loads and checks a data block.  `wanted`, when not NULL, has a byte for each record of the
 * definition: columns that only unwanted records use are not decoded, and step_block_next() passes
 * over those records.  A damaged block gives CORRUPT, is noted as damage, and the reader goes on
 * to work.  `*block` may point to a block loaded before, whose storage is then reused. */
enum step_status step_reader_load(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error);

/* The same, with a choice of fields: for each record of the definition NULL (it is not wanted), or
 * a byte for each of its fields, in the record's order, that tells whether it is.  Columns that
 * nobody wants are not decoded; slots of fields that are not wanted are 0. */
enum step_status step_reader_load_fields(struct step_reader *reader, size_t i,
                                         const uint8_t *const *fields, struct step_block **block,
                                         struct step_error *error);

/* A column of a block.  Row i's value, a slot of value.h, is values[i * step]. */
struct step_column_view {
    const uint64_t *values;
    size_t step;             /* 1; 0: the rows all have the one value that there is */
    size_t count;            /* rows */
    const uint8_t *validity; /* bit i % 8 of byte i / 8 is 1: row i has the field; NULL: all have.
                                Where it is 0 the value is 0. */
};
/* A block as columns, without going through its records.  The rows are the wanted records that are
 * `record` or extend it, in their order; their number is the same for each column.  `slot` is one
 * of the record type `owner`, which is `record` or extends it: rows that are no `owner` have no
 * value there.  The values live until the next load into the block, are of the type that the
 * field's definition says, and are borrowed from the block where its records are all of one kind.
 * INVALID where there is no such record or slot, its field was not wanted, or `owner` does not
 * extend `record`; LIMIT and NO_MEMORY. step_block_next() may be called before and after. */
enum step_status step_block_column(struct step_block *block, uint32_t record, uint32_t owner,
                                   size_t slot, struct step_column_view *view,
                                   struct step_error *error);
/* The same rows' record types, as numbers of the definition. */
enum step_status step_block_types(struct step_block *block, uint32_t record,
                                  struct step_column_view *view, struct step_error *error);

/* The next record of the block, or END. */
enum step_status step_block_next(struct step_block *block, struct step_record_view *view);
/* Bytes that the decoded block holds in memory. */
size_t step_block_memory(const struct step_block *block);
void step_block_destroy(struct step_block *block);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
