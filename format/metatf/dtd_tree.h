/* SPDX-License-Identifier: Apache-2.0 */
/* The parse tree of a Meta-TF DTD, before names are resolved. */
#ifndef FORMAT_METATF_DTD_TREE_H
#define FORMAT_METATF_DTD_TREE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/core/arena.h"
#include "steptrace/metatf.h"

struct dtd_place {
    uint32_t line, column;
};

/* A number, or `field.property`. */
struct dtd_argument {
    bool is_reference;
    uint64_t number;
    const char *field, *property;
    struct dtd_place place;
};

struct dtd_property {
    const char *field, *property;
    struct dtd_place place;
    const char *word; /* "delta"; NULL: the value is just arguments[0] */
    struct dtd_argument arguments[2];
    uint32_t argument_count;
    bool used;
    struct dtd_property *next;
};

enum dtd_form { DTD_NAME, DTD_GROUP, DTD_REPEAT, DTD_RECORD };

struct dtd_field {
    enum dtd_form form;
    const char *name; /* NAME, and REPEAT (the counting field) */
    struct dtd_place place;
    struct dtd_field *children; /* GROUP; for REPEAT the element */
    struct dtd_record *record;  /* RECORD only */
    struct dtd_field *next;
};

struct dtd_record {
    const char *name;
    struct dtd_place place;
    struct dtd_field *field;
    struct dtd_property *properties;
    struct dtd_record *next;
};

struct dtd_defs {
    struct dtd_record *records, *last_record;
    struct dtd_property *properties, *last_property;
};

struct dtd_section {
    const char *name;
    uint64_t number;
    struct dtd_place place;
    struct dtd_defs defs;
    struct dtd_section *next;
};

/* State of one parse. */
struct dtd_parse {
    struct step_arena *arena;
    const char *name; /* of the text, for messages */
    const char *text;
    size_t text_length;
    struct dtd_defs defs;
    struct dtd_section *sections, *last_section;
    uint32_t section_count;
    uint32_t definition_count;
    uint32_t field_count;
    uint32_t fault_count;
    bool out_of_memory;
    step_fault_visit report;
    void *user;
    struct step_error *error;
};

/* State of the scanner besides flex's own. */
struct dtd_scan {
    struct step_arena *arena;
    jmp_buf fatal; /* target of flex's fatal errors, instead of exit() */
};

#define DTD_TEXT_LIMIT ((size_t) 1 << 20)
#define DTD_DEFINITIONS_LIMIT 4096u /* records and properties */
#define DTD_FIELDS_LIMIT 32768u     /* of all records of all sections */
#define DTD_MEMORY_LIMIT ((size_t) 128 << 20)
#define DTD_DEPTH_LIMIT 64u
#define DTD_FAULT_LIMIT 100u

/* Reports a fault; the first also fills the caller's error. */
__attribute__((format(printf, 3, 4))) void dtd_fault(struct dtd_parse *parse,
                                                     struct dtd_place place, const char *format,
                                                     ...);

/* Returns zeroed memory of the arena, or NULL after setting out_of_memory. */
void *dtd_zeroed(struct dtd_parse *parse, size_t size);

/* Resolves names and makes the DTD's tables in the parse's arena. */
bool dtd_resolve(struct dtd_parse *parse, struct metatf_dtd *out);

#endif
