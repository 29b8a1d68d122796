/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text out of files, made fit for people's terminals: what is no UTF-8, and what a terminal would
 * obey instead of showing it, stands as `\x1b`, byte for byte.
 */
#ifndef STEPTRACE_SHOW_H
#define STEPTRACE_SHOW_H

#include <stdbool.h>

#include "steptrace/value.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* Is the character a control (C0, DEL, C1), one of those that turn the direction of text, or a
 * separator of lines? */
bool step_show_is_control(uint32_t code);
/* The length of the UTF-8 character at `at` (`left` is at least 1), where it may be shown as it is;
 * 0: it is a control, or there is none (overlong forms, surrogates, values past U+10FFFF). */
size_t step_show_length(const uint8_t *at, size_t left);
/* The text for showing, NUL-terminated and cut where it does not fit; returns its length. */
size_t step_show(struct step_bytes text, char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
