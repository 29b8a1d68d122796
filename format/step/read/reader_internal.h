/* SPDX-License-Identifier: Apache-2.0 */
/* State and functions shared by the parts of a reader. */
#ifndef FORMAT_STEP_READ_READER_INTERNAL_H
#define FORMAT_STEP_READ_READER_INTERNAL_H

#include "format/io/byte_source.h"
#include "format/step/block/block_read.h"

/* A data block. */
struct step_block_entry {
    struct step_block_info info;
    struct step_block_header header;
    const struct step_byte_source *source;
    uint64_t offset; /* in the source */
    bool damage_noted;
};

/* Entries of one record type, with consecutive identifiers: first + 1 to first + count.  The reader
 * has checked that count is not 0, and that the sum does not wrap. */
struct step_dictionary_part {
    uint64_t first; /* identifier of the first entry, less 1 */
    uint64_t count;
    uint64_t *slots;          /* of all entries, consecutively */
    struct step_block *block; /* owner of what they point to */
};

struct step_dictionary {
    struct step_dictionary_part *parts; /* in order of identifiers, not overlapping */
    size_t part_count;
    size_t part_capacity;
    uint64_t entry_count;   /* of all parts */
    const uint64_t **table; /* by identifier less 1; NULL if it would be mostly empty */
    uint64_t table_end;     /* its length */
};

struct step_reader {
    char *name;
    struct step_byte_source file;
    struct step_byte_source live; /* blocks made from a live file */
    struct step_buffer live_bytes;
    struct step_bytes given; /* fallback definition, while opening */
    struct step_definition *definition;
    struct step_plan *plan;
    struct step_block_reader blocks;
    struct step_block_entry *entries;
    size_t entry_count;
    size_t entry_capacity;
    struct step_arena counts; /* of info.counts */
    struct step_damage *damage;
    size_t damage_count;
    size_t damage_capacity;
    char **properties; /* key, value, key, value, ... */
    size_t property_count;
    struct step_dictionary *dictionaries; /* by record */
    uint64_t dictionary_memory;
    uint64_t dictionary_gaps; /* ids without an entry, below the last entries */
    uint64_t walked_bytes;    /* of the file, up to which blocks were found by walking */
    bool whole;
    bool completed; /* incomplete, but completed by the live file */
    bool running;   /* its process is still writing */
    uint64_t recovered;
    struct step_buffer head;    /* of the block being examined */
    struct step_buffer payload; /* of the block being loaded */
    struct step_buffer bytes;   /* content of a block of bytes */
};

/* Notes damage; the text may be truncated. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum step_status
step_reader_note(struct step_reader *reader, uint64_t offset, uint64_t length, const char *format,
                 ...);

enum step_status step_reader_no_memory(const struct step_reader *reader, struct step_error *error);

/* Reads a block of properties. */
enum step_status step_reader_properties(struct step_reader *reader,
                                        const struct step_payload *payload,
                                        struct step_error *error);

/* Reads a block of ranges into the data blocks that it describes. */
enum step_status step_reader_ranges(struct step_reader *reader,
                                    const struct step_byte_source *source,
                                    const struct step_payload *payload, struct step_error *error);

/* Reads and checks the payload of a block at `offset` of a source, whose header is known.  CORRUPT
 * and CUT fill `error`. */
enum step_status step_reader_payload(struct step_reader *reader,
                                     const struct step_byte_source *source, uint64_t offset,
                                     const struct step_block_header *header,
                                     struct step_payload *payload, struct step_error *error);

/* Registers a block: keeps data blocks for later, loads the others.  `summary` is the first part of
 * its payload.  Damage is noted; only errors such as lack of memory are returned. */
enum step_status step_reader_visit(struct step_reader *reader,
                                   const struct step_byte_source *source, uint64_t offset,
                                   const struct step_block_header *header, const uint8_t *summary,
                                   struct step_error *error);

/* Finds all blocks from `offset` on by their headers, and visits each. */
enum step_status step_reader_walk(struct step_reader *reader, const struct step_byte_source *source,
                                  uint64_t offset, struct step_error *error);
/* Continues from reader->walked_bytes to the first incomplete block.  Does not search, and notes
 * damage only in complete blocks. */
enum step_status step_reader_walk_on(struct step_reader *reader, struct step_error *error);
/* Finds the first definition block from `*offset` on.  Returns false if there is none. */
bool step_reader_find_definition(struct step_reader *reader, uint64_t *offset,
                                 struct step_block_header *header);
/* Finds the blocks by footer and index.  Returns false if these are invalid; no block was visited
 * then. */
bool step_reader_use_index(struct step_reader *reader, enum step_status *status,
                           struct step_error *error);

/* Returns the bytes that decoded blocks of this reader may use now, besides dictionaries and
 * buffers. */
uint64_t step_reader_room(const struct step_reader *reader);
/* Like step_reader_load(), for a caller that holds `held` bytes in other blocks of this reader. */
enum step_status step_reader_load_beside(struct step_reader *reader, size_t i,
                                         const uint8_t *wanted, uint64_t held,
                                         struct step_block **block, struct step_error *error);

/* Loads a dictionary block. */
enum step_status step_dictionary_load(struct step_reader *reader,
                                      const struct step_payload *payload, struct step_error *error);
/* Builds the tables when all are loaded. */
void step_dictionary_finish(struct step_reader *reader);
/* Drops the tables of dictionaries that have grown since. */
void step_dictionary_regrow(struct step_reader *reader);
void step_dictionaries_destroy(struct step_reader *reader);

/* Sets a property; takes ownership of both texts. */
enum step_status step_reader_set_property(struct step_reader *reader, char *key, char *value);

/* Creates a reader of that name, without a file. */
enum step_status step_reader_create(const char *name, struct step_reader **out,
                                    struct step_error *error);
/* Reads the open file reader->file: definition, dictionaries, positions of blocks. */
enum step_status step_reader_read_file(struct step_reader *reader, struct step_error *error);

#endif
