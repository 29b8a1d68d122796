/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HATF 1.0, the Heap Allocation Trace Format (HATF paper, section 2 and Appendix A;
 * docs/formats/hatf.md): records, a streaming reader, a low-level writer whose caller decides where
 * metadata is written, and an encoder that chooses the metadata.
 *
 * Reader and writer keep the same state, one struct hatf_field_state per field, and change it in
 * the same way.  Copying all records of a file, metadata included, into a writer therefore
 * reproduces its bytes.  Each object is used by one thread at a time.
 */
#ifndef STEPTRACE_HATF_H
#define STEPTRACE_HATF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum hatf_tag {
    HATF_ALLOC = 0,
    HATF_FREE = 1,
    HATF_REALLOC_NO_ALLOC = 2,
    HATF_REALLOC_ALLOC_FREE = 3,
    HATF_REALLOC_ALLOC = 4,
    HATF_REALLOC_FREE = 5,
    HATF_CREATE_HEAP = 6,
    HATF_DESTROY_HEAP = 7,
    HATF_CREATE_THREAD = 8,
    HATF_DESTROY_THREAD = 9,
    HATF_COMMENT = 10,
    HATF_METADATA = 11,
    HATF_TAG_COUNT = 12
};

enum hatf_field {
    HATF_SIZE = 0,
    HATF_ADDRESS = 1,
    HATF_TIME = 2,
    HATF_THREAD = 3,
    HATF_HEAP = 4,
    HATF_ATTRIBUTES = 5,
    HATF_FIELD_COUNT = 6
};

/* The code of a width is its number of bytes, except for V1 and V2: attributes that store their own
 * length. */
enum hatf_width {
    HATF_WIDTH_0 = 0,
    HATF_WIDTH_1 = 1,
    HATF_WIDTH_2 = 2,
    HATF_WIDTH_4 = 4,
    HATF_WIDTH_8 = 8,
    HATF_WIDTH_V1 = 9, /* attributes: a 1-byte length, then that many bytes */
    HATF_WIDTH_V2 = 10 /* attributes: a 2-byte length */
};

enum hatf_interpretation {
    HATF_NONE = 0,
    HATF_DEFAULT = 1,     /* value: the default */
    HATF_BASE_OFFSET = 2, /* value: the base */
    HATF_DELTA = 3,       /* value: taken as the previous value */
    HATF_STRIDE = 4,      /* value: taken as the previous value; stride: two's complement */
    HATF_INTERPRETATION_COUNT = 5
};

enum hatf_operation { HATF_SET_WIDTH = 1, HATF_SET_INTERPRETATION = 2 };

/* The content of a metadata record. */
struct hatf_metadata {
    uint8_t operation; /* enum hatf_operation */
    uint8_t field;     /* enum hatf_field */
    uint8_t argument;  /* enum hatf_width or enum hatf_interpretation, by operation */
    uint64_t value;    /* default, base or initial value; else 0 */
    uint64_t stride;   /* HATF_STRIDE only; else 0 */
};

/* One record.  A reader sets members that the tag does not use to 0; a writer ignores them. */
struct hatf_record {
    enum hatf_tag tag;
    uint64_t size;        /* bytes */
    uint64_t address;     /* for a realloc, the old address */
    uint64_t new_address; /* realloc only */
    uint64_t thread;
    uint64_t heap;
    uint64_t time;
    struct step_bytes attributes;
    struct step_bytes comment;     /* HATF_COMMENT only */
    struct hatf_metadata metadata; /* HATF_METADATA only */
};

/* How a field is stored from the current position on. */
struct hatf_field_state {
    uint8_t interpretation; /* enum hatf_interpretation */
    uint8_t width;          /* enum hatf_width, in force; 0 under DEFAULT and STRIDE */
    uint8_t last_width;     /* the last width that was not 0; 0 if there was none */
    uint64_t value;         /* the default or the base */
    uint64_t stride;
    uint64_t previous; /* the field's last value, in a record of any tag */
};

