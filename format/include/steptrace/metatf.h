/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meta-TF 1.0 (HATF paper, section 4 and Appendix B; docs/formats/metatf.md): traces that a DTD of
 * their own describes.  Here are the model of a DTD, a reader and a writer that a DTD drives at run
 * time.  What metatfc generates from a DTD stands on the same reader and writer (metatf_code.h).
 *
 * A DTD never changes once made and may be shared by threads; all else is used by one thread at a
 * time.  Numbers are unsigned 64-bit; arithmetic is modulo 2^64.
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

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* ---- the DTD ---- */

#define METATF_NO_FIELD UINT32_MAX
#define METATF_FIELD_LIMIT 4096u             /* fields of a record */
#define METATF_RECORD_BYTES_MAX (1u << 24)   /* bytes of one field */
#define METATF_REPEAT_LIMIT (1u << 22)       /* values that a record may repeat in all */
#define METATF_SEGMENT_BYTES_MAX (64u << 20) /* of a compressed piece of a section, unpacked */

enum metatf_kind {
    METATF_NUMBER, /* at most 8 bytes */
    METATF_BYTES   /* more, or as many as another field says */
};

/* A field as it stands in its record: groups and nested records are taken apart, so that metadata
 * can number them; the tag is field 0. */
struct metatf_field {
    const char *name; /* "length" */
    const char *path; /* unique in the record: "vfield.length" */
    enum metatf_kind kind;
    uint8_t interpretation;  /* enum step_field_interpretation */
    uint32_t width;          /* bytes; where the interpretation has none, those of a later one */
    uint32_t width_field;    /* whose value is the width, or METATF_NO_FIELD */
    uint64_t argument;       /* default, base, initial value or section */
    uint32_t argument_field; /* whose value is the argument, or METATF_NO_FIELD */
    uint64_t stride;
    bool has_value; /* the value is prescribed: */
    uint64_t value;
    uint32_t value_field; /* it is that field's value, or METATF_NO_FIELD */
    uint32_t repeat;      /* so many fields after this one are repeated, its value says how often */
    uint32_t cell;        /* where the previous value is kept, among those of the section */
};

enum metatf_role { METATF_DATA, METATF_COMMENT, METATF_SECTION, METATF_METADATA };

struct metatf_record {
    const char *name;
    enum metatf_role role;
    uint64_t tag;
    const struct metatf_field *fields; /* the tag first; of metadata the tag alone */
    uint32_t field_count;
    uint32_t first_state; /* how many fields the section's records before it have */
};

