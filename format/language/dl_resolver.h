/* SPDX-License-Identifier: Apache-2.0 */
/* State shared by the steps from the parse tree to the tables of a definition. */
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
    bool **by_value; /* by record and field: whether records are held in place */
    struct {
        uint32_t stamp, field;
    } by_field[4 * DL_FIELD_LIMIT]; /* names of the fields of the record being built */
    uint32_t stamp;                 /* entries with a different stamp are empty */
    uint32_t *nodes;                /* by record: number of values nested in one; 0: not counted
                                       yet */
};

/* Returns zeroed memory of the definition, or NULL (and notes it) when out of memory. */
void *dl_resolver_take(struct dl_resolver *resolver, size_t count, size_t size);

/* Builds the record's fields and attributes; the parent's must be built already. */
void dl_build_record(struct dl_resolver *resolver, struct dl_record *record);

/* Checks a record after all are built: paths of modifiers exist, and no record contains itself or
 * too many values. */
void dl_verify_record(struct dl_resolver *resolver, const struct dl_record *record);

#endif
