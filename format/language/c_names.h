/* SPDX-License-Identifier: Apache-2.0 */
/* Names in the generated C. */
#ifndef C_NAMES_H
#define C_NAMES_H

#include "c_output.h"

#define C_NAME_SIZE 512

/* "zoo.NightFeeding" to "zoo_night_feeding". */
void c_names_of_record(const char *name, char *out, size_t size);
void c_names_upper(const char *name, char *out, size_t size);
/* A keyword gets an underscore behind it.  Returns `out`. */
const char *c_names_of_field(const struct step_field *field, char *out, size_t size);

/* Fills output->prefix. */
void c_names_find_prefix(struct c_output *output);
/* False where two things would have one name, or one of the library's: said on stderr. */
bool c_names_check(struct c_output *output, const char *file_name);

#endif
