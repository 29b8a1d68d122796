/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes text from files for display on a terminal: bytes that are not UTF-8, and characters that
 * a terminal would interpret, become `\x1b` escapes, byte for byte.
 */
#ifndef STEPTRACE_SHOW_H
#define STEPTRACE_SHOW_H

#include <stdbool.h>

#include "steptrace/value.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Returns true for a control character (C0, DEL, C1), a bidirectional control, or a line
 * separator. */
bool step_show_is_control(uint32_t code);
/* Returns the length of the UTF-8 character at `at` (`left` is at least 1) if it can be displayed
 * as it is.  Returns 0 for a control character or invalid UTF-8 (overlong forms, surrogates, values
 * beyond U+10FFFF). */
size_t step_show_length(const uint8_t *at, size_t left);
/* Writes the escaped text, NUL-terminated and truncated to `out_size`.  Returns its length. */
size_t step_show(struct step_bytes text, char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
