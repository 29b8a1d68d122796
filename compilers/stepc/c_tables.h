/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a definition in C. */
#ifndef COMPILERS_STEPC_C_TABLES_H
#define COMPILERS_STEPC_C_TABLES_H

#include "compilers/stepc/c_source.h"

void c_tables_put(const struct c_output *output, FILE *out);

#endif
