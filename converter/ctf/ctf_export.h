/* SPDX-License-Identifier: Apache-2.0 */
/* A STEP trace of any definition as a CTF 1.8 trace, which is a directory. */
#ifndef CONVERTER_CTF_CTF_EXPORT_H
#define CONVERTER_CTF_CTF_EXPORT_H

#include <stdbool.h>

#include "converter/records/record_filter.h"

/* By name ("ctf"), or by the ending of a path (".ctf"). */
bool ctf_is_name(const char *name);
bool ctf_is_ending(const char *path);
/* Its line of `steptrace convert --help`. */
void ctf_help(char *out, size_t out_size);

/* `path` is a STEP trace ("-": standard input), `output` the directory.  CORRUPT where the trace is
 * damaged or cut: what is whole was written then.  Faults are told. */
enum step_status ctf_export(const char *path, const char *output,
                            const struct record_selection *selected);

#endif
