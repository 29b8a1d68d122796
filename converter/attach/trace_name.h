/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a trace name that replaces no file. */
#ifndef CONVERTER_ATTACH_TRACE_NAME_H
#define CONVERTER_ATTACH_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the first free name to `out`: `wanted`, or `wanted` with a number before its extension
 * (run.2.step).  A name is free if neither a trace nor a live file has it.  Returns false if there
 * is none or it is too long. */
bool trace_name_free(const char *wanted, char *out, size_t size);

#endif
