/* SPDX-License-Identifier: Apache-2.0 */
/* The names file of an Elephant Tracks trace, and names as its lines have them. */
#ifndef CONVERTER_FORMATS_ELEPHANT_NAMES_H
#define CONVERTER_FORMATS_ELEPHANT_NAMES_H

#include <stdio.h>

#include "converter/base/id_table.h"
#include "converter/step/java_records.h"
#include "format/core/bytes.h"

struct elephant_names {
    const struct java_records *java; /* borrowed */
    FILE *out;                       /* borrowed */
    struct id_table sites;           /* uint8_t: has its line */
    struct step_buffer text;         /* scratch */
    bool no_memory;
};

void elephant_names_init(struct elephant_names *names, const struct java_records *java, FILE *out);
void elephant_names_reset(struct elephant_names *names);
/* Writes the lines of all classes, fields and methods. */
void elephant_names_write(struct elephant_names *names);
/* Writes the line of a site when it first allocates; 0: unknown. */
void elephant_names_put_site(struct elephant_names *names, uint32_t site, uint32_t class_id);
/* Prints a class as a type, "Ljava/lang/String;" or "[I". */
void elephant_print_type(struct elephant_names *names, struct step_bytes name, FILE *out);

#endif
