/* SPDX-License-Identifier: Apache-2.0 */
/* CSV fields (RFC 4180): quoted, with quotes doubled. */
#ifndef CONVERTER_CLI_CSV_OUTPUT_H
#define CONVERTER_CLI_CSV_OUTPUT_H

#include <stdio.h>

#include "steptrace/value.h"

/* Writes a complete field of a file, with quotes around it; invalid UTF-8 is replaced
 * (utf8_text.h).  The caller checks `out` for errors. */
void csv_put_text(struct step_bytes text, FILE *out);
/* Writes a complete field of what a verb prints: escaped, since a terminal may show it. */
void csv_put_shown_text(struct step_bytes text, FILE *out);
/* The same without quotes unless the field needs them. */
void csv_put_shown_bare(struct step_bytes text, FILE *out);
/* Writes a part of a field, escaped as by print_shown().  The caller writes the enclosing
 * quotes. */
void csv_put_shown(struct step_bytes text, FILE *out);

#endif
