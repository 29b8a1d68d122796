/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of traces may be no UTF-8: readers of other formats count on it. */
#ifndef CONVERTER_TABLE_EXPORT_UTF8_TEXT_H
#define CONVERTER_TABLE_EXPORT_UTF8_TEXT_H

#include "format/core/bytes.h"
#include "steptrace/value.h"

/* Appends the text; what is no UTF-8 becomes U+FFFD, a byte at a time.  False: out of memory. */
bool utf8_append(struct step_buffer *out, struct step_bytes text);

#endif