/* Return the paper's names ("realloc/alloc free", "baseOffset"), or "?" for an unknown number. */
const char *hatf_tag_name(enum hatf_tag tag);
const char *hatf_field_name(enum hatf_field field);
const char *hatf_interpretation_name(enum hatf_interpretation interpretation);

/* Returns true if records with that tag have that field. */
bool hatf_tag_has(enum hatf_tag tag, enum hatf_field field);

/* Limits of the format. */
#define HATF_COMMENT_MAX 65535u
#define HATF_ATTRIBUTES_MAX 65535u

/* ---- reading ---- */

/* A source of bytes.  `read` stores 1 to `size` bytes and sets `*got` to their number, or to 0 at
 * the end. */
struct hatf_input {
    void *user;
    enum step_status (*read)(void *user, void *buffer, size_t size, size_t *got,
                             struct step_error *error);
};

struct hatf_reader;

/* A trace may be split into streams that compress better separately (paper, section 3.1).  FIELDS
 * stores each field's bytes in a separate stream, ADDRESS only addresses with interpretation
 * `none`.  The main stream has everything else: tags, metadata, comments. */
enum hatf_split { HATF_SPLIT_NONE, HATF_SPLIT_FIELDS, HATF_SPLIT_ADDRESS };

#define HATF_STREAM_MAIN 0u
#define HATF_STREAM_OF(field) ((unsigned) (field) + 1u)
#define HATF_STREAM_COUNT (HATF_FIELD_COUNT + 1u)

/* Returns the name of the stream's entry in a ZIP file, or NULL if the split has no such stream. */
const char *hatf_stream_name(enum hatf_split split, unsigned stream);

/* Opens a file.  The content decides how it is read: plain, gzip, zstd, or a ZIP file with the
 * streams of a split trace. */
enum step_status hatf_reader_open(const char *path, struct hatf_reader **out,
                                  struct step_error *error);
/* Returns the share of the file that was read, 0 to 1, or 1 if it is unknown. */
double hatf_reader_progress(const struct hatf_reader *reader);

/* Reads a split trace.  `inputs` has one element for each stream of the split. */
enum step_status hatf_reader_create_split(const struct hatf_input *inputs, enum hatf_split split,
                                          const char *name, struct hatf_reader **out,
                                          struct step_error *error);
/* Reads a trace from `input`.  `name` is copied and names the input in errors.  Memory use does not
 * depend on the length of the input. */
enum step_status hatf_reader_create(const struct hatf_input *input, const char *name,
                                    struct hatf_reader **out, struct step_error *error);
/* Reads a trace from memory.  The bytes are borrowed for the reader's life. */
enum step_status hatf_reader_create_memory(const void *data, size_t length, const char *name,
                                           struct hatf_reader **out, struct step_error *error);

/* Reads the next record; metadata and comments are returned too.  The record's bytes live until the
 * next call.  Returns END after the last record, CORRUPT for an unknown tag, operation, field,
 * width or interpretation, or V1 or V2 for a field other than attributes, and CUT if the input ends
 * inside the record.  Errors have the offset of the record's first byte, and the record's number in
 * the message.  Later calls return the same error. */
enum step_status hatf_reader_next(struct hatf_reader *reader, struct hatf_record *record,
                                  struct step_error *error);

/* Return the number of records read so far, which is the 1-based number of the last one, and the
 * offset of its end. */
uint64_t hatf_reader_record_number(const struct hatf_reader *reader);
uint64_t hatf_reader_offset(const struct hatf_reader *reader);

/* Returns how the next record stores the field, or NULL for an unknown field. */
const struct hatf_field_state *hatf_reader_field(const struct hatf_reader *reader,
                                                 enum hatf_field field);

void hatf_reader_destroy(struct hatf_reader *reader);

/* ---- writing ---- */

struct hatf_writer;

/* Creates a writer in the format's start state and writes nothing.  `output` is copied; it receives
 * the bytes in large pieces. */
enum step_status hatf_writer_create(const struct step_output *output, struct hatf_writer **out,
                                    struct step_error *error);

