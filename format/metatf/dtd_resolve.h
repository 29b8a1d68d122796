/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of dtd_resolve() share: scopes, the section and the record that are being made.
 * All memory is the parse's arena; what returns false or NULL has told a fault or set
 * out_of_memory.
 */
#ifndef FORMAT_METATF_DTD_RESOLVE_H
#define FORMAT_METATF_DTD_RESOLVE_H

#include "format/metatf/dtd_tree.h"

/* Where properties may stand. */
struct scope {
    struct dtd_property *properties;
    const struct scope *outer;
    const void *identity; /* the record, section or DTD of the tree */
    const struct dtd_section *section;
};

struct cell {
    const void *scope;
    const char *name;
};

/* A section while its records are made. */
struct section_work {
    struct dtd_parse *parse;
    const struct dtd_section *tree; /* NULL: the global one */
    struct metatf_section *out;
    struct cell *cells;
    uint32_t cell_capacity;
    uint32_t tag_width;
};

/* A record while its fields are found. */
struct record_work {
    struct section_work *section;
    struct dtd_place place;
    const char *name;
    struct metatf_field *fields;
    uint32_t *groups; /* of each field the repeated group that it stands in */
    uint32_t count;
    uint32_t group_parents[METATF_FIELD_LIMIT];
    uint32_t group; /* 0: none */
    uint32_t group_count;
    uint32_t depth;
};

/* ---- dtd_check.c ---- */

/* Before the tables are made: names that are reserved or twice, properties that are set twice. */
bool dtd_check(struct dtd_parse *parse);
/* After: properties of fields that there are not. */
void dtd_check_use(struct dtd_parse *parse);
/* A record with a tag's value; the value counts as used. */
bool dtd_is_event(struct dtd_record *record);

/* ---- dtd_properties.c ---- */

/* In this list alone; NULL: there is none. */
struct dtd_property *dtd_find_in(struct dtd_property *properties, const char *field,
                                 const char *name);
/* Fills in what the innermost scopes say of the field; the scope of its interpretation, NULL: it
 * has none, which is a fault. */
const struct scope *dtd_take_properties(struct record_work *record, struct metatf_field *field,
                                        struct dtd_place place, const struct scope *scope);

/* ---- dtd_fields.c ---- */

struct dtd_record *dtd_find_record(const struct dtd_defs *defs, const char *name);
/* The number of the cell that remembers the field's last value; fields of one name and scope share
 * it. */
uint32_t dtd_add_cell(struct section_work *section, const void *scope, const char *name);
/* The next of the record's fields, which the caller fills in and counts. */
struct metatf_field *dtd_add_field(struct record_work *record, const char *name, const char *prefix,
                                   struct dtd_place place);
bool dtd_add_vfield(struct record_work *record, const char *prefix);
/* The fields of the tree, with those of groups and records in them; prefix: "outer.", or "". */
bool dtd_add(struct record_work *record, const struct dtd_field *field, const char *prefix,
             const struct scope *scope);
bool dtd_add_list(struct record_work *record, const struct dtd_field *field, const char *prefix,
                  const struct scope *scope);

#endif
