/* SPDX-License-Identifier: Apache-2.0 */
/* The names of rotated files: NAME.000001.step, NAME.000002.step, ...; NAME.000002.2.step where
 * that name was taken.  Whoever gives such files one by one means their recording. */
#ifndef CONVERTER_CLI_ROTATED_NAMES_H
#define CONVERTER_CLI_ROTATED_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROTATED_ENDING ".step"
#define ROTATED_ENDING_LENGTH (sizeof ROTATED_ENDING - 1)

/* Returns true if the name, of this length, has the ending and something before it. */
bool rotated_ending_is(const char *name, size_t length);
/* Returns the length of the name, and sets the number, of a file that is named like one of them; 0
 * if it is not. */
size_t rotated_file_name(const char *file, uint64_t *number);
/* Returns true if this file is one of such files: its name and its properties say so. */
bool rotated_file_is(const char *file);
/* Returns the length of the name that two such files have without their numbers, or 0. */
size_t rotated_names_share(const char *one, const char *other);

#endif
