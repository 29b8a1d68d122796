/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the generated C code, for stepc and metatfc. */
#ifndef COMPILERS_C_NAMES_H
#define COMPILERS_C_NAMES_H

#include <stddef.h>

#include "steptrace/definition.h"

#define C_NAME_SIZE 512

/* Return true if the name is a C or C++ keyword, a macro of a standard header, or reserved for the
 * implementation; or if it is a type of a standard header. */
bool c_names_is_reserved(const char *name);
bool c_names_is_type(const char *name);

/* Converts "zoo.NightFeeding" to "zoo_night_feeding".  The record's final C name may differ. */
void c_names_of_record(const char *name, char *out, size_t size);
void c_names_upper(const char *name, char *out, size_t size);
/* Copies the field's name, with an underscore appended if it is reserved.  Returns `out`. */
const char *c_names_of_field(const struct step_field *field, char *out, size_t size);
/* Like c_names_of_field() for a record's field by index; the name is unique among the record's
 * fields. */
const char *c_names_of_member(const struct step_record *record, size_t field, char *out,
                              size_t size);

#endif
