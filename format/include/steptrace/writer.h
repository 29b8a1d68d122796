/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer for STEP traces (STEP paper, figure 3a and section 3).
 *
 * A trace is a sequence of blocks (docs/formats/step.md).  Records are written to streams: a stream
 * is a sequence of records whose order the trace keeps (for example one buffer of one thread).  The
 * writer collects each stream's records and writes a block when there are `block_records` of them,
 * or on a flush.  The field with `<property:"time">` orders records across streams.
 *
 * Identifiers: a field with `<encoding:"identifier">` holds the number of an entry in the
 * dictionary of its type. step_writer_define() adds an entry; an entry reaches the file before any
 * block that could use it.
 *
 * A writer is used by one thread at a time.  A record that violates its definition or a limit
 * (INVALID, LIMIT) is refused; the writer stays usable, and all other records are written.  Any
 * other error is kept: all later calls return its status, and step_writer_close() reports it.
 */
#ifndef STEPTRACE_WRITER_H
#define STEPTRACE_WRITER_H

#include <stdbool.h>

#include "steptrace/definition.h"
#include "steptrace/status.h"
#include "steptrace/value.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* A destination of bytes.  `write` must write all `length` bytes or fail. */
struct step_output {
    void *user;
    enum step_status (*write)(void *user, const void *data, size_t length,
                              struct step_error *error);
};

/* Compression methods.  If a method is not built in, the writer uses zstd if available, else zlib.
 * BEST is for archiving: it tries more encodings, and for every part all built-in methods, which
 * takes 100 to 150 times as long (5,079 ns an event against 36 for a trace of javac, at the default
 * block size). */
enum step_compression {
    STEP_COMPRESSION_NONE,
    STEP_COMPRESSION_ZSTD,
    STEP_COMPRESSION_ZLIB,
    STEP_COMPRESSION_XZ,
    STEP_COMPRESSION_BZIP3, /* reserved; not built in */
    STEP_COMPRESSION_BEST = 255
};

/* Layout of the records of a block: a stream for each field (columns), or one stream of records
 * with meta-records (rows; STEP paper, section 3.2). */
enum step_write_layout {
    STEP_WRITE_SMALLEST, /* the smaller layout for each block */
    STEP_WRITE_ROWS,
    STEP_WRITE_COLUMNS
};

struct step_writer_options {
    const struct step_definition *definition; /* borrowed for the writer's life */
    struct step_output output;
    enum step_compression compression;
    int level;              /* of the compressor; 0: the default */
    uint32_t block_records; /* 0: the default */
    enum step_write_layout layout;
    size_t memory_bytes; /* limit for pending records; 0: the default, 256 MiB */
    bool verify; /* decode each block and compare it with its records before writing it; INVALID on
                    a difference */
    /* NULL, or called once for each created writer, with the output's `user`: by the first
     * step_writer_close(), where `complete` is whether all was written, else by
     * step_writer_destroy(). step_writer_close() returns its status. */
    enum step_status (*finish)(void *user, bool complete, struct step_error *error);
};

struct step_writer;

/* Sets the defaults: zstd, default level and block size, no output, no definition. */
void step_writer_options_init(struct step_writer_options *options);

/* Creates a writer and immediately writes the file header and the definition. */
enum step_status step_writer_create(const struct step_writer_options *options,
                                    struct step_writer **out, struct step_error *error);

/* Encodes the columns of each large block with up to `threads` threads, the caller's included, for
 * the writer's life; 0: as many as the process has processors, at most 8.  The file is the same to
 * the byte.  The threads block all signals (but SIGXFSZ) and end with step_writer_destroy().  Where
 * the system starts no thread, all remains as it was.  NO_MEMORY. */
enum step_status step_writer_use_threads(struct step_writer *writer, unsigned threads);

/* Creates a writer for a file.  The file is PATH.part until step_writer_close() has written
 * everything and renames it; without close, PATH.part remains and can be read as far as it was
 * written.  A path that is not a plain file (a device, pipe or terminal) is written in place; a
 * directory is an error.  `output` and `finish` of the options are ignored. */
enum step_status step_writer_open(const char *path, const struct step_writer_options *options,
                                  struct step_writer **out, struct step_error *error);

/* Sets a provenance property: a key (lower-case, words joined by '-') and a UTF-8 value.  May be
 * called at any time before close; if a key is set again, readers see the last value.  Properties
 * reach the file with the next block, or with step_writer_flush(). */
enum step_status step_writer_property(struct step_writer *writer, const char *key,
                                      const char *value);

/* Adds an entry to the dictionary of record type `record`; entries are numbered from 1 in the order
 * of these calls.  `slots` and everything they reference are copied.  `*id` (`id` may be NULL)
 * becomes the number, or 0, which means none, if the entry is refused like a record. */
enum step_status step_writer_define(struct step_writer *writer, uint32_t record,
                                    const uint64_t *slots, uint64_t *id);

/* Appends a record to a stream.  Streams are arbitrary numbers chosen by the caller (small and
 * dense ones are cheapest).  `slots` and everything they reference are copied.  INVALID: the record
 * violates its definition, for example a constant that changes, an integer too large for its fixed
 * size, or a string outside its charset.  LIMIT: it needs more than 128 MiB (8 bytes for each
 * value, plus the bytes of strings).  Such a record is omitted; step_writer_close() reports the
 * first one and names its field. */
enum step_status step_writer_put(struct step_writer *writer, uint64_t stream, uint32_t record,
                                 const uint64_t *slots);

/* Return the number of records put into the stream so far, and the number of those written to the
 * output.  Both count from the stream's start (see step_writer_resume_stream()). */
uint64_t step_writer_put_count(const struct step_writer *writer, uint64_t stream);
uint64_t step_writer_written_count(const struct step_writer *writer, uint64_t stream);

/* Returns the number of entries in the dictionary of `record` so far (defined or resumed). */
uint64_t step_writer_dictionary_count(const struct step_writer *writer, uint32_t record);

/* Continue where another writer ended (recovery): the stream already has `count` records, the
 * dictionary of `record` already has `count` entries. */
enum step_status step_writer_resume_stream(struct step_writer *writer, uint64_t stream,
                                           uint64_t count);
enum step_status step_writer_resume_dictionary(struct step_writer *writer, uint32_t record,
                                               uint64_t count);

/* Write the pending records of one stream, or of all streams, as blocks.  Both write pending
 * properties and dictionary entries first, even if the stream has no pending records. */
enum step_status step_writer_flush_stream(struct step_writer *writer, uint64_t stream);
enum step_status step_writer_flush(struct step_writer *writer);

/* Returns the definition that the writer was created with. */
const struct step_definition *step_writer_borrow_definition(const struct step_writer *writer);

/* Returns the bytes written to the output so far. */
uint64_t step_writer_size(const struct step_writer *writer);

/* Returns the bytes of memory that records use which wait for their block. */
uint64_t step_writer_pending_bytes(const struct step_writer *writer);

/* Returns the number of records and entries refused so far. */
uint64_t step_writer_refused_count(const struct step_writer *writer);

/* Flushes, then writes index and footer.  Returns the first error that the writer met.  If it only
 * refused records, the trace is complete except for these, and the status is that of the first. */
enum step_status step_writer_close(struct step_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed.  Without close the file has no index. */
void step_writer_destroy(struct step_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
