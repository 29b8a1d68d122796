/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zipped text format (docs/formats/text.md): a ZIP file whose entry `trace` has one event per
 * line.  Three levels: escaping of names and formatting of lines (pure functions on the caller's
 * memory), a streaming reader, and a streaming writer of whole files.
 *
 * Names are UTF-8; an unpaired surrogate in a name has its three-byte form (WTF-8).  In a line,
 * `:`, `\`, line feed, carriage return and unpaired surrogates are written `\uXXXX`.
 */
#ifndef STEPTRACE_TEXT_H
#define STEPTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* X(kind, fields after the time): T thread, C class name, M method name, O object */
#define STEP_TEXT_KIND_LIST(X)                                                                     \
    X(VS, "")                                                                                      \
    X(VI, "")                                                                                      \
    X(VD, "")                                                                                      \
    X(CL, "C")                                                                                     \
    X(OA, "CO")                                                                                    \
    X(OF, "CO")                                                                                    \
    X(TB, "T")                                                                                     \
    X(TE, "T")                                                                                     \
    X(MN, "TCMO")                                                                                  \
    X(MX, "TCM")                                                                                   \
    X(FP, "TCM")

enum step_text_kind {
#define STEP_TEXT_KIND_ENUM(name, fields) STEP_TEXT_##name,
    STEP_TEXT_KIND_LIST(STEP_TEXT_KIND_ENUM)
#undef STEP_TEXT_KIND_ENUM
        STEP_TEXT_KIND_COUNT
};

/* Return the two letters of a kind ("OA") and its fields as in STEP_TEXT_KIND_LIST ("CO"), or "?"
 * and "" for an unknown kind. */
const char *step_text_kind_name(enum step_text_kind kind);
const char *step_text_kind_fields(enum step_text_kind kind);

/* One line.  Members that the kind does not use are 0 (set by a parser, ignored by a formatter). */
struct step_text_event {
    enum step_text_kind kind;
    uint64_t time_ns;
    uint64_t thread;
    uint64_t object;
    struct step_bytes class_name;
    struct step_bytes method_name;
};

/* The longest line that a reader accepts, line feed included. */
#define STEP_TEXT_LINE_MAX ((size_t) 1 << 20)

/* Upper limit for the bytes of an escaped name. */
#define STEP_TEXT_ESCAPED_MAX(length) (6 * (size_t) (length))

/* Upper limit for the bytes of a line whose names, as written in the line, have these lengths. */
#define STEP_TEXT_LINE_SPACE(class_length, method_length)                                          \
    ((size_t) 72 + (size_t) (class_length) + (size_t) (method_length))

/* Writes the escaped form of `name` to `out`, which has room for STEP_TEXT_ESCAPED_MAX(name length)
 * bytes; no NUL is added.  Two three-byte surrogates that form a pair become one character.
 * Returns false, with undefined bytes in `out`, if the name is empty or not (generalised) UTF-8. */
bool step_text_escape(struct step_bytes name, char *out, size_t *length);

/* Formats a line with its line feed and returns its length; no NUL is added.  The event's names are
 * written as they are: the caller escapes each name once beforehand.  `out` has room for
 * STEP_TEXT_LINE_SPACE of their lengths.  The event must have a valid kind. */
size_t step_text_format_escaped(const struct step_text_event *event, char *out);

/* Formats a line whose names are not escaped yet.  `out` has room for
 * STEP_TEXT_LINE_SPACE(STEP_TEXT_ESCAPED_MAX(class length), STEP_TEXT_ESCAPED_MAX(method length)).
 * Returns 0 if a required name cannot be escaped. */
size_t step_text_format(const struct step_text_event *event, char *out);

/* Reason and position of a syntax error in a line. */
struct step_text_fault {
    const char *reason; /* a static string */
    size_t position;    /* of the faulty byte within the line */
};

/*
 * Parses a line of `length` bytes that ends with its line feed.  Accepts exactly the lines that
 * step_text_format() can write, so formatting the event again gives the same bytes.  `scratch` has
 * room for `length` bytes.  The event's names point into `line` or `scratch`.  On a syntax error,
 * returns false and fills `fault` (may be NULL); the event is then undefined.
 */
bool step_text_parse(const char *line, size_t length, uint8_t *scratch,
                     struct step_text_event *event, struct step_text_fault *fault);

/* ---- reading files ---- */

struct step_text_reader;

/* Opens a ZIP file.  IO: cannot be opened or read; FORMAT: not a ZIP file; CUT: it starts like a
 * ZIP file but has no directory, and its first entry is not `trace` (if it is, the readable part is
 * returned first, then CUT); NOT_FOUND: no entry `trace`; UNSUPPORTED: the entry is encrypted or
 * uses an unknown method, or the file is a pipe. */
enum step_status step_text_reader_open(const char *path, struct step_text_reader **out,
                                       struct step_error *error);
/* Open a ZIP file in memory, and the uncompressed text in memory.  The bytes are borrowed for the
 * reader's life; `name` identifies them in errors. */
enum step_status step_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct step_text_reader **out,
                                              struct step_error *error);
enum step_status step_text_reader_open_plain(const void *data, size_t length, const char *name,
                                             struct step_text_reader **out,
                                             struct step_error *error);
/* Opens the uncompressed text in a file or pipe, from the current position of the descriptor, which
 * is borrowed for the reader's life.  `size` is the expected number of bytes, 0 if unknown; fewer
 * bytes give CUT. */
enum step_status step_text_reader_open_file(int file, uint64_t size, const char *name,
                                            struct step_text_reader **out,
                                            struct step_error *error);

/* Reads the next event.  Its names live until the next call.  Returns END after the last line, if
 * the entry's checksum is right.  CORRUPT and CUT have the line's number in the message and, as
 * offset, that of the line (or of the first byte that could not be decompressed) within the
 * uncompressed entry.  Later calls return the same error. */
enum step_status step_text_reader_next(struct step_text_reader *reader,
                                       struct step_text_event *event, struct step_error *error);

/* Returns the number of the last event's line (1-based; 0 before the first). */
uint64_t step_text_reader_line(const struct step_text_reader *reader);
/* Return the bytes of the uncompressed entry up to the end of that line, and the entry's size from
 * the directory (untrusted; for progress only). */
uint64_t step_text_reader_offset(const struct step_text_reader *reader);
uint64_t step_text_reader_size(const struct step_text_reader *reader);

/* Returns the ZIP file's comment (untrusted; cut to 255 bytes), "" if there is none. */
const char *step_text_reader_remark(const struct step_text_reader *reader);

void step_text_reader_destroy(struct step_text_reader *reader);

/* ---- writing files ---- */

/* Writes a ZIP file with the single entry `trace`: deflate, always ZIP64 fields, the same bytes for
 * the same lines.  The first error is kept: later calls return its status, and close reports it. */
struct step_text_writer;

/* Creates or truncates the file at `path`, which must be seekable. */
enum step_status step_text_writer_create(const char *path, struct step_text_writer **out,
                                         struct step_error *error);

/* Appends whole lines, each with its line feed, unchanged. */
enum step_status step_text_writer_put_line(struct step_text_writer *writer, const void *line,
                                           size_t length);

/* Formats and appends an event with unescaped names.  INVALID: a name cannot be escaped. */
enum step_status step_text_writer_put(struct step_text_writer *writer,
                                      const struct step_text_event *event);

/* Sets the ZIP file's comment, of at most 255 bytes; a longer one is cut. */
void step_text_writer_set_remark(struct step_text_writer *writer, const char *remark);

/* Ends the entry and the ZIP file, which is not valid without this call. */
enum step_status step_text_writer_close(struct step_text_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed.  Never removes the file. */
void step_text_writer_destroy(struct step_text_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
