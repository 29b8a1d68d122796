/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are stable from run to run.  Removes numbers that a JVM or a library assigns at run
 * time from the names of hidden classes, lambdas, proxies, generated classes and threads.
 * docs/answers/what-changed.md has the list.
 */
#ifndef CONVERTER_NUMBERS_LASTING_NAMES_H
#define CONVERTER_NUMBERS_LASTING_NAMES_H

#include <stddef.h>

#include "steptrace/value.h"

#define LASTING_NAME_MOST 1024u

/* Writes the stable name of a class, at most `out_size` bytes, and returns the length. */
size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size);
/* The same for a thread: each number becomes `#`. */
size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size);

#endif
