/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zipped text format (docs/formats/text.md): a ZIP file whose entry `trace` has one event a
 * line.  Three levels: names and lines, which are pure functions over the caller's memory; a reader
 * and a writer of whole files, which stream.
 *
 * Names are UTF-8; an unpaired surrogate in a name is its three-byte form (WTF-8).  In a line, `:`,
 * `\`, line feed, carriage return and unpaired surrogates are written `\uXXXX`.
 */
#ifndef STEPTRACE_TEXT_H
#define STEPTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"

/* What follows is what the shared library exports. */
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

/* The two letters of a kind ("OA") and its fields as in STEP_TEXT_KIND_LIST ("CO"); "?" and "" for
 * a number that is no kind. */
const char *step_text_kind_name(enum step_text_kind kind);
const char *step_text_kind_fields(enum step_text_kind kind);

/* One line.  What the kind does not have is 0 (a parser sets it so, a formatter ignores it). */
struct step_text_event {
    enum step_text_kind kind;
    uint64_t time_ns;
    uint64_t thread;
    uint64_t object;
    struct step_bytes class_name;
    struct step_bytes method_name;
};

/* The longest line that a reader takes, line feed included. */
#define STEP_TEXT_LINE_MAX ((size_t) 1 << 20)

/* The escaped form of a name takes at most this many bytes. */
#define STEP_TEXT_ESCAPED_MAX(length) (6 * (size_t) (length))

/* What a line takes at most when its names, as they stand in the line, have these lengths. */
#define STEP_TEXT_LINE_SPACE(class_length, method_length)                                          \
    ((size_t) 72 + (size_t) (class_length) + (size_t) (method_length))

/* Writes the escaped form of `name` to `out`, which has room for STEP_TEXT_ESCAPED_MAX(name length)
 * bytes; no NUL is added.  Two three-byte surrogates that make a pair become the character that
 * they stand for.  Returns false, with nothing useful in `out`, where the name is empty or not
 * (generalised) UTF-8. */
bool step_text_escape(struct step_bytes name, char *out, size_t *length);

/* Formats a line with its line feed; returns its length; no NUL is added.  The event's names are
 * taken as they are: the caller escaped them before, once for each name.  `out` has room for
 * STEP_TEXT_LINE_SPACE of them.  The event must be of a valid kind. */
size_t step_text_format_escaped(const struct step_text_event *event, char *out);

/* The same for names that are not escaped.  `out` has room for
 * STEP_TEXT_LINE_SPACE(STEP_TEXT_ESCAPED_MAX(class length), STEP_TEXT_ESCAPED_MAX(method length)).
 * Returns 0 where a name that the line needs cannot be escaped. */
size_t step_text_format(const struct step_text_event *event, char *out);

/* Why a line was refused. */
struct step_text_fault {
    const char *reason; /* a static string */
    size_t position;    /* of the byte, within the line, where the fault shows */
};

/*
 * Parses a line of `length` bytes, of which the last must be the line's line feed.  Accepts exactly
 * what step_text_format() can write, so that formatting the event again gives the same bytes.
 * `scratch` has room for `length` bytes.  The event's names point into `line` or `scratch`.
 * Returns false and fills `fault` (may be NULL) where the line is bad; the event is then undefined.
 */
bool step_text_parse(const char *line, size_t length, uint8_t *scratch,
                     struct step_text_event *event, struct step_text_fault *fault);

/* ---- reading files ---- */

struct step_text_reader;

/* Opens a ZIP file.  IO: cannot be opened or read; FORMAT: not a ZIP file; CUT: it starts like one
 * but its directory is missing, and its first entry is not `trace` (if it is, what can be unpacked
 * is read, and CUT comes after it); NOT_FOUND: it has no entry `trace`; UNSUPPORTED: the entry is
 * encrypted or packed with an unknown method, or the file is a pipe. */
enum step_status step_text_reader_open(const char *path, struct step_text_reader **out,
                                       struct step_error *error);
/* The same for a ZIP file in memory, and for the text itself in memory.  The bytes are borrowed for
 * the reader's life; `name` stands for them in errors. */
enum step_status step_text_reader_open_memory(const void *data, size_t length, const char *name,
                                              struct step_text_reader **out,
                                              struct step_error *error);
enum step_status step_text_reader_open_plain(const void *data, size_t length, const char *name,
                                             struct step_text_reader **out,
                                             struct step_error *error);
/* The same for the text in a file or pipe, from where the descriptor stands.  It is borrowed for
 * the reader's life.  `size`: the bytes that it has, 0 if that is not known; CUT comes after fewer.
 */
enum step_status step_text_reader_open_file(int file, uint64_t size, const char *name,
                                            struct step_text_reader **out,
                                            struct step_error *error);

/* The next event.  Its names live until the next call.  END after the last line, once the entry's
 * checksum proved right.  CORRUPT or CUT with the line's number in the message and, as the error's
 * offset, the offset of the line (or of the first byte that could not be unpacked) within the
 * unpacked entry.  After an error every call gives that error again. */
enum step_status step_text_reader_next(struct step_text_reader *reader,
                                       struct step_text_event *event, struct step_error *error);

/* Number of the line that the last event came from (from 1; 0 before the first). */
uint64_t step_text_reader_line(const struct step_text_reader *reader);
/* Bytes of the unpacked entry up to the end of that line, and the entry's size as the directory
 * states it (not to be trusted; good for progress). */
uint64_t step_text_reader_offset(const struct step_text_reader *reader);
uint64_t step_text_reader_size(const struct step_text_reader *reader);

void step_text_reader_destroy(struct step_text_reader *reader);

/* ---- writing files ---- */

/* Writes a ZIP file with the one entry `trace`: deflate, ZIP64 fields always, the same bytes for
 * the same lines.  Keeps its first error: later calls return that status, close reports it. */
struct step_text_writer;

/* Makes or empties the file at `path`, which must be seekable. */
enum step_status step_text_writer_create(const char *path, struct step_text_writer **out,
                                         struct step_error *error);

/* Appends whole lines, each with its line feed, as they are. */
enum step_status step_text_writer_put_line(struct step_text_writer *writer, const void *line,
                                           size_t length);

/* Formats and appends an event whose names are not escaped; INVALID where a name cannot be. */
enum step_status step_text_writer_put(struct step_text_writer *writer,
                                      const struct step_text_event *event);

/* Ends the entry and the ZIP file.  Without it the file is no ZIP file. */
enum step_status step_text_writer_close(struct step_text_writer *writer, struct step_error *error);

/* Frees the writer, closed or not; NULL is allowed.  Never removes the file. */
void step_text_writer_destroy(struct step_text_writer *writer);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
