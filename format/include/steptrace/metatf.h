/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meta-TF 1.0 (HATF paper, section 4 and Appendix B; docs/formats/metatf.md): traces described by a
 * DTD.  This header has the model of a DTD, and a reader and a writer that interpret a DTD at run
 * time.  Code that metatfc generates from a DTD uses the same reader and writer (metatf_code.h).
 *
 * A DTD never changes once made, and threads may share it; all other objects are used by one thread
 * at a time.  Numbers are unsigned 64-bit; arithmetic is modulo 2^64.
 */
#ifndef STEPTRACE_METATF_H
#define STEPTRACE_METATF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/definition.h"
#include "steptrace/field_code.h"
#include "steptrace/status.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* ---- the DTD ---- */

#define METATF_NO_FIELD UINT32_MAX
#define METATF_FIELD_LIMIT 4096u             /* fields of a record */
#define METATF_RECORD_BYTES_MAX (1u << 24)   /* bytes of one field */
#define METATF_REPEAT_LIMIT (1u << 22)       /* values in repetitions, per record */
#define METATF_VALUES_PER_BYTE 64u           /* see metatf_take_values() */
#define METATF_SEGMENT_BYTES_MAX (64u << 20) /* a piece of a section, decompressed */

enum metatf_kind {
    METATF_NUMBER, /* at most 8 bytes */
    METATF_BYTES   /* longer, or with a length that another field stores */
};

/* A field of a record.  Groups and nested records are flattened so that metadata can number the
 * fields; the tag is field 0. */
struct metatf_field {
    const char *name; /* "length" */
    const char *path; /* unique in the record: "vfield.length" */
    enum metatf_kind kind;
    uint8_t interpretation;  /* enum step_field_interpretation */
    uint32_t width;          /* bytes; for an interpretation that stores nothing, the width after a
                                later change */
    uint32_t width_field;    /* field whose value is the width, or METATF_NO_FIELD */
    uint64_t argument;       /* default, base, initial value or section */
    uint32_t argument_field; /* field whose value is the argument, or METATF_NO_FIELD */
    uint64_t stride;
    bool has_value; /* the value is prescribed, by one of the following two */
    uint64_t value;
    uint32_t value_field; /* field that has the value, or METATF_NO_FIELD */
    uint32_t repeat;      /* number of fields after this one that are repeated; its value is the
                             number of repetitions */
    uint32_t cell;        /* index of the previous value among the section's cells */
};

enum metatf_role { METATF_DATA, METATF_COMMENT, METATF_SECTION, METATF_METADATA };

struct metatf_record {
    const char *name;
    enum metatf_role role;
    uint64_t tag;
    const struct metatf_field *fields; /* the tag first; metadata has only the tag */
    uint32_t field_count;
    uint32_t first_state; /* number of fields in the section's records before this one */
};

/* The records that are allowed in a section: its own, the global ones, the predefined ones. */
struct metatf_section {
    const char *name; /* "" for the global section, 0 */
    uint32_t number;
    bool is_data; /* no records of its own: numbers for sectionStride, or arbitrary bytes */
    const struct metatf_record *records;
    uint32_t record_count;
    uint32_t state_count; /* fields of all its records */
    uint32_t cell_count;
};

struct metatf_dtd {
    uint32_t tag_width;
    const struct metatf_section *sections; /* the global one first */
    uint32_t section_count;
    const char *text;
    size_t text_length;
};

/* Parses a DTD.  `name` identifies the text in messages.  On failure `*out` is NULL and `error` has
 * the first fault as "line:column: message".  `report`, if not NULL, is called for every fault. */
enum step_status metatf_dtd_parse(const char *text, size_t length, const char *name,
                                  step_fault_visit report, void *user, struct metatf_dtd **out,
                                  struct step_error *error);
void metatf_dtd_destroy(struct metatf_dtd *dtd);

