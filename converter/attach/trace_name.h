/* SPDX-License-Identifier: Apache-2.0 */
/* The name of a trace that replaces nothing. */
#ifndef CONVERTER_ATTACH_TRACE_NAME_H
#define CONVERTER_ATTACH_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Writes `wanted`, or with a number before its ending (run.2.step) the first name that neither a
 * trace nor a live file has.  False: there is none, or it is too long. */
bool trace_name_free(const char *wanted, char *out, size_t size);

#endif
