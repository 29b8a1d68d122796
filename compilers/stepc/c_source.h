/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --c: generates C structs, tables, writer and reader functions from a definition. */
#ifndef COMPILERS_STEPC_C_SOURCE_H
#define COMPILERS_STEPC_C_SOURCE_H

#include <stdio.h>

#include "compilers/compiler.h"
#include "steptrace/definition.h"

/* Names for the output.  `file` is the base name of the generated files ("java-trace"). */
struct c_output {
    const struct step_definition *definition;
    const char *file;
    const char *names_begin;         /* prefix of all names: --prefix, or "" */
    char base[COMPILER_BASE_SIZE];   /* the file as a C name ("java_trace") */
    char prefix[COMPILER_BASE_SIZE]; /* prefix of the enum: the package of all records if they share
                                        one, else the base name */
    char **names;                    /* C name of each record */
    bool *is_dictionary;             /* for each record, whether a field holds numbers of its
                                        entries */
};

/* Fills prefix, names and is_dictionary.  Returns false after printing the error. */
bool c_output_init(struct c_output *output, const char *file_name);
void c_output_reset(struct c_output *output);
/* Write the header and the source of a struct c_output. */
void c_output_header(const void *user, FILE *out);
void c_output_source(const void *user, FILE *out);

#endif
