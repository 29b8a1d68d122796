/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A STEP definition in terms of CTF's types.  CTF types cannot be recursive: a field that would
 * close a cycle of types is encoded as text (JSON).
 */
#ifndef CONVERTER_FORMATS_CTF_CTF_TYPES_H
#define CONVERTER_FORMATS_CTF_CTF_TYPES_H

#include <stdbool.h>

#include "steptrace/definition.h"

struct ctf_types {
    const struct step_definition *definition; /* borrowed */
    uint32_t *order;                          /* all records, contained records first */
    size_t order_count;
    uint8_t **as_text; /* by record and field: encoded as text */
    char **labels;     /* by record: its name as a unique identifier */
};

/* Returns false if memory runs out; call reset in any case. */
bool ctf_types_init(struct ctf_types *types, const struct step_definition *definition);
void ctf_types_reset(struct ctf_types *types);

/* Returns true if the field, or an element of its arrays, stores a record in place: neither a
 * record number nor a variant of several types. */
bool ctf_holds_record(const struct step_field *field);

#endif
