/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that stay from run to run: numbers that a JVM or a library hands out as it goes are taken
 * out of the names of hidden classes, lambdas, proxies and generated classes, and out of those of
 * threads.  docs/answers/what-changed.md has the list.
 */
#ifndef CONVERTER_NUMBERS_LASTING_NAMES_H
#define CONVERTER_NUMBERS_LASTING_NAMES_H

#include <stddef.h>

#include "steptrace/value.h"

#define LASTING_NAME_MOST 1024u

/* Writes the class's lasting name, at most `out_size` bytes; returns the length. */
size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size);
/* Likewise a thread's: each number is `#`. */
size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size);

#endif
