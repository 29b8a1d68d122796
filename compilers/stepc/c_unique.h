/* SPDX-License-Identifier: Apache-2.0 */
/* The names that things of a definition have in C: no two are the same. */
#ifndef COMPILERS_STEPC_C_UNIQUE_H
#define COMPILERS_STEPC_C_UNIQUE_H

#include "compilers/stepc/c_source.h"

/* Fills output->prefix. */
void c_unique_prefix(struct c_output *output);
/* Fills output->names: each record gets as many underscores as make all its names its own, those
 * of records before it being taken.  False: a name is too long, or the base's begins like the
 * library's; said on stderr. */
bool c_unique_names(struct c_output *output, const char *file_name);

#endif
