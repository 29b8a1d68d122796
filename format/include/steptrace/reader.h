/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader for STEP traces (STEP paper, figure 3b and section 3).
 *
 * A reader opens a file, finds its blocks (by the index at the end, or, if the writer did not write
 * one, by walking the block headers), and returns the blocks one by one with the records inside
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

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct step_reader;
struct step_block;

/* The number of records of one type. */
struct step_record_count {
    uint32_t record;
    uint64_t count;
};

/* Smallest and largest value of a field in a block, from the index.  `record` is the record of the
 * definition that declares the field, or that changed its attributes. */
struct step_field_range {
    uint32_t record;
    uint32_t field; /* index among the record's fields */
    uint64_t least;
    uint64_t most;
};

/* Properties of a data block that are known without decoding it. */
struct step_block_info {
    uint64_t offset;       /* of the block header in the file */
    uint64_t stored_bytes; /* header included */
    uint64_t stream;
    uint64_t first_record; /* number of its first record within the stream, 0-based */
    uint64_t record_count;
    uint64_t time_min; /* of the field with property "time", in the trace's ticks; 0 if none */
    uint64_t time_max;
    uint64_t thread_min; /* of the field with property "thread"; 0 if none */
    uint64_t thread_max;
    const struct step_record_count *counts; /* one for each type in the block, ascending;
                                               borrowed */
    size_t type_count;
    const struct step_field_range *ranges; /* fields of unsigned numbers close to their
                                              predecessors, as ids are (docs/formats/step.md);
                                              borrowed */
    size_t range_count;                    /* 0 if an older or a cut file does not have them */
};

struct step_damage {
    uint64_t offset;   /* of the first byte that could not be read */
    uint64_t length;   /* bytes skipped */
    char message[160]; /* what was wrong */
};

/* One record of a block.  `slots` has the layout of value.h and lives until the next call for that
 * block. */
struct step_record_view {
    uint32_t record; /* index in the file's definition */
    const uint64_t *slots;
};

/* Opens a file.  If `path` has no footer, and `path`.live exists and is not held by a process, the
 * records that the traced process left there are read as further blocks (steptrace/live.h).
 * Returns FORMAT for a different kind of file, CORRUPT if not even the definition can be read. */
enum step_status step_reader_open(const char *path, struct step_reader **out,
                                  struct step_error *error);
/* Opens a file, with a fallback definition in STEP-DL (without includes; `data` NULL: none).  It is
 * used if the file lost its definition and its copy, and that is reported as damage.  It must
 * define the same records in the same order; otherwise blocks appear damaged or are misread. */
enum step_status step_reader_open_defined(const char *path, struct step_bytes definition,
                                          struct step_reader **out, struct step_error *error);
/* Opens a trace in memory.  The bytes are borrowed for the reader's life. */
enum step_status step_reader_open_memory(const void *data, size_t length, const char *name,
                                         struct step_reader **out, struct step_error *error);
void step_reader_destroy(struct step_reader *reader);

/* A source of bytes for traces that are neither in a file nor in memory.  `read` must read all
 * `length` bytes at `offset`, which are within `size_bytes`, or fail. */
struct step_input {
    void *user;
    uint64_t size_bytes;
    enum step_status (*read)(void *user, uint64_t offset, void *data, size_t length,
                             struct step_error *error);
};
/* Opens a trace from `input`, which is copied.  `name` identifies it in messages. */
enum step_status step_reader_open_input(const struct step_input *input, const char *name,
                                        struct step_reader **out, struct step_error *error);

/* Reads what was written to a running trace since it was opened, or since the last refresh; no
 * bytes are read twice.  New blocks come after the existing ones, dictionaries grow, and results of
 * step_reader_block_info() become invalid.  Sets `*running` to whether the process still writes.
 * If it does not, the trace has everything that its file will ever have; if it is not whole then,
 * open it again to read the live file.  Any other reader: returns OK, and `*running` is false. */
enum step_status step_reader_refresh(struct step_reader *reader, bool *running,
                                     struct step_error *error);

const struct step_definition *step_reader_borrow_definition(const struct step_reader *reader);

/* Return the value of a provenance property, or NULL; and all properties by index. */
const char *step_reader_property(const struct step_reader *reader, const char *key);
size_t step_reader_property_count(const struct step_reader *reader);
const char *step_reader_property_key(const struct step_reader *reader, size_t i);
const char *step_reader_property_value(const struct step_reader *reader, size_t i);

