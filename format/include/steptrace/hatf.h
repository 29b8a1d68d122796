/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HATF 1.0, the Heap Allocation Trace Format (HATF paper, section 2 and Appendix A;
 * docs/formats/hatf.md): records, a streaming reader, and a low-level writer whose caller decides
 * which metadata stands where.
 *
 * Reader and writer keep the same state, a struct hatf_field_state a field, and change it in the
 * same way; records read from one file and put, metadata included, into a writer give the same
 * bytes.  Each is used by one thread at a time.
 */
#ifndef STEPTRACE_HATF_H
#define STEPTRACE_HATF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"

/* What follows is what the shared library exports. */
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

/* The code of a width is the number of bytes, but for attributes of a length of their own. */
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

/* What a metadata record says. */
struct hatf_metadata {
    uint8_t operation; /* enum hatf_operation */
    uint8_t field;     /* enum hatf_field */
    uint8_t argument;  /* enum hatf_width or enum hatf_interpretation */
    uint64_t value;    /* default, base or initial value; else 0 */
    uint64_t stride;   /* of HATF_STRIDE; else 0 */
};

/* One record.  A reader sets what the tag does not have to 0; a writer ignores it. */
struct hatf_record {
    enum hatf_tag tag;
    uint64_t size;        /* bytes */
    uint64_t address;     /* of a realloc: the old one */
    uint64_t new_address; /* of a realloc */
    uint64_t thread;
    uint64_t heap;
    uint64_t time;
    struct step_bytes attributes;
    struct step_bytes comment;     /* of HATF_COMMENT */
    struct hatf_metadata metadata; /* of HATF_METADATA */
};

/* How a field is stored from here on. */
struct hatf_field_state {
    uint8_t interpretation; /* enum hatf_interpretation */
    uint8_t width;          /* enum hatf_width, in force; 0 under DEFAULT and STRIDE */
    uint8_t last_width;     /* the last that was not 0; 0 if there was none */
    uint64_t value;         /* the default or the base */
    uint64_t stride;
    uint64_t previous; /* the field's last value, in whatever record */
};

/* Names as in the paper ("realloc/alloc free", "baseOffset"); "?" for a number that is none. */
const char *hatf_tag_name(enum hatf_tag tag);
const char *hatf_field_name(enum hatf_field field);
const char *hatf_interpretation_name(enum hatf_interpretation interpretation);

/* True if records with that tag have that field. */
bool hatf_tag_has(enum hatf_tag tag, enum hatf_field field);

/* Limits of the format. */
#define HATF_COMMENT_MAX 65535u
#define HATF_ATTRIBUTES_MAX 65535u

/* ---- reading ---- */

/* Where bytes come from.  `read` gives 1 to `size` bytes in `*got`, or 0 at the end. */
struct hatf_input {
    void *user;
    enum step_status (*read)(void *user, void *buffer, size_t size, size_t *got,
                             struct step_error *error);
};

struct hatf_reader;

/* A trace may be split into streams that compress better apart (paper, section 3.1): FIELDS has
 * each field's bytes in a stream of its own, ADDRESS those of addresses under `none`.  The first
 * stream has what is left: tags, metadata, comments. */
enum hatf_split { HATF_SPLIT_NONE, HATF_SPLIT_FIELDS, HATF_SPLIT_ADDRESS };

#define HATF_STREAM_MAIN 0u
#define HATF_STREAM_OF(field) ((unsigned) (field) + 1u)
#define HATF_STREAM_COUNT (HATF_FIELD_COUNT + 1u)

/* The stream's name, which is that of its entry in a ZIP file; NULL where the split has none. */
const char *hatf_stream_name(enum hatf_split split, unsigned stream);

/* Opens a file: plain, gzip, zstd, or a ZIP file with the streams of a split trace, by its content.
 */
enum step_status hatf_reader_open(const char *path, struct hatf_reader **out,
                                  struct step_error *error);
/* The share of the file that was read, 0 to 1; 1 where that is not known. */
double hatf_reader_progress(const struct hatf_reader *reader);

/* Reads a trace in streams; `inputs` has one for each that the split has. */
enum step_status hatf_reader_create_split(const struct hatf_input *inputs, enum hatf_split split,
                                          const char *name, struct hatf_reader **out,
                                          struct step_error *error);
/* `name` stands for the input in errors; it is copied.  Memory does not grow with the input. */
enum step_status hatf_reader_create(const struct hatf_input *input, const char *name,
                                    struct hatf_reader **out, struct step_error *error);
