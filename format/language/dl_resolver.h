/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps from the parse tree to the tables of a definition share. */
#ifndef FORMAT_LANGUAGE_DL_RESOLVER_H
#define FORMAT_LANGUAGE_DL_RESOLVER_H

#include "format/language/dl_scope.h"
#include "format/language/dl_tree.h"

struct dl_resolver {
    struct dl_parse *parse;
    struct dl_scope_table scopes;
    struct dl_record **ordered; /* parents before children */
    uint32_t ordered_count;
    struct step_record *records;
    bool **by_value; /* of each record, of each field: are records held in place? */
    struct {
        uint32_t stamp, field;
    } by_field[4 * DL_FIELD_LIMIT]; /* names of the fields of the record being built */
    uint32_t stamp;                 /* entries with another are empty */
    uint32_t *nodes;                /* of each record: values nested in one, 0 while not counted */
};

/* Zeroed memory of the definition; NULL when out of memory, which is noted. */
void *dl_resolver_take(struct dl_resolver *resolver, size_t count, size_t size);

/* Makes the record's fields and attributes; those of its parent are made. */
void dl_build_record(struct dl_resolver *resolver, struct dl_record *record);

/* When all are built: modifiers lead somewhere, and no record holds itself or too much. */
void dl_verify_record(struct dl_resolver *resolver, const struct dl_record *record);

#endif
