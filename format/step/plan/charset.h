/* SPDX-License-Identifier: Apache-2.0 */
/* Character sets of the attribute `charset`, and validation of texts. */
#ifndef FORMAT_STEP_PLAN_CHARSET_H
#define FORMAT_STEP_PLAN_CHARSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum step_charset {
    STEP_CHARSET_ANY, /* none named, or an unknown one: not checked */
    STEP_CHARSET_ASCII,
    STEP_CHARSET_LATIN1,
    STEP_CHARSET_UTF8,
    STEP_CHARSET_UTF16, /* with a byte order mark, or big-endian */
    STEP_CHARSET_UTF16BE,
    STEP_CHARSET_UTF16LE
};

/* Returns the set by its name, in upper or lower case: US-ASCII, ISO-8859-1, UTF-8, UTF-16,
 * UTF-16BE, UTF-16LE. */
enum step_charset step_charset_find(const char *name, size_t length);

bool step_charset_valid(enum step_charset charset, const uint8_t *text, size_t length);

#endif