/* Reads bytes in memory, which are borrowed for the reader's life. */
enum step_status hatf_reader_create_memory(const void *data, size_t length, const char *name,
                                           struct hatf_reader **out, struct step_error *error);

/* The next record, metadata and comments included; its bytes live until the next call.  END after
 * the last.  CORRUPT (unknown tag, operation, field, width or interpretation; v1 or v2 for another
 * field than attributes) and CUT (the input ends inside the record) have the offset of the record's
 * first byte and, in the message, the record's number.  Errors stay: later calls give the same. */
enum step_status hatf_reader_next(struct hatf_reader *reader, struct hatf_record *record,
                                  struct step_error *error);

/* Records read so far, so the number, from 1, of the last record; bytes up to its end. */
uint64_t hatf_reader_record_number(const struct hatf_reader *reader);
uint64_t hatf_reader_offset(const struct hatf_reader *reader);

/* How the field will be read in the next record; NULL for a number that is no field. */
const struct hatf_field_state *hatf_reader_field(const struct hatf_reader *reader,
                                                 enum hatf_field field);

void hatf_reader_destroy(struct hatf_reader *reader);

/* ---- writing ---- */

struct hatf_writer;

/* Starts at the format's start state, with nothing written: the comment that this project puts
 * first is the caller's to put.  `output` is copied; bytes reach it in large pieces. */
enum step_status hatf_writer_create(const struct step_output *output, struct hatf_writer **out,
                                    struct step_error *error);

/* Writes a trace in streams; `outputs` has one for each that the split has, and is copied. */
enum step_status hatf_writer_create_split(const struct step_output *outputs, enum hatf_split split,
                                          struct hatf_writer **out, struct step_error *error);

/* Creates a file: plain, or gzip or zstd where `path` ends so (.gz, .zst), or with a split a ZIP
 * file.  `level` is that of the compression, 0 the default.  hatf_writer_close() closes it; without
 * that it is not complete. */
enum step_status hatf_writer_open(const char *path, enum hatf_split split, int level,
                                  struct hatf_writer **out, struct step_error *error);

/* Write a metadata record and change how the field is stored.  INVALID: not a field, a width or an
 * interpretation, or v1 or v2 for another field than attributes.  A field's width set under DEFAULT
 * or STRIDE takes effect at the next change to NONE, BASE_OFFSET or DELTA. */
enum step_status hatf_writer_set_width(struct hatf_writer *writer, enum hatf_field field,
                                       enum hatf_width width, struct step_error *error);
enum step_status hatf_writer_set_interpretation(struct hatf_writer *writer, enum hatf_field field,
                                                enum hatf_interpretation interpretation,
                                                uint64_t value, uint64_t stride,
                                                struct step_error *error);

/* A comment of at most HATF_COMMENT_MAX bytes. */
enum step_status hatf_writer_comment(struct hatf_writer *writer, const void *text, size_t length,
                                     struct step_error *error);

/* Writes a record of any tag; metadata and comments do what the calls above do.
 * LIMIT: a value does not fit how its field is stored now; the message names the field and
 * `*misfit` (may be NULL) is it; nothing was written or changed, so the caller may put metadata and
 * try again.  INVALID: not a tag. */
enum step_status hatf_writer_put(struct hatf_writer *writer, const struct hatf_record *record,
                                 enum hatf_field *misfit, struct step_error *error);

/* True if hatf_writer_put() would find that every value fits; else `*misfit` (may be NULL) is the
 * first field that does not.  Comments fit up to their limit. */
bool hatf_writer_fits(const struct hatf_writer *writer, const struct hatf_record *record,
                      enum hatf_field *misfit);

/* The smallest width of 0 to 8 bytes in which a stored value fits: as it is (NONE), and as a signed
 * one (BASE_OFFSET and DELTA, for value - base and value - previous modulo 2^64). */
enum hatf_width hatf_width_of_unsigned(uint64_t value);
enum hatf_width hatf_width_of_signed(uint64_t value);

/* How the field will be stored in the next record; NULL for a number that is no field. */
const struct hatf_field_state *hatf_writer_field(const struct hatf_writer *writer,
                                                 enum hatf_field field);

/* Records (metadata and comments included) and bytes so far. */
uint64_t hatf_writer_record_count(const struct hatf_writer *writer);
uint64_t hatf_writer_size(const struct hatf_writer *writer);

/* Hands what is pending to the output.  Close does so too and returns the output's first error;
 * nothing may be put after it. */
