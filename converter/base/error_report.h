/* SPDX-License-Identifier: Apache-2.0 */
/* What is said to people: lines on stderr, and names on stdout, both as step_show() has them. */
#ifndef CONVERTER_BASE_ERROR_REPORT_H
#define CONVERTER_BASE_ERROR_REPORT_H

#include <stdarg.h>
#include <stdio.h>

#include "steptrace/value.h"

/* "steptrace: " and the text as a line on stderr. */
__attribute__((format(printf, 1, 2))) void report_line(const char *format, ...);
/* Without the words in front, and with what is given behind. */
__attribute__((format(printf, 1, 0))) void report_text(const char *format, va_list values);

/* A name, or any other text from a file. */
void print_shown(struct step_bytes text, FILE *out);
void print_shown_text(const char *text, FILE *out);
/* The same, but lines and tabs stay. */
void print_shown_lines(const char *text, FILE *out);
/* The first column of `steptrace info`. */
void print_shown_label(const char *label, FILE *out);

#endif