/* Writes a split trace.  `outputs` has one element for each stream of the split, and is copied. */
enum step_status hatf_writer_create_split(const struct step_output *outputs, enum hatf_split split,
                                          struct hatf_writer **out, struct step_error *error);

/* Creates a file: a ZIP file if `split` is not NONE, gzip or zstd if `path` ends in .gz or .zst,
 * else plain.  `level` is the compression level, 0 for the default.  The file is complete only
 * after hatf_writer_close(), which also closes it. */
enum step_status hatf_writer_open(const char *path, enum hatf_split split, int level,
                                  struct hatf_writer **out, struct step_error *error);

/* Write a metadata record and change how the field is stored.  INVALID: unknown field, width or
 * interpretation, or V1 or V2 for a field other than attributes.  A width that is set under DEFAULT
 * or STRIDE takes effect at the next change to NONE, BASE_OFFSET or DELTA. */
enum step_status hatf_writer_set_width(struct hatf_writer *writer, enum hatf_field field,
                                       enum hatf_width width, struct step_error *error);
enum step_status hatf_writer_set_interpretation(struct hatf_writer *writer, enum hatf_field field,
                                                enum hatf_interpretation interpretation,
                                                uint64_t value, uint64_t stride,
                                                struct step_error *error);

/* Writes a comment of at most HATF_COMMENT_MAX bytes. */
enum step_status hatf_writer_comment(struct hatf_writer *writer, const void *text, size_t length,
                                     struct step_error *error);

/* Writes a record of any tag; metadata and comments act like the calls above.  LIMIT: a value does
 * not fit the way its field is stored now.  The message names the field, and so does `*misfit` (may
 * be NULL).  Nothing was written or changed, so the caller may write metadata and try again.
 * INVALID: unknown tag. */
enum step_status hatf_writer_put(struct hatf_writer *writer, const struct hatf_record *record,
                                 enum hatf_field *misfit, struct step_error *error);

/* Returns true if every value fits the way its field is stored now.  Otherwise sets `*misfit` (may
 * be NULL) to the first field that does not fit. */
bool hatf_writer_fits(const struct hatf_writer *writer, const struct hatf_record *record,
                      enum hatf_field *misfit);

/* Return the smallest width of 0 to 8 bytes in which a stored value fits: unsigned for NONE, signed
 * for BASE_OFFSET (value - base) and DELTA (value - previous), modulo 2^64. */
enum hatf_width hatf_width_of_unsigned(uint64_t value);
enum hatf_width hatf_width_of_signed(uint64_t value);

/* Returns how the next record will store the field, or NULL for an unknown field. */
const struct hatf_field_state *hatf_writer_field(const struct hatf_writer *writer,
                                                 enum hatf_field field);

/* Return the number of records, metadata and comments included, and of bytes written so far. */
uint64_t hatf_writer_record_count(const struct hatf_writer *writer);
uint64_t hatf_writer_size(const struct hatf_writer *writer);

/* Flush writes pending bytes to the output.  Close also does so, and returns the output's first
 * error.  Nothing may be written after close. */
enum step_status hatf_writer_flush(struct hatf_writer *writer, struct step_error *error);
enum step_status hatf_writer_close(struct hatf_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed. */
void hatf_writer_destroy(struct hatf_writer *writer);

/* ---- as text ---- */

/* The text form of a record (docs/formats/hatf.md): the tag's name, then, separated by single
 * blanks, address, size, new address, thread, heap, time, attributes.  Trailing members that are 0
 * or empty are omitted.  A comment is "# " and its text.  The longest line in bytes, line feed
 * included: */
#define HATF_LINE_MAX (4u * 65535u + 200u)

/* Writes the line and its line feed to `out`, which has room for HATF_LINE_MAX bytes, and returns
 * its length.  Returns 0 for metadata and for records without a text form. */
size_t hatf_line_format(const struct hatf_record *record, char *out);

/* Parses a line without its line feed.  `bytes` has room for at least `length` bytes and receives
 * the attributes or the comment.  Returns NULL, or the reason why the line is not valid. */
const char *hatf_line_parse(const char *line, size_t length, struct hatf_record *record,
                            uint8_t *bytes);

struct hatf_text_reader;

/* Read lines from a file, which may be compressed by gzip or zstd, from memory, or from an input of
 * uncompressed bytes. */
enum step_status hatf_text_reader_open(const char *path, struct hatf_text_reader **out,
                                       struct step_error *error);
enum step_status hatf_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct hatf_text_reader **out,
                                              struct step_error *error);
