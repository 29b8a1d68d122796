/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the heaptrack folder: lines of a letter and hexadecimal numbers. */
#ifndef CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_LINES_H
#define CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "steptrace/value.h"

/* "+ 1f": `count` numbers, eight at most. */
void heaptrack_put_numbers(FILE *out, char kind, const uint64_t *numbers, size_t count);
/* "s java/lang/String": what would end the line is shown as `?`. */
void heaptrack_put_text(FILE *out, char kind, struct step_bytes text);

#endif
