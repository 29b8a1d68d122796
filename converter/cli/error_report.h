/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on stderr and names on stdout, with unprintable characters escaped (step_show()). */
#ifndef CONVERTER_CLI_ERROR_REPORT_H
#define CONVERTER_CLI_ERROR_REPORT_H

#include <stdarg.h>
#include <stdio.h>

#include "steptrace/reader.h"
#include "steptrace/value.h"

/* The name of standard input in messages, and the path prefix of its seekable copy. */
#define STANDARD_INPUT_NAME "standard input"
#define COPY_PATH_START "/proc/self/fd/"
/* Returns what messages call the trace `path`: a copy of standard input has that name. */
const char *report_name(const char *path);

/* Prints "steptrace: ", the text and a newline on stderr. */
__attribute__((format(printf, 1, 2))) void report_line(const char *format, ...);
/* Prints the text on stderr, without prefix and newline. */
__attribute__((format(printf, 1, 0))) void report_text(const char *format, va_list values);

/* Reports that the trace `path` has no call stacks, and the command that records them. */
void report_no_stacks(const char *path);

/* Reports an error on stderr as "steptrace: ...".  Returns its status. */
enum step_status report_error(const struct step_error *error);

/* Reports that the verb cannot take the trace, and why.  Returns CORRUPT. */
enum step_status report_unfit(const char *path, const char *reason);
/* The end of a reason: why objects may have no sizes. */
#define NO_SIZES " (traces of the text format have none: record a .step file)"

/* Reports that memory ran out.  Returns NO_MEMORY. */
enum step_status report_no_memory(void);

/* The maximum number of damaged places that are reported for one trace.  report_damage_left()
 * reports how many of `count` were omitted. */
#define REPORT_DAMAGE_MOST ((size_t) 20)
void report_damage(const char *path, const struct step_damage *damage);
void report_damage_left(const char *path, size_t count);

/* Reports damaged blocks only, not that the trace was cut, is still being written or lost events
 * (report_reader_damage(), trace_gap.h).  Returns CORRUPT if there are any, else OK. */
enum step_status report_damaged_blocks(const struct step_reader *reader, const char *path);

/* Prints a name or any other text from a file, escaped. */
void print_shown(struct step_bytes text, FILE *out);
void print_shown_text(const char *text, FILE *out);
/* Returns what print_shown() prints, to be freed by the caller; NULL if out of memory. */
char *shown_copy(struct step_bytes text);
/* The same, but newlines and tabs are kept. */
void print_shown_lines(const char *text, FILE *out);
/* The same of a word of a command, in quotes where a shell would read it as something else. */
void print_shown_word(const char *word, FILE *out);
/* Prints a label in the first column of `steptrace info`. */
void print_shown_label(const char *label, FILE *out);

#endif