enum step_status hatf_text_reader_create(const struct hatf_input *input, const char *name,
                                         struct hatf_text_reader **out, struct step_error *error);
/* Reads the next record, like hatf_reader_next().  Errors have the offset of the line and its
 * number. */
enum step_status hatf_text_reader_next(struct hatf_text_reader *reader, struct hatf_record *record,
                                       struct step_error *error);
/* Returns the offset of the last line that was read. */
uint64_t hatf_text_reader_offset(const struct hatf_text_reader *reader);
double hatf_text_reader_progress(const struct hatf_text_reader *reader);
void hatf_text_reader_destroy(struct hatf_text_reader *reader);

/* ---- encoding ---- */

/* How a trace is encoded (HATF paper, sections 3.1 and 3.3): which metadata the encoder may write.
 * All encodings but NAIVE switch where the saving exceeds the metadata's size, and store threads
 * and heaps with `default`. */
enum hatf_encoding {
    HATF_ENCODING_NAIVE,         /* metadata only where a value does not fit; widths grow */
    HATF_ENCODING_SMALL_SIZE,    /* the width of sizes shrinks and grows */
    HATF_ENCODING_SAME_SIZE,     /* `default` for runs of one size */
    HATF_ENCODING_COMBINED_SIZE, /* SMALL_SIZE and SAME_SIZE */
    HATF_ENCODING_BASE_OFFSET_1, /* addresses as 1-byte offsets */
    HATF_ENCODING_BASE_OFFSET_2,
    HATF_ENCODING_BEST_BASE_OFFSET, /* both offset widths */
    HATF_ENCODING_STRIDE,           /* regular addresses */
    HATF_ENCODING_BEST,             /* all of these, and times as deltas */
    HATF_ENCODING_OPTIMAL,          /* every width and interpretation, for every field */
    HATF_ENCODING_COUNT
};

/* Returns the name ("base-offset-1"), or "?" for an unknown number. */
const char *hatf_encoding_name(enum hatf_encoding encoding);

struct hatf_encoder;

/* Creates an encoder that writes metadata and records to `writer`, which is borrowed.  It collects
 * records in windows and searches the cheapest metadata for each window, so memory use is bounded,
 * and the same records always give the same bytes.  OPTIMAL is never larger than BEST, and no
 * encoding is larger than NAIVE. */
enum step_status hatf_encoder_create(struct hatf_writer *writer, enum hatf_encoding encoding,
                                     struct hatf_encoder **out, struct step_error *error);

/* Creates an encoder for output that is compressed afterwards by gzip (STEP_COMPRESSION_ZLIB) or
 * zstd.  For each window it tries the plans of all encodings up to this one and takes the one with
 * the fewest compressed bytes.  INVALID: `encoding` is neither BEST nor OPTIMAL; UNSUPPORTED: this
 * build lacks the compression method. */
enum step_status hatf_encoder_create_for(struct hatf_writer *writer, enum hatf_encoding encoding,
                                         enum step_compression packed_by, struct hatf_encoder **out,
                                         struct step_error *error);

/* Adds a record, which is copied.  Metadata records are ignored. */
enum step_status hatf_encoder_put(struct hatf_encoder *encoder, const struct hatf_record *record,
                                  struct step_error *error);

/* Writes the pending records as a window.  Call it once, at the end.  It does not close the
 * writer. */
enum step_status hatf_encoder_flush(struct hatf_encoder *encoder, struct step_error *error);

void hatf_encoder_destroy(struct hatf_encoder *encoder);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
