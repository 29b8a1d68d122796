/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a command as a function, with what it prints in memory, and reads JSON of it. */
#ifndef TESTS_UNIT_ANALYSES_VERB_OUTPUT_H
#define TESTS_UNIT_ANALYSES_VERB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

/* Calls a command, with arguments up to NULL.  Returns its status. */
enum step_status run_verb(enum step_status (*verb)(int argc, char **argv), ...)
    __attribute__((sentinel));
/* The same of any function that prints to standard output. */
void run_printing(void (*print)(const void *user), const void *user);

/* What the last call printed, with a NUL behind it. */
const char *run_out(void);
const char *run_err(void);
/* Returns whether it has the text. */
bool run_printed(const char *text);
bool run_reported(const char *text);

/* Parses JSON strictly: what the last call printed, or this text.  Returns false, and says why, if
 * it is none. */
bool run_json(void);
bool json_parse(const char *text);
/* Returns the value at a path of what was parsed, as "sites[0].class": the text of a string or
 * number, "true", "false", "null", "{" or "["; "(none)" if there is no such value. */
const char *json_at(const char *path);
uint64_t json_number_at(const char *path);
double json_real_at(const char *path);
/* Returns the number of the array's elements. */
size_t json_count(const char *path);

#endif
