/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the recorders, key=value with commas between, that these verbs read themselves. */
#ifndef CONVERTER_VERBS_RECORDING_OPTIONS_H
#define CONVERTER_VERBS_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes "mode=VALUE" to `pair`; false with `*fault`: VALUE is no octal mode from 600 to 666. */
bool recording_mode_pair(const char *value, char *pair, size_t size, const char **fault);
/* What the last `mode=` in these options asks for, 0600 if there is none. */
mode_t recording_mode(const char *options);
/* True if they ask for overwrite=yes. */
bool recording_overwrites(const char *options);

#endif
