/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --c: a definition as C structs, tables, writer and reader functions. */
#ifndef COMPILERS_STEPC_C_SOURCE_H
#define COMPILERS_STEPC_C_SOURCE_H

#include <stdio.h>

#include "compilers/compiler.h"
#include "steptrace/definition.h"

/* `file` is the name of the files without directory and ending ("java-trace"). */
struct c_output {
    const struct step_definition *definition;
    const char *file;
    const char *names_begin;         /* all of them: --prefix, or "" */
    char base[COMPILER_BASE_SIZE];   /* of the file as a C name ("java_trace") */
    char prefix[COMPILER_BASE_SIZE]; /* of the enum: the package that all records are in, else the
                                        base */
    char **names;                    /* of each record, in C */
    bool *is_dictionary;             /* of each record: does a field hold numbers of its entries? */
};

/* Fills prefix, names and is_dictionary.  False: said why on stderr. */
bool c_output_init(struct c_output *output, const char *file_name);
void c_output_reset(struct c_output *output);
void c_output_header(const struct c_output *output, FILE *out);
void c_output_source(const struct c_output *output, FILE *out);

#endif
