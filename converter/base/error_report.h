/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to people: lines on stderr, and names on stdout, both as step_show() has them. */
#ifndef CONVERTER_BASE_ERROR_REPORT_H
#define CONVERTER_BASE_ERROR_REPORT_H

#include <stdarg.h>
#include <stdio.h>

#include "steptrace/reader.h"
#include "steptrace/value.h"

/* What standard input is called, and where a copy of it is opened. */
#define STANDARD_INPUT_NAME "standard input"
#define COPY_PATH_START "/proc/self/fd/"

/* "steptrace: " and the text as a line on stderr. */
__attribute__((format(printf, 1, 2))) void report_line(const char *format, ...);
/* Without the words in front, and with what is given behind. */
__attribute__((format(printf, 1, 0))) void report_text(const char *format, va_list values);

/* What is missing, and the command that would have recorded it. */
void report_no_stacks(const char *path);

/* Tells an error on stderr as "steptrace: ...", and returns its status. */
enum step_status report_error(const struct step_error *error);

/* Places of damage that are printed of a trace; report_damage_left() prints how many more of the
 * `count` there are. */
#define REPORT_DAMAGE_MOST ((size_t) 20)
void report_damage(const char *path, const struct step_damage *damage);
void report_damage_left(const char *path, size_t count);

/* The damage of a STEP file that a verb reads by itself.  CORRUPT if there is any, else OK. */
enum step_status report_reader_damage(const struct step_reader *reader, const char *path);
/* Only the damaged blocks: not that the trace was cut, is still written or lost events. */
enum step_status report_damaged_blocks(const struct step_reader *reader, const char *path);

/* A name, or any other text from a file. */
void print_shown(struct step_bytes text, FILE *out);
void print_shown_text(const char *text, FILE *out);
/* The same, but lines and tabs stay. */
void print_shown_lines(const char *text, FILE *out);
/* The first column of `steptrace info`. */
void print_shown_label(const char *label, FILE *out);

#endif
