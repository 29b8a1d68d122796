/* SPDX-License-Identifier: Apache-2.0 */
/* The text format, in a ZIP entry (text) or as a plain file (lines). */
#ifndef CONVERTER_FORMATS_TEXT_TEXT_LINES_H
#define CONVERTER_FORMATS_TEXT_TEXT_LINES_H

#include "converter/trace/trace_format.h"

/* A bool for verbs that print lines for people: also escapes control characters in names. */
extern const struct format_options shown_options;

#endif
