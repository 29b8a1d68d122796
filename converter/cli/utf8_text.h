/* SPDX-License-Identifier: Apache-2.0 */
/* Valid UTF-8 for output formats that require it: texts in traces may contain other bytes. */
#ifndef CONVERTER_CLI_UTF8_TEXT_H
#define CONVERTER_CLI_UTF8_TEXT_H

#include <stdio.h>

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* Orders texts by their bytes, as their code points are; a text is before those that it begins. */
int utf8_order(struct step_bytes a, struct step_bytes b);

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Appends the text, replacing each invalid byte by U+FFFD.  Returns false if out of memory. */
bool utf8_append(struct step_buffer *out, struct step_bytes text);
/* Prints the text, replacing each invalid byte by U+FFFD. */
void utf8_print(struct step_bytes text, FILE *out);
/* The same for a format of lines: control characters become `?`, and `separator` (0: none), which
 * the format uses itself, a comma. */
void utf8_print_in_line(struct step_bytes text, char separator, FILE *out);

#endif
