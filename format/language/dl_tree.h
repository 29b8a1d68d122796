/* SPDX-License-Identifier: Apache-2.0 */
/* The parse tree of a STEP-DL text, before names are resolved. */
#ifndef FORMAT_LANGUAGE_DL_TREE_H
#define FORMAT_LANGUAGE_DL_TREE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/core/arena.h"
#include "format/core/input_file.h"
#include "steptrace/definition.h"

struct dl_scope;

struct dl_place {
    uint32_t line, column;
};

struct dl_attribute {
    const char *group, *value;
    struct dl_place place;
    struct dl_attribute *next;
};

/* An attributed type: the innermost type with its attributes, then one level for each `[]`. */
struct dl_type {
    enum step_type_kind kind;
    const char *name; /* of a user type */
    struct dl_place place;
    struct dl_attribute *attributes;
    struct dl_type *element; /* type of the elements; NULL: not an array */
};

struct dl_field {
    const char *name, *description;
    struct dl_place place;
    const struct dl_type *type;
    struct dl_attribute *attributes;
    struct dl_field *next;
};

struct dl_modifier {
    bool replaces; /* has a '!' */
    const char *path;
    struct dl_place place;
    struct dl_attribute *attributes;
    struct dl_modifier *next;
};

struct dl_record {
    const char *name; /* absolute */
    const char *package;
    const char *label, *description, *parent;
    struct dl_place place, parent_place;
    bool drops_attributes; /* has `extends !` */
    struct dl_attribute *attributes;
    struct dl_field *fields;
    struct dl_modifier *modifiers;
    struct dl_record *next;
    /* set by the resolver */
    const struct dl_scope *scope; /* of its package */
    uint32_t index;
    uint32_t depth; /* 1: no parent; 0: not resolved yet */
    bool resolving;
    bool broken; /* the fields are unknown because of a fault in it or an ancestor */
    struct dl_record *parent_record;
};

/* A segment of the expanded text: from `line` of the whole on, it has lines of `name`, of which the
 * first starts at `first_column`. */
struct dl_segment {
    uint32_t line;
    const char *name;
    uint32_t first_line, first_column;
};

struct dl_expansion {
    const char *text; /* NUL-terminated; NULL before expansion */
    size_t length;
    struct dl_segment *segments;
    size_t segment_count;
};

/* State of one parse. */
struct dl_parse {
    struct step_arena *arena;
    const struct step_definition_options *options;
    const char *name; /* of the text, for messages */
    struct dl_expansion expansion;
    const char *package;
    uint32_t package_depth;
    struct dl_record *first_record, *last_record;
    uint32_t record_count;
    uint32_t fault_count;
    bool out_of_memory;
    bool unended; /* the text ended within a token, which was reported */
    struct step_error *error;
};

#define DL_TEXT_LIMIT ((size_t) 16 << 20)
#define DL_MEMORY_LIMIT ((size_t) 256 << 20)
#define DL_RECORD_LIMIT 65535u
#define DL_PACKAGE_LIMIT 64u
#define DL_INHERITANCE_LIMIT 1000u
#define DL_ARRAY_LIMIT 8u
#define DL_SLOT_LIMIT 65536u
#define DL_FIELD_LIMIT 4096u
#define DL_NAME_LIMIT 1024u     /* bytes of an absolute name or a path */
#define DL_ATTRIBUTE_LIMIT 256u /* per element */
#define DL_VALUE_LIMIT 4096u    /* bytes of an attribute's value */

/* Returns the records of a parsed definition as written in its text. */
const struct dl_record *dl_definition_tree(const struct step_definition *definition);

/* Returns the index of the record's field of that name, or SIZE_MAX. */
size_t dl_find_field(const struct step_record *record, const char *name, size_t length);
/* Returns the index of a record by absolute name, or by name in the package of `near`, another
 * record's name; or STEP_NO_RECORD. */
uint32_t dl_find_record(const struct step_definition *definition, const char *near,
                        const char *name, size_t length);

/* A part of a record: a field, or what is within it. */
struct dl_part {
    const struct step_record *record; /* that has the field */
    size_t field;
    uint32_t depth; /* remaining depth of the field's arrays */
    bool is_nested; /* in a record that is in a field */
    bool is_length; /* of the field, not the value */
};

/* Follows a path like "field.element.inner.length" from a record; `records` are those of the
 * definition.  Returns false if it leads nowhere. */
bool dl_follow_path(const struct step_record *records, const struct step_record *record,
                    const char *path, struct dl_part *part);

/* Returns the number of a field's slots: of a nested record those of its fields. */
size_t dl_field_slots(const struct step_definition *definition, const struct step_field *field);
/* Returns the slot of a field that is no nested record for a value that is missing. */
uint64_t dl_empty_slot(const struct step_field *field);

/* Returns how many of the record's attributes are inherited. */
size_t dl_inherited_attributes(const struct step_definition *definition, uint32_t record);

/* Fills a fault, except for its message, at a position of a parsed definition's text. */
void dl_definition_locate(const struct step_definition *definition, struct dl_place place,
                          struct step_fault *fault);

/* Resolves names and makes the definition's tables in the parse's arena. */
bool dl_resolve(struct dl_parse *parse, struct step_definition *out);

/* State of the scanner besides flex's own. */
struct dl_scan {
    struct step_arena *arena;
    struct dl_parse *parse;
    jmp_buf fatal; /* target of flex's fatal errors, instead of exit() */
};

/* ---- faults in a definition's text ---- */

/* Maximum number of reported faults. */
#define DL_FAULT_LIMIT 100u

/* Reports a fault at a position of the whole text; the first also fills the caller's error. */
__attribute__((format(printf, 3, 4))) void dl_fault(struct dl_parse *parse, struct dl_place place,
                                                    const char *format, ...);

/* Reports a fault at a position of a file. */
void dl_fault_in(struct dl_parse *parse, const struct step_fault *fault);

/* Fills name, line, columns, and the text of the line, of a fault at a position of an expanded text
 * called `name`. */
void dl_locate_in(const struct dl_expansion *expansion, const char *name, struct dl_place place,
                  struct step_fault *fault);

/* Fills parse->expansion.  Faulty includes are reported and left out.  Returns false if memory runs
 * out. */
bool dl_expand(struct dl_parse *parse, const char *text, size_t length);
/* Reads `path` into the arena.  Returns NULL and fills `error` on failure. */
const char *dl_read_file(struct step_arena *arena, const char *path, enum input_kind kind,
                         size_t *length, struct step_error *error);

#endif
