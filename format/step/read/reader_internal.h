/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a reader share. */
#ifndef FORMAT_STEP_READ_READER_INTERNAL_H
#define FORMAT_STEP_READ_READER_INTERNAL_H

#include "format/io/byte_source.h"
#include "format/step/block/block_read.h"

/* A data block that was found. */
struct step_block_entry {
    struct step_block_info info;
    struct step_block_header header;
    const struct step_byte_source *source;
    uint64_t offset; /* in the source */
    bool damage_noted;
};

/* Entries of one record type, with consecutive identifiers. */
struct step_dictionary_part {
    uint64_t first; /* identifier of the first, less 1 */
    uint64_t count;
    uint64_t *slots;          /* of all entries, one after the other */
    struct step_block *block; /* owns what they point to */
};

struct step_dictionary {
    struct step_dictionary_part *parts; /* in order of identifiers, not overlapping */
    size_t part_count;
    size_t part_capacity;
    uint64_t entry_count;   /* of all parts */
    const uint64_t **table; /* by identifier less 1; NULL where that would be mostly holes */
    uint64_t table_end;     /* how many it has */
};

struct step_reader {
    char *name;
    struct step_byte_source file;
    struct step_byte_source live; /* blocks made of what a live mapping held */
    struct step_buffer live_bytes;
    struct step_bytes given; /* a definition for where the file's is lost; while it is opened */
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
    uint64_t walked_bytes; /* of the file, up to where blocks were found by walking */
    bool whole;
    bool completed; /* not whole, but with the live file it is */
    bool running;   /* its process still writes */
    uint64_t recovered;
    struct step_buffer head;    /* of a block that is looked at */
    struct step_buffer payload; /* of a block that is loaded */
    struct step_buffer bytes;   /* of a block of bytes */
};

/* Notes damage; the text may be cut. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
enum step_status
step_reader_note(struct step_reader *reader, uint64_t offset, uint64_t length, const char *format,
                 ...);

enum step_status step_reader_no_memory(const struct step_reader *reader, struct step_error *error);

/* Takes what a block of properties says. */
enum step_status step_reader_properties(struct step_reader *reader,
                                        const struct step_payload *payload,
                                        struct step_error *error);

/* Takes what a block of ranges says of the data blocks before it. */
enum step_status step_reader_ranges(struct step_reader *reader,
                                    const struct step_byte_source *source,
                                    const struct step_payload *payload, struct step_error *error);

/* Reads and checks the payload of a block at `offset` of a source, whose header is known.  CORRUPT
 * or CUT fill `error`. */
enum step_status step_reader_payload(struct step_reader *reader,
                                     const struct step_byte_source *source, uint64_t offset,
                                     const struct step_block_header *header,
                                     struct step_payload *payload, struct step_error *error);

/* Takes note of a block: keeps data blocks for later, loads the others.  `summary` is the first
 * part of its payload.  What is damaged is noted; only lack of memory and such fail. */
enum step_status step_reader_visit(struct step_reader *reader,
                                   const struct step_byte_source *source, uint64_t offset,
                                   const struct step_block_header *header, const uint8_t *summary,
                                   struct step_error *error);

/* Finds all blocks from `offset` on by their headers, and visits each. */
enum step_status step_reader_walk(struct step_reader *reader, const struct step_byte_source *source,
                                  uint64_t offset, struct step_error *error);
/* The same from reader->walked_bytes on, up to the first block that is not all there yet: nothing
 * is searched for and no damage noted but in whole blocks. */
enum step_status step_reader_walk_on(struct step_reader *reader, struct step_error *error);
/* The first definition block from `*offset` on; false where there is none. */
bool step_reader_find_definition(struct step_reader *reader, uint64_t *offset,
                                 struct step_block_header *header);
/* Finds them by footer and index; false where these are not good: nothing was visited then. */
bool step_reader_use_index(struct step_reader *reader, enum step_status *status,
                           struct step_error *error);

/* Bytes that decoded blocks of this reader may take now, besides dictionaries and buffers. */
uint64_t step_reader_room(const struct step_reader *reader);
/* step_reader_load() where the caller holds `held` bytes in other blocks of this reader. */
enum step_status step_reader_load_beside(struct step_reader *reader, size_t i,
                                         const uint8_t *wanted, uint64_t held,
                                         struct step_block **block, struct step_error *error);

/* Loads a dictionary block. */
enum step_status step_dictionary_load(struct step_reader *reader,
                                      const struct step_payload *payload, struct step_error *error);
/* Makes the tables when all are loaded. */
void step_dictionary_finish(struct step_reader *reader);
/* Gives up the tables of dictionaries that have grown since. */
void step_dictionary_regrow(struct step_reader *reader);
void step_dictionaries_destroy(struct step_reader *reader);

/* Sets a property; both texts are taken over. */
enum step_status step_reader_set_property(struct step_reader *reader, char *key, char *value);

/* A reader of that name, with no file yet. */
enum step_status step_reader_create(const char *name, struct step_reader **out,
                                    struct step_error *error);
/* Reads reader->file, which is open: definition, dictionaries, where the blocks are. */
enum step_status step_reader_read_file(struct step_reader *reader, struct step_error *error);

#endif
