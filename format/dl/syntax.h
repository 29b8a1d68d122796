/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree of a STEP-DL text, and the state of one run of the parser: what scanner, grammar
 * and resolver share.  Tree and model live in the pools of the run.
 */
#ifndef STEP_DL_SYNTAX_H
#define STEP_DL_SYNTAX_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"
#include "steptrace/definition.h"

enum {
    STEP_DL_MAX_TEXT = 16 << 20,
    STEP_DL_MAX_RECORDS = 100000,
    STEP_DL_MAX_INHERITANCE = 1000,
    STEP_DL_MAX_PACKAGES = 64, /* nested in each other */
    STEP_DL_MAX_ARRAY = 8,
    STEP_DL_MAX_NESTING = 64,     /* records by value in each other */
    STEP_DL_MAX_PARTS = 65536,    /* fields of a record with those of records by value in it */
    STEP_DL_MAX_FIELDS = 16384,   /* of a record */
    STEP_DL_MAX_ATTRIBUTES = 1024, /* of a record or a field */
    STEP_DL_MAX_SUB_FIELDS = 256, /* modified ones of a field */
    STEP_DL_MAX_NAME = 255,       /* bytes between dots */
    STEP_DL_MAX_DOTTED = 1023,    /* bytes of an absolute name */
    STEP_DL_MAX_FAULTS = 100,
};
#define STEP_DL_POOL_BUDGET ((size_t) 256 << 20)

/* 1-based; columns count characters. */
struct step_dl_place {
    uint32_t line;
    uint32_t column;
};

/* A name, stored once: equal names have equal pointers. */
struct step_dl_symbol {
    struct step_dl_symbol *next; /* of the same hash */
    uint32_t hash;
    uint32_t length;
    uint32_t marked_by;  /* record that is being resolved, plus 1, which has a field of the name */
    uint32_t mark_field; /* the index of that field */
    char text[];
};

struct step_dl_name_part {
    struct step_dl_symbol *symbol;
    struct step_dl_name_part *next;
};

/* a.b.C, or .a.b.C */
struct step_dl_name {
    struct step_dl_name_part *first, *last;
    uint32_t count;
    bool absolute;
    struct step_dl_place place;
};

struct step_dl_attribute {
    struct step_attribute attribute;
    struct step_dl_attribute *next;
};

struct step_dl_attributes {
    struct step_dl_attribute *first, *last;
    size_t count;
};

/* `levels[0]` are the attributes of the innermost element, `levels[array_depth]` of the whole. */
struct step_dl_type {
    enum step_type_kind kind;
    struct step_dl_name *record;
    uint32_t array_depth;
    struct step_dl_attributes levels[STEP_DL_MAX_ARRAY + 1];
};

struct step_dl_field {
    struct step_dl_symbol *symbol;
    const char *description;
    const struct step_dl_type *type;
    struct step_dl_attributes *attributes;
    struct step_dl_place place;
    struct step_dl_field *next;
};

struct step_dl_modifier {
    bool replace;
    struct step_dl_name *path;
    struct step_dl_attributes *attributes;
    struct step_dl_modifier *next;
};

struct step_dl_package {
    struct step_dl_package *parent; /* NULL: the root */
    const char *name;               /* absolute; "" for the root */
    uint32_t depth;
};

enum step_dl_stage {
    STEP_DL_STAGE_DESCRIPTION,
    STEP_DL_STAGE_ATTRIBUTES,
    STEP_DL_STAGE_FIELDS,
    STEP_DL_STAGE_MODIFIERS
};

struct step_dl_extends {
    bool cut; /* `extends !` */
    struct step_dl_name *parent;
};

struct step_dl_record {
    struct step_dl_package *package;
    struct step_dl_symbol *symbol; /* NULL: it could not be read */
    struct step_dl_place place;    /* of the name */
    uint32_t index;
    const char *label;
    const char *description;
    struct step_dl_extends *extends; /* NULL if it does not */
    struct step_dl_attributes attributes;
    struct step_dl_field *first_field, *last_field;
    size_t field_count;
    struct step_dl_modifier *first_modifier, *last_modifier;
    enum step_dl_stage stage;
    bool damaged; /* something in it could not be read: it may have more fields */
    struct step_dl_record *next;
};

struct step_dl_fault {
    struct step_dl_place place;
    uint32_t number; /* in the order of finding */
    char message[232];
};

struct step_dl_scope_entry;

struct step_dl_parse {
    const char *text; /* what is left of it, while it is scanned */
    struct step_dl_pool *model; /* outlives the parse */
    struct step_dl_pool tree;
    struct step_dl_place place; /* of the scanner */
    struct step_dl_place token_start;
    jmp_buf *escape; /* where the scanner leaves to, out of memory */

    struct step_dl_symbol **symbols;
    size_t symbol_count, symbol_capacity;
    uint32_t seed;

    struct step_dl_scope_entry **scopes;
    size_t scope_count, scope_capacity;
    struct step_dl_package root;
    struct step_dl_package *package;

    struct step_dl_record *record; /* that is being read */
    struct step_dl_record *first_record, *last_record;
    uint32_t record_count;
    const struct step_dl_type *type; /* of the field list that is being read */

    struct step_dl_fault *faults;
    uint32_t fault_count;
    enum step_status status; /* NO_MEMORY or LIMIT where the pools gave out */
};