/* Return the index of the section, record or field, or UINT32_MAX. */
uint32_t metatf_dtd_section(const struct metatf_dtd *dtd, uint32_t number);
uint32_t metatf_section_record(const struct metatf_section *section, const char *name);
uint32_t metatf_record_field(const struct metatf_record *record, const char *path);

/* Returns the name ("none", "sectionStride"), or "?" for an unknown number. */
const char *metatf_interpretation_name(unsigned interpretation);

/* ---- files ---- */

/* Order of the sections in a file. */
enum metatf_layout {
    METATF_SEGMENTS, /* pieces with a header each, in the order of writing; the index is last */
    METATF_INDEX,    /* as printed in the paper: the index comes first, so the writer holds the
                        trace in memory */
    METATF_RECORDS   /* no index: one sequence, in which section records mark each change */
};

/* A source of bytes.  `read` fills exactly `size` bytes from `offset`, all inside the input. */
struct metatf_input {
    void *user;
    uint64_t size;
    enum step_status (*read)(void *user, uint64_t offset, void *buffer, size_t size,
                             struct step_error *error);
};

struct metatf_file;

struct metatf_file_about {
    bool wide;       /* class 2: 64-bit; else class 1, 32-bit */
    bool short_ints; /* class 2 only: the paper's ints, of 4 bytes instead of 8 */
    bool big_endian;
    enum metatf_layout layout;
    bool whole;        /* the file has its end and its index */
    uint64_t records;  /* data records, 0 if the header does not state it */
    uint64_t segments; /* entries of the index */
    const char *dtd_name;
    const char *dtd_text; /* the embedded DTD; NULL: none */
    size_t dtd_length;
};

/* Reads header, index and embedded DTD.  FORMAT: not a Meta-TF file; CORRUPT: sections overlap each
 * other or the header.  A segmented file that was cut is opened as far as possible (`whole` is
 * false).  `input` is copied, and used during the file's life. */
enum step_status metatf_file_open(const struct metatf_input *input, const char *name,
                                  struct metatf_file **out, struct step_error *error);
const struct metatf_file_about *metatf_file_about(const struct metatf_file *file);
void metatf_file_close(struct metatf_file *file);

/* ---- reading ---- */

/* A value: `number` for METATF_NUMBER, `bytes` for METATF_BYTES. */
struct metatf_value {
    uint64_t number;
    struct step_bytes bytes;
};

/* The content of a metadata record: how a field of a record of its section is stored from here
 * on. */
struct metatf_metadata {
    uint64_t tag;     /* of the record */
    uint32_t field;   /* its index in the record, 0 for the tag */
    uint8_t property; /* METATF_PROPERTY_WIDTH, or the number of an interpretation */
    uint64_t value;   /* width, base, initial value, default or section */
    uint64_t stride;
};

#define METATF_PROPERTY_WIDTH 0u
/* Convert an interpretation to the paper's number (1 to 7), and back (UINT8_MAX: unknown). */
uint8_t metatf_property_of(unsigned interpretation);
uint8_t metatf_property_interpretation(unsigned property);

/* One record.  `values` has one value per field, in the order of the fields; repeated fields have
 * the values of each element, one element after the other.  The last value of a comment is its
 * text. */
struct metatf_event {
    const struct metatf_section *section;
    const struct metatf_record *record;
    const struct metatf_value *values;
    size_t value_count;
    uint64_t position; /* offset in the section's content, the value of sectionOffset fields */
    struct metatf_metadata metadata; /* METATF_METADATA only */
    uint64_t number;                 /* METATF_SECTION only: the section that begins */
};

struct metatf_reader;

/* Creates a reader.  `file` and `dtd` are borrowed for its life. */
enum step_status metatf_reader_create(struct metatf_file *file, const struct metatf_dtd *dtd,
                                      struct metatf_reader **out, struct step_error *error);

/* Reads the next record in the order of the index; metadata and comments are returned too.
 * Pointers in it live until the next call.  Returns END after the last record, and CORRUPT if the
 * header states a different number of data records.  CORRUPT and CUT have the file offset of the
 * record's first byte (in a compressed piece: of the piece), and the record's number.  Later calls
 * return the same error. */
