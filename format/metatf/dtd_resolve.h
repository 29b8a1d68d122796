/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by the parts of dtd_resolve(): scopes, and the section and record under
 * construction.  All memory is from the parse's arena.  Functions that return false or NULL have
 * reported a fault or set out_of_memory.
 */
#ifndef FORMAT_METATF_DTD_RESOLVE_H
#define FORMAT_METATF_DTD_RESOLVE_H

#include "format/metatf/dtd_tree.h"

/* A scope of properties. */
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

/* A section while its records are built. */
struct section_work {
    struct dtd_parse *parse;
    const struct dtd_section *tree; /* NULL: the global one */
    struct metatf_section *out;
    struct cell *cells;
    uint32_t cell_capacity;
    uint32_t tag_width;
};

/* A record while its fields are collected. */
struct record_work {
    struct section_work *section;
    struct dtd_place place;
    const char *name;
    struct metatf_field *fields;
    uint32_t *groups; /* for each field, the repeated group that contains it */
    uint32_t count;
    uint32_t group_parents[METATF_FIELD_LIMIT];
    uint32_t group; /* 0: none */
    uint32_t group_count;
    uint32_t depth;
};

/* ---- dtd_check.c ---- */

/* Checks before the tables are made: reserved or duplicate names, properties that are set twice. */
bool dtd_check(struct dtd_parse *parse);
/* Checks afterwards: properties of nonexistent fields. */
void dtd_check_use(struct dtd_parse *parse);
/* Returns true if the record sets its tag's value, and marks that value as used. */
bool dtd_is_event(struct dtd_record *record);

/* ---- dtd_properties.c ---- */

/* Finds a property in this list only; NULL: there is none. */
struct dtd_property *dtd_find_in(struct dtd_property *properties, const char *field,
                                 const char *name);
/* Sets the field's properties from the innermost scopes.  Returns the scope of its interpretation,
 * or NULL if it has none, which is a fault. */
const struct scope *dtd_take_properties(struct record_work *record, struct metatf_field *field,
                                        struct dtd_place place, const struct scope *scope);

/* ---- dtd_fields.c ---- */

struct dtd_record *dtd_find_record(const struct dtd_defs *defs, const char *name);
/* Returns the cell with the field's last value; fields of one name and scope share it. */
uint32_t dtd_add_cell(struct section_work *section, const void *scope, const char *name);
/* Returns the next entry of the record's fields; the caller fills it in and counts it. */
struct metatf_field *dtd_add_field(struct record_work *record, const char *name, const char *prefix,
                                   struct dtd_place place);
bool dtd_add_vfield(struct record_work *record, const char *prefix);
/* Adds the fields of the tree, including those of groups and records in it; `prefix` is "outer.",
 * or "". */
bool dtd_add(struct record_work *record, const struct dtd_field *field, const char *prefix,
             const struct scope *scope);
bool dtd_add_list(struct record_work *record, const struct dtd_field *field, const char *prefix,
                  const struct scope *scope);

#endif