/* Faults.  Those above STEP_DL_MAX_FAULTS are not kept. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void step_dl_fault(struct step_dl_parse *parse, struct step_dl_place place, const char *format,
                   ...);
/* Notes that a pool gave out; always NULL. */
void *step_dl_no_memory(struct step_dl_parse *parse, const struct step_dl_pool *pool);
/* Storage in the tree's or the model's pool, zeroed; NULL is noted. */
void *step_dl_tree(struct step_dl_parse *parse, size_t size);
void *step_dl_model(struct step_dl_parse *parse, size_t count, size_t size);

/* Symbols and scopes (symbols.c). */
struct step_dl_symbol *step_dl_intern(struct step_dl_parse *parse, const char *text, size_t length);
void step_dl_symbols_reset(struct step_dl_parse *parse);
/* The package of that name inside `parent`, made if new; NULL is noted. */
struct step_dl_package *step_dl_package_open(struct step_dl_parse *parse,
                                             struct step_dl_package *parent,
                                             const struct step_dl_symbol *symbol);
/* False if out of memory; `*earlier` is a record that has the name already, else NULL. */
bool step_dl_record_enter(struct step_dl_parse *parse, struct step_dl_record *record,
                          struct step_dl_record **earlier);
/* The record that `name` means in `from`, searched outwards; only those of an index below
 * `limit`.  NULL if none. */
struct step_dl_record *step_dl_lookup(struct step_dl_parse *parse, struct step_dl_package *from,
                                      const struct step_dl_name *name, uint32_t limit);

/* The grammar's actions (actions.c).  NULL or false: stop. */
struct step_dl_name *step_dl_name_start(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                                        struct step_dl_place place);
struct step_dl_name *step_dl_name_add(struct step_dl_parse *parse, struct step_dl_name *name,
                                      struct step_dl_symbol *symbol);
/* The text of a name, cut to fit. */
const char *step_dl_name_text(const struct step_dl_name *name, char *out, size_t out_size);
struct step_dl_attribute *step_dl_attribute_make(struct step_dl_parse *parse,
                                                 const struct step_dl_symbol *group,
                                                 const char *value, struct step_dl_place place);
struct step_dl_attributes *step_dl_attributes_add(struct step_dl_parse *parse,
                                                  struct step_dl_attributes *list,
                                                  struct step_dl_attribute *attribute);
struct step_dl_type *step_dl_type_make(struct step_dl_parse *parse, enum step_type_kind kind,
                                       struct step_dl_name *record);
bool step_dl_type_add_attribute(struct step_dl_parse *parse, struct step_dl_type *type,
                                struct step_dl_attribute *attribute);
bool step_dl_type_add_array(struct step_dl_parse *parse, struct step_dl_type *type,
                            struct step_dl_place place);
bool step_dl_package_enter(struct step_dl_parse *parse, const struct step_dl_name *name);
struct step_dl_extends *step_dl_extends_make(struct step_dl_parse *parse, bool cut,
                                             struct step_dl_name *parent);
/* `symbol` may be NULL: its header could not be read. */
bool step_dl_record_begin(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                          struct step_dl_place place, const char *label,
                          struct step_dl_extends *extends);
void step_dl_record_description(struct step_dl_parse *parse, const char *text,
                                struct step_dl_place place);
bool step_dl_record_attribute(struct step_dl_parse *parse, struct step_dl_attribute *attribute,
                              struct step_dl_place place);
void step_dl_fields_begin(struct step_dl_parse *parse, const struct step_dl_type *type,
                          struct step_dl_place place);
bool step_dl_record_field(struct step_dl_parse *parse, struct step_dl_symbol *symbol,
                          const char *description, struct step_dl_attributes *attributes,
                          struct step_dl_place place);
bool step_dl_record_modifier(struct step_dl_parse *parse, bool replace, struct step_dl_name *path,
                             struct step_dl_attributes *attributes, struct step_dl_place place);

/* Scanner (scanner.l): reads `text`, which has two NUL bytes behind its `length`. */
bool step_dl_scan(struct step_dl_parse *parse, char *text, size_t length);
/* The value of a string literal with its quotes; NULL stops, faults are reported. */
const char *step_dl_unquote(struct step_dl_parse *parse, const char *text, size_t length,
                            struct step_dl_place place);
/* Moves the place behind `length` bytes of text. */
void step_dl_advance(struct step_dl_parse *parse, const char *text, size_t length);
/* Length of the longest prefix of valid UTF-8 without NUL. */
size_t step_dl_utf8_prefix(const char *text, size_t length);

/* The tree's records as the model's (resolve.c); false if out of memory. */
bool step_dl_resolve(struct step_dl_parse *parse, struct step_definition *definition);
/* Reports records by value in themselves, nested too deeply or too large (nesting.c). */
bool step_dl_check_nesting(struct step_dl_parse *parse, const struct step_definition *definition,
                           struct step_dl_record *const *records);

/* True if a value of the field, or of its innermost element, is an identifier. */
bool step_dl_is_identifier(const struct step_field *field);
/* The attributes that hold at a path of the field ("element.length"), or NULL. */
const struct step_attributes *step_dl_sub_attributes(const struct step_field *field,
                                                     const char *path);

#endif