/* Returns true if the writer closed the file (footer and index exist and agree with the blocks), or
 * if it left the rest in the live file and that was read. */
bool step_reader_is_whole(const struct step_reader *reader);
/* Returns true if the process of the trace was still writing when it was opened.  Streams then end
 * at different times, and missing records are not damage. */
bool step_reader_is_running(const struct step_reader *reader);
/* Returns the number of records that came from a live file. */
uint64_t step_reader_recovered_count(const struct step_reader *reader);
uint64_t step_reader_file_size(const struct step_reader *reader);

/* Return the number of data blocks, and each one's properties.  Blocks are in file order; those of
 * one stream are in the stream's order. */
size_t step_reader_block_count(const struct step_reader *reader);
const struct step_block_info *step_reader_block_info(const struct step_reader *reader, size_t i);

/* Fills `numbers` with the indices of all blocks, grouped by stream: streams ascending, blocks in
 * the stream's order.  NO_MEMORY. */
enum step_status step_reader_sort_blocks(const struct step_reader *reader, size_t *numbers);

/* Returns the file's name as used in messages. */
const char *step_reader_borrow_name(const struct step_reader *reader);

/* Return the damage that was found and skipped so far.  Opening finds broken headers, loading
 * broken contents. */
size_t step_reader_damage_count(const struct step_reader *reader);
const struct step_damage *step_reader_damage(const struct step_reader *reader, size_t i);

/* Return the number of entries in the dictionary of a record type, and the slots of entry `id`
 * (1..count), or NULL if the entry is missing or damaged.  The slots live as long as the reader. */
uint64_t step_reader_dictionary_count(const struct step_reader *reader, uint32_t record);
const uint64_t *step_reader_dictionary_entry(const struct step_reader *reader, uint32_t record,
                                             uint64_t id);
/* Returns the first existing entry after `id`, or 0.  Iterate with this function: ids in a damaged
 * file may have gaps of any size. */
uint64_t step_reader_dictionary_next(const struct step_reader *reader, uint32_t record,
                                     uint64_t id);

/* Loads and checks a data block.  `wanted`, if not NULL, has a byte for each record of the
 * definition: columns that only unwanted records use are not decoded, and step_block_next() skips
 * those records.  A damaged block returns CORRUPT and is recorded as damage; the reader stays
 * usable.  `*block` may point to a block loaded before, whose storage is then reused. */
enum step_status step_reader_load(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error);

/* Loads a block with a selection of fields.  `fields` has for each record of the definition NULL
 * (not wanted) or one byte for each of its fields, in the record's order, nonzero if wanted.
 * Columns without a wanted field are not decoded; slots of unwanted fields are 0. */
enum step_status step_reader_load_fields(struct step_reader *reader, size_t i,
                                         const uint8_t *const *fields, struct step_block **block,
                                         struct step_error *error);

/* A column of a block.  The value of row i, a slot of value.h, is values[i * step]. */
struct step_column_view {
    const uint64_t *values;
    size_t step;             /* 1, or 0 if all rows have the same value */
    size_t count;            /* rows */
    const uint8_t *validity; /* bit i % 8 of byte i / 8 is 1 if row i has the field; NULL: all have
                                it.  Where it is 0 the value is 0. */
};
/* Returns a field of a block as a column.  The rows are the wanted records that are or extend
 * `record`, in their order; their number is the same for each column.  `slot` belongs to the record
 * type `owner`, which is or extends `record`; rows that are not an `owner` have no value.  The
 * values live until the next load into the block, have the type of the field's definition, and are
 * borrowed from the block if all its records have one type.  INVALID: unknown record or slot, a
 * field that was not wanted, or `owner` does not extend `record`; also LIMIT and NO_MEMORY.
 * step_block_next() may be called before and after. */
enum step_status step_block_column(struct step_block *block, uint32_t record, uint32_t owner,
                                   size_t slot, struct step_column_view *view,
                                   struct step_error *error);
/* Returns the record types of the same rows, as indices in the definition. */
enum step_status step_block_types(struct step_block *block, uint32_t record,
                                  struct step_column_view *view, struct step_error *error);

/* Returns the next wanted record of the block, or END. */
enum step_status step_block_next(struct step_block *block, struct step_record_view *view);
/* Returns the bytes of memory that the decoded block uses. */
size_t step_block_memory(const struct step_block *block);
void step_block_destroy(struct step_block *block);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