enum step_status metatf_reader_next(struct metatf_reader *reader, struct metatf_event *event,
                                    struct step_error *error);

/* Checks that the reader fits code generated from `dtd`.  UNSUPPORTED: the reader's DTD describes
 * different traces. */
enum step_status metatf_reader_check(const struct metatf_reader *reader,
                                     const struct metatf_dtd *dtd, struct step_error *error);

/* Return the number of records of all kinds read so far, and the approximate input offset. */
uint64_t metatf_reader_record_number(const struct metatf_reader *reader);
uint64_t metatf_reader_offset(const struct metatf_reader *reader);
void metatf_reader_destroy(struct metatf_reader *reader);

/* ---- writing ---- */

struct metatf_writer_options {
    const struct metatf_dtd *dtd; /* borrowed for the writer's life */
    struct step_output output;
    enum metatf_layout layout;
    bool wide;
    bool short_ints; /* class 2 only: numbers of header, index and metadata have 4 bytes, as the
                        paper prints them; not with METATF_SEGMENTS */
    bool big_endian;
    bool embed_dtd; /* embed the DTD in the file; not possible with METATF_RECORDS */
    bool adapt;     /* write metadata automatically when a value does not fit */
    enum step_compression compression; /* default for all sections; see
                                          metatf_writer_set_compression() */
    int level;
    const char *dtd_name; /* at most 255 bytes */
    size_t segment_bytes; /* 0: the default */
};

/* Sets the defaults: class 2, this machine's byte order, METATF_SEGMENTS, embedded DTD, adapting,
 * no compression. */
void metatf_writer_options_init(struct metatf_writer_options *options);

struct metatf_writer;

enum step_status metatf_writer_create(const struct metatf_writer_options *options,
                                      struct metatf_writer **out, struct step_error *error);

/* Checks that the writer fits code generated from `dtd`, like metatf_reader_check(). */
enum step_status metatf_writer_check(const struct metatf_writer *writer,
                                     const struct metatf_dtd *dtd, struct step_error *error);

/* Sets the compression of the section with that number, from its next piece on. */
enum step_status metatf_writer_set_compression(struct metatf_writer *writer, uint32_t section,
                                               enum step_compression compression,
                                               struct step_error *error);

/* Appends a record to its section.  `section` is an index in the DTD, `record` in the section.
 * `values` have the layout of metatf_event; the tag's value, and those of fields that store lengths
 * of other fields, need not be correct.  LIMIT: a value does not fit the way its field is stored,
 * `*misfit` (may be NULL) is the field, and nothing was written.  An adapting writer returns it
 * only if no metadata can help. */
enum step_status metatf_writer_put(struct metatf_writer *writer, uint32_t section, uint32_t record,
                                   const struct metatf_value *values, size_t value_count,
                                   uint32_t *misfit, struct step_error *error);

/* Writes a comment of at most 255 bytes (more after metadata widened its length field). */
enum step_status metatf_writer_comment(struct metatf_writer *writer, uint32_t section,
                                       const void *text, size_t length, struct step_error *error);

/* Writes a metadata record.  INVALID: unknown record or field, or a property that it cannot
 * have. */
enum step_status metatf_writer_put_metadata(struct metatf_writer *writer, uint32_t section,
                                            const struct metatf_metadata *metadata,
                                            struct step_error *error);

/* Returns the offset of the last record in its section: the value for sectionOffset fields. */
uint64_t metatf_writer_position(const struct metatf_writer *writer);

/* Ends the pieces of all sections.  Records of different sections keep their order only across
 * flushes: between two flushes, pieces of sections with lower numbers come first. */
enum step_status metatf_writer_flush(struct metatf_writer *writer, struct step_error *error);
/* Writes the pending pieces and the index. */
enum step_status metatf_writer_close(struct metatf_writer *writer, struct step_error *error);
void metatf_writer_destroy(struct metatf_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