/* The records that may stand in a section: its own, the global ones, the predefined ones. */
struct metatf_section {
    const char *name; /* "" for the global section, 0 */
    uint32_t number;
    bool is_data; /* it has no records of its own: numbers for sectionStride, or anything */
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

/* Parses a DTD.  `name` stands for the text in messages.  On failure `*out` is NULL and `error`
 * has the first fault as "line:column: message"; `report`, when not NULL, is told every fault. */
enum step_status metatf_dtd_parse(const char *text, size_t length, const char *name,
                                  step_fault_visit report, void *user, struct metatf_dtd **out,
                                  struct step_error *error);
void metatf_dtd_destroy(struct metatf_dtd *dtd);

/* Index of the section or record, or UINT32_MAX. */
uint32_t metatf_dtd_section(const struct metatf_dtd *dtd, uint32_t number);
uint32_t metatf_section_record(const struct metatf_section *section, const char *name);
uint32_t metatf_record_field(const struct metatf_record *record, const char *path);

/* "none", "sectionStride"; "?" for a number that is none. */
const char *metatf_interpretation_name(unsigned interpretation);

/* ---- files ---- */

/* Where the sections lie in a file. */
enum metatf_layout {
    METATF_SEGMENTS, /* pieces with a header each, written as they come; the index is the last */
    METATF_INDEX,    /* as printed in the paper: the index stands in front; held in memory until
                        the end */
    METATF_RECORDS   /* no index: one run, in which section records tell of each change */
};

/* `read` fills exactly `size` bytes from `offset`, which lie inside the input. */
struct metatf_input {
    void *user;
    uint64_t size;
    enum step_status (*read)(void *user, uint64_t offset, void *buffer, size_t size,
                             struct step_error *error);
};

struct metatf_file;

struct metatf_file_about {
    bool wide;       /* class 2: 64-bit; else class 1, 32-bit */
    bool short_ints; /* of class 2, with the paper's ints: they have 4 bytes, not 8 */
    bool big_endian;
    enum metatf_layout layout;
    bool whole;        /* it has its end and its index */
    uint64_t records;  /* data records, 0 if the header does not tell */
    uint64_t segments; /* entries of the index */
    const char *dtd_name;
    const char *dtd_text; /* the DTD that the file carries; NULL: none */
    size_t dtd_length;
};

/* Reads header, index and embedded DTD.  FORMAT: no Meta-TF file.  A segmented file that was cut is
 * opened as far as it goes (`whole` is false).  CORRUPT: sections overlap, or lie in the header.
 * `input` is copied, and used while the file lives. */
enum step_status metatf_file_open(const struct metatf_input *input, const char *name,
                                  struct metatf_file **out, struct step_error *error);
const struct metatf_file_about *metatf_file_about(const struct metatf_file *file);
void metatf_file_close(struct metatf_file *file);

/* ---- reading ---- */

/* A value: of a METATF_NUMBER the number, of METATF_BYTES the bytes. */
struct metatf_value {
    uint64_t number;
    struct step_bytes bytes;
};

/* What a metadata record says: how a field of a record of its section is stored from here on. */
struct metatf_metadata {
    uint64_t tag;     /* of the record */
    uint32_t field;   /* its place in the record, 0 the tag */
    uint8_t property; /* METATF_PROPERTY_WIDTH, or that of an interpretation */
    uint64_t value;   /* width, base, initial value, default or section */
    uint64_t stride;
};

#define METATF_PROPERTY_WIDTH 0u
/* The paper's number of an interpretation (1 to 7), and back (UINT8_MAX: none). */
uint8_t metatf_property_of(unsigned interpretation);
uint8_t metatf_property_interpretation(unsigned property);

/* One record.  `values` has a value a field, in the order of the fields; of what is repeated, the
 * values of each element one after the other.  Of comments the text is the last value's bytes. */
struct metatf_event {
    const struct metatf_section *section;
    const struct metatf_record *record;
    const struct metatf_value *values;
    size_t value_count;
    uint64_t position; /* offset in the section's content: what sectionOffset fields name */
    struct metatf_metadata metadata; /* of METATF_METADATA */
    uint64_t number;                 /* of METATF_SECTION: the section that begins */
};

struct metatf_reader;

/* `file` and `dtd` are borrowed for the reader's life. */
enum step_status metatf_reader_create(struct metatf_file *file, const struct metatf_dtd *dtd,
                                      struct metatf_reader **out, struct step_error *error);

/* The next record in the order of the index, metadata and comments included; what it points to
 * lives until the next call.  END after the last; CORRUPT where the header tells of another number
 * of data records than there are.  CORRUPT and CUT have the offset in the file of
 * the record's first byte (of a compressed piece: of the piece) and the record's number; they
 * stay. */
enum step_status metatf_reader_next(struct metatf_reader *reader, struct metatf_event *event,
                                    struct step_error *error);

/* UNSUPPORTED: the DTD does not describe the same traces as `dtd`, from which code was generated
 * that is to use the reader. */
enum step_status metatf_reader_check(const struct metatf_reader *reader,
                                     const struct metatf_dtd *dtd, struct step_error *error);

/* Records so far, all kinds; bytes of the input up to the last, roughly. */
uint64_t metatf_reader_record_number(const struct metatf_reader *reader);
uint64_t metatf_reader_offset(const struct metatf_reader *reader);
void metatf_reader_destroy(struct metatf_reader *reader);

/* ---- writing ---- */

struct metatf_writer_options {
    const struct metatf_dtd *dtd; /* borrowed for the writer's life */
    struct step_output output;
    enum metatf_layout layout;
    bool wide;
    bool short_ints; /* of class 2: numbers of header, index and metadata have 4 bytes, as the paper
                        prints them; not with METATF_SEGMENTS */
    bool big_endian;
    bool embed_dtd; /* the file carries the DTD; not possible with METATF_RECORDS */
    bool adapt;     /* a value that does not fit makes the writer put metadata by itself */
    enum step_compression compression; /* of each section; see metatf_writer_set_compression() */
    int level;
    const char *dtd_name; /* at most 255 bytes */
    size_t segment_bytes; /* 0: the project's default */
};

/* Wide, of this machine's byte order, METATF_SEGMENTS, DTD embedded, adapting, not compressed. */
void metatf_writer_options_init(struct metatf_writer_options *options);

struct metatf_writer;

enum step_status metatf_writer_create(const struct metatf_writer_options *options,
                                      struct metatf_writer **out, struct step_error *error);

/* As metatf_reader_check(). */
enum step_status metatf_writer_check(const struct metatf_writer *writer,
                                     const struct metatf_dtd *dtd, struct step_error *error);

/* How the section with that number is compressed from its next piece on. */
enum step_status metatf_writer_set_compression(struct metatf_writer *writer, uint32_t section,
                                               enum step_compression compression,
                                               struct step_error *error);

/* Puts a record into its section; both are indices in the DTD and in the section.  `values` are as
 * a reader gives them; that of the tag, and of fields that say how long other fields are, need not
 * be right.  LIMIT: a value does not fit how its field is stored, `*misfit` (may be NULL) is the
 * field; nothing was written.  An adapting writer gives it only where no metadata helps. */
enum step_status metatf_writer_put(struct metatf_writer *writer, uint32_t section, uint32_t record,
                                   const struct metatf_value *values, size_t value_count,
                                   uint32_t *misfit, struct step_error *error);

/* A comment of at most 255 bytes (more, once metadata made its length wider). */
enum step_status metatf_writer_comment(struct metatf_writer *writer, uint32_t section,
                                       const void *text, size_t length, struct step_error *error);

/* INVALID: no such record or field, or not a property that it can have. */
enum step_status metatf_writer_put_metadata(struct metatf_writer *writer, uint32_t section,
                                            const struct metatf_metadata *metadata,
                                            struct step_error *error);

/* Offset in its section of the record put last: the value for sectionOffset fields. */
uint64_t metatf_writer_position(const struct metatf_writer *writer);

/* Ends the pieces of all sections here.  Across sections, order is kept from flush to flush: in
 * between, the pieces of sections with lower numbers stand first. */
enum step_status metatf_writer_flush(struct metatf_writer *writer, struct step_error *error);
/* Writes what is left, and the index. */
enum step_status metatf_writer_close(struct metatf_writer *writer, struct step_error *error);
void metatf_writer_destroy(struct metatf_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
