/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libzstd when it is needed, instead of linking to it. If it is missing, the traced program
 * still runs. */
#ifndef CAPTURE_MODULES_LATE_ZSTD_H
#define CAPTURE_MODULES_LATE_ZSTD_H

#include <stdbool.h>

/* Returns true if libzstd is loaded, or not needed. Otherwise logs what is missing and how to
 * install it, followed by `consequence`, and returns false: nothing can be recorded. */
bool late_zstd_load(const char *consequence);
/* Looks for it, without a message.  Call it when this module has been loaded: the directory where
 * the module lay may be anybody's later. */
void late_zstd_find(void);

#endif