enum step_status hatf_writer_flush(struct hatf_writer *writer, struct step_error *error);
enum step_status hatf_writer_close(struct hatf_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed. */
void hatf_writer_destroy(struct hatf_writer *writer);

/* ---- as text ---- */

/* A record as a line (docs/formats/hatf.md): the tag's name, then, with one blank between, address,
 * size, new address, thread, heap, time, attributes; what is 0 or empty at the end is left out. A
 * comment is "# " and its text.  No line is longer, line feed included: */
#define HATF_LINE_MAX (4u * 65535u + 200u)

/* Writes the line and its line feed at `out`, which has room for HATF_LINE_MAX bytes, and returns
 * its length; 0 for metadata and for what has no line. */
size_t hatf_line_format(const struct hatf_record *record, char *out);

/* Reads a line, without its line feed.  `bytes` is room for what the attributes or the comment are,
 * at least `length` bytes.  NULL, or what is wrong. */
const char *hatf_line_parse(const char *line, size_t length, struct hatf_record *record,
                            uint8_t *bytes);

struct hatf_text_reader;

/* Reads lines, from a file that may be packed by gzip or zstd, from memory, or from an input of
 * unpacked bytes. */
enum step_status hatf_text_reader_open(const char *path, struct hatf_text_reader **out,
                                       struct step_error *error);
enum step_status hatf_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct hatf_text_reader **out,
                                              struct step_error *error);
enum step_status hatf_text_reader_create(const struct hatf_input *input, const char *name,
                                         struct hatf_text_reader **out, struct step_error *error);
/* The next record, as hatf_reader_next(); an error has the offset of the line and its number. */
enum step_status hatf_text_reader_next(struct hatf_text_reader *reader, struct hatf_record *record,
                                       struct step_error *error);
/* Offset of the last line that was given. */
uint64_t hatf_text_reader_offset(const struct hatf_text_reader *reader);
double hatf_text_reader_progress(const struct hatf_text_reader *reader);
void hatf_text_reader_destroy(struct hatf_text_reader *reader);

/* ---- encoding ---- */

/* How a trace is encoded (HATF paper, sections 3.1 and 3.3): which metadata a writer may use.  All
 * but NAIVE switch where that pays for the metadata, and threads and heaps through `default`. */
enum hatf_encoding {
    HATF_ENCODING_NAIVE,         /* metadata only where a value does not fit; widths grow */
    HATF_ENCODING_SMALL_SIZE,    /* the width of sizes shrinks and grows */
    HATF_ENCODING_SAME_SIZE,     /* runs of one size */
    HATF_ENCODING_COMBINED_SIZE, /* both */
    HATF_ENCODING_BASE_OFFSET_1, /* addresses as 1-byte offsets */
    HATF_ENCODING_BASE_OFFSET_2,
    HATF_ENCODING_BEST_BASE_OFFSET, /* both */
    HATF_ENCODING_STRIDE,           /* regular addresses */
    HATF_ENCODING_BEST,             /* all of these, and times as differences */
    HATF_ENCODING_OPTIMAL,          /* every width and interpretation, for every field */
    HATF_ENCODING_COUNT
};

/* The name ("base-offset-1"); "?" for a number that is none. */
const char *hatf_encoding_name(enum hatf_encoding encoding);

struct hatf_encoder;

/* Puts metadata and records into a writer, which is borrowed.  Records are gathered in windows, and
 * the cheapest metadata for each is found; so memory is bounded, and the same records always give
 * the same bytes.  OPTIMAL is never larger than BEST, and no encoding larger than NAIVE. */
enum step_status hatf_encoder_create(struct hatf_writer *writer, enum hatf_encoding encoding,
                                     struct hatf_encoder **out, struct step_error *error);

/* The same for what is then compressed, by gzip (STEP_COMPRESSION_ZLIB) or zstd: for each window
 * the plans of the encodings up to this one, BEST or OPTIMAL, are tried, and the one whose bytes
 * become the fewest is taken.  INVALID: another encoding; UNSUPPORTED: this build cannot compress
 * so. */
enum step_status hatf_encoder_create_for(struct hatf_writer *writer, enum hatf_encoding encoding,
                                         enum step_compression packed_by, struct hatf_encoder **out,
                                         struct step_error *error);

/* Adds a record, which is copied.  Metadata are passed over. */
enum step_status hatf_encoder_put(struct hatf_encoder *encoder, const struct hatf_record *record,
                                  struct step_error *error);

/* Writes what is pending, as a window: to be called once, at the end.  The writer is not closed. */
enum step_status hatf_encoder_flush(struct hatf_encoder *encoder, struct step_error *error);

void hatf_encoder_destroy(struct hatf_encoder *encoder);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
