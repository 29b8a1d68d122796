/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as fields of CSV (RFC 4180): in quotes, and those within them doubled. */
#ifndef CONVERTER_BASE_CSV_OUTPUT_H
#define CONVERTER_BASE_CSV_OUTPUT_H

#include <stdio.h>

#include "steptrace/value.h"

/* A whole field, its bytes as they are.  Errors of `out` are the caller's to look at. */
void csv_put_text(struct step_bytes text, FILE *out);
/* A part of a field, as print_shown() has it; the quotes around the field are the caller's. */
void csv_put_shown(struct step_bytes text, FILE *out);

#endif
