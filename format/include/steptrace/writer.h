/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a STEP trace (STEP paper, figure 3a and section 3).
 *
 * A trace is a sequence of blocks (docs/formats/step.md).  Records go into streams: a stream is a
 * sequence of records whose order the trace keeps (one buffer of one thread, say).  The writer
 * gathers each stream's records and writes a block when there are `block_records` of them, or when
 * it is told to flush.  The order among streams is by the field with `<property:"time">`.
 *
 * Identifiers: a field with `<encoding:"identifier">` holds the number of an entry in the
 * dictionary of its type.  step_writer_define() adds an entry; an entry reaches the file before any
 * block that could use it.
 *
 * A writer is used by one thread at a time.  A record that it cannot take (INVALID, LIMIT) is
 * refused alone: the writer goes on, and all others are written.  Of other errors it keeps the
 * first: all later calls return that status and step_writer_close() reports it.
 */
#ifndef STEPTRACE_WRITER_H
#define STEPTRACE_WRITER_H

#include <stdbool.h>

#include "steptrace/definition.h"
#include "steptrace/status.h"
#include "steptrace/value.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes go.  `write` must take all `length` bytes or fail. */
struct step_output {
    void *user;
    enum step_status (*write)(void *user, const void *data, size_t length,
                              struct step_error *error);
};

/* A method that was not built in means the first that was, of zstd and zlib.  BEST is for keeping:
 * more encodings are tried, and of every part all methods that were built in, which takes 100 to
 * 150 times as long (5,079 ns an event against 36 for javac's, at the default block size). */
enum step_compression {
    STEP_COMPRESSION_NONE,
    STEP_COMPRESSION_ZSTD,
    STEP_COMPRESSION_ZLIB,
    STEP_COMPRESSION_XZ,
    STEP_COMPRESSION_BZIP3, /* the number is kept for it; it is not built in */
    STEP_COMPRESSION_BEST = 255
};

/* How the records of a block are laid out: as a stream for each field, or as one stream of
 * records with meta-records (STEP paper, section 3.2). */
enum step_write_layout {
    STEP_WRITE_SMALLEST, /* each block as it is smaller */
    STEP_WRITE_ROWS,
    STEP_WRITE_COLUMNS
};

struct step_writer_options {
    const struct step_definition *definition; /* borrowed for the writer's life */
    struct step_output output;
    enum step_compression compression;
    int level;              /* of the compressor; 0: the project's default */
    uint32_t block_records; /* 0: the project's default */
    enum step_write_layout layout;
    size_t memory_bytes; /* that waiting records may take; 0: the project's default, 256 MiB */
    bool verify; /* each block is decoded, and compared, before it goes to the output: INVALID where
                  * it is not the same */
    /* NULL, or called once for a writer that was made, with the output's `user`: by the first
     * step_writer_close(), with whether all was written, or by step_writer_destroy() where there
     * was none.  What it returns is what closing returns. */
    enum step_status (*finish)(void *user, bool complete, struct step_error *error);
};

struct step_writer;

/* Sets the defaults: zstd, default level and block size, no output, no definition. */
void step_writer_options_init(struct step_writer_options *options);

/* Writes the file header and the definition at once. */
enum step_status step_writer_create(const struct step_writer_options *options,
                                    struct step_writer **out, struct step_error *error);

/* The same into a file.  It is PATH.part until step_writer_close() has written all of it, and then
 * takes its name; without that PATH.part stays and can be read as far as it was written.  What is
 * no plain file (a device, a pipe, a terminal) is never replaced: it is written to as it is; a
 * directory is an error.  `output`
 * and `finish` of the options are not used. */
enum step_status step_writer_open(const char *path, const struct step_writer_options *options,
                                  struct step_writer **out, struct step_error *error);

/* Provenance: a key (lower-case, words with '-') and a UTF-8 value.  May be called at any time
 * before close; a key given again replaces the earlier value for readers.  Properties reach the
 * file with the next block, or with step_writer_flush(). */
enum step_status step_writer_property(struct step_writer *writer, const char *key,
                                      const char *value);

/* Adds an entry to the dictionary of record type `record`; entries are numbered from 1 in the order
 * of these calls.  `slots` and all they point to are copied.  `id` may be NULL; of an entry that is
 * refused, as a record would be, it becomes 0, which is none. */
enum step_status step_writer_define(struct step_writer *writer, uint32_t record,
                                    const uint64_t *slots, uint64_t *id);

/* Appends a record to a stream.  INVALID for one against its definition: a constant that changes,
 * an integer too large for its fixed size, a string that is none in its charset; LIMIT for one that
 * takes more than 128 MiB (8 bytes a value, a string its bytes as well).  Such a record is left
 * out; step_writer_close() tells of the first, and names the field.  Streams are any numbers that
 * the caller chooses (small and dense is cheapest).  `slots` and all they point to are copied. */
enum step_status step_writer_put(struct step_writer *writer, uint64_t stream, uint32_t record,
                                 const uint64_t *slots);

/* Records of the stream that were put so far, and how many of those are written to the output.
 * Both count from the stream's start (see step_writer_resume_stream). */
uint64_t step_writer_put_count(const struct step_writer *writer, uint64_t stream);
uint64_t step_writer_written_count(const struct step_writer *writer, uint64_t stream);

/* Entries of the dictionary of `record` so far (defined or resumed). */
uint64_t step_writer_dictionary_count(const struct step_writer *writer, uint32_t record);

/* For a writer that goes on where another ended (recovery): the stream already has `count` records,
 * the dictionary of `record` already `count` entries. */
enum step_status step_writer_resume_stream(struct step_writer *writer, uint64_t stream,
                                           uint64_t count);
enum step_status step_writer_resume_dictionary(struct step_writer *writer, uint32_t record,
                                               uint64_t count);

/* Writes what is pending of one stream, or of everything, as blocks.  Both write pending
 * properties and dictionary entries first, also when the stream has no records pending. */
enum step_status step_writer_flush_stream(struct step_writer *writer, uint64_t stream);
enum step_status step_writer_flush(struct step_writer *writer);

/* The definition that the writer was created with. */
const struct step_definition *step_writer_borrow_definition(const struct step_writer *writer);

/* Bytes handed to the output so far. */
uint64_t step_writer_size(const struct step_writer *writer);

/* Records and entries that were refused so far. */
uint64_t step_writer_refused_count(const struct step_writer *writer);

/* Flushes, writes index and footer.  Returns the first error that the writer met.  Where it only
 * refused records, the trace is complete but for these, and the status is that of the first. */
enum step_status step_writer_close(struct step_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed.  Without close the file has no index. */
void step_writer_destroy(struct step_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
