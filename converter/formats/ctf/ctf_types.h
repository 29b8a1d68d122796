/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A definition as CTF can say it.  CTF's types hold no others of their own kind: a field that would
 * close such a circle is text (JSON) instead.
 */
#ifndef CONVERTER_FORMATS_CTF_CTF_TYPES_H
#define CONVERTER_FORMATS_CTF_CTF_TYPES_H

#include <stdbool.h>

#include "steptrace/definition.h"

struct ctf_types {
    const struct step_definition *definition; /* borrowed */
    uint32_t *order;                          /* all records, those that others hold first */
    size_t order_count;
    uint8_t **as_text; /* by record, by field: it is text */
    char **labels;     /* by record: its name as an identifier, each once */
};

/* False: out of memory; reset is allowed then. */
bool ctf_types_init(struct ctf_types *types, const struct step_definition *definition);
void ctf_types_reset(struct ctf_types *types);

/* Does the field, at `depth` of its arrays, hold a record in place (not a number of one, nor one
 * that may be of several types)? */
bool ctf_holds_record(const struct step_field *field);

#endif
