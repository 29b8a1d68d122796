/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of traces may be no UTF-8: readers of other formats count on it. */
#ifndef CONVERTER_BASE_UTF8_TEXT_H
#define CONVERTER_BASE_UTF8_TEXT_H

#include <stdio.h>

#include "format/core/bytes.h"
#include "steptrace/value.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Returns the length of the UTF-8 sequence that the bytes begin with; 0 if they begin with none. */
size_t utf8_sequence(const uint8_t *at, size_t left);
/* Appends the text; what is no UTF-8 becomes U+FFFD, a byte at a time.  False: out of memory. */
bool utf8_append(struct step_buffer *out, struct step_bytes text);
/* Prints it likewise. */
void utf8_print(struct step_bytes text, FILE *out);

#endif
