/* SPDX-License-Identifier: Apache-2.0 */
/* libzstd, looked for when it is needed and not by the loader: where it is missing, the program
 * that was to be traced runs all the same. */
#ifndef CAPTURE_MODULES_LATE_ZSTD_H
#define CAPTURE_MODULES_LATE_ZSTD_H

#include <stdbool.h>

/* True if it is there, or is not needed.  False: one message says what is missing, how that is
 * mended, and ends with `consequence`; nothing can be recorded then. */
bool late_zstd_load(const char *consequence);

#endif
