/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the generated C. */
#ifndef COMPILERS_C_NAMES_H
#define COMPILERS_C_NAMES_H

#include <stddef.h>

#include "steptrace/definition.h"

#define C_NAME_SIZE 512

/* Is it a keyword, a macro of the standard headers, or the compiler's?  A type of these? */
bool c_names_is_reserved(const char *name);
bool c_names_is_type(const char *name);

/* "zoo.NightFeeding" to "zoo_night_feeding"; not always the record's name in C. */
void c_names_of_record(const char *name, char *out, size_t size);
void c_names_upper(const char *name, char *out, size_t size);
/* A reserved name gets an underscore behind it.  Returns `out`. */
const char *c_names_of_field(const struct step_field *field, char *out, size_t size);
/* The same of a record's field by its index, and no other field of the record has that name. */
const char *c_names_of_member(const struct step_record *record, size_t field, char *out,
                              size_t size);

#endif
