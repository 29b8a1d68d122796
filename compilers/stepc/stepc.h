/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of stepc: rules of attributes, checks of a definition, C code, texts. */
#ifndef COMPILERS_STEPC_STEPC_H
#define COMPILERS_STEPC_STEPC_H

#include <stdbool.h>
#include <stdio.h>

#include "compilers/compiler.h"
#include "format/core/rule.h"
#include "steptrace/definition.h"

/* ---- attributes: where each is allowed, and its values ---- */

/* Places where an attribute is allowed, as a bit set. */
enum {
    AT_INT = 1,
    AT_STRING = 2,
    AT_DATA = 4,
    AT_ENTRY = 8,   /* numbers of a dictionary's entries */
    AT_VALUE = 16,  /* records by value */
    AT_LENGTH = 32, /* of a string, data or an array */
    AT_RECORD = 64, /* the definition of a record */
    AT_ARRAY = 128  /* together with the places of the array's elements */
};

enum attribute_value {
    VALUE_NONE,
    VALUE_COUNT,     /* an optional number, not negative */
    VALUE_NUMBER,    /* an optional number */
    VALUE_SIZE,      /* "4", "4..", "4+", "creep" */
    VALUE_CHARSET,   /* a supported charset */
    VALUE_TYPE,      /* variable, default, constant */
    VALUE_FIELD,     /* an earlier field of the record */
    VALUE_RECORD,    /* a record */
    VALUE_OF_RECORD, /* a field of a record */
    VALUE_LINKS      /* fields of the record, and a field of a record, joined by + */
};

struct attribute_rule {
    const char *group;
    const char *key;
    unsigned places;
    enum attribute_value value;
    bool required;
    unsigned long long least, most; /* limits of a VALUE_COUNT */
};

/* Finds the rule.  Returns false if it is unknown; `nearest` is then the most similar key, or
 * NULL. */
bool attribute_rule_find(const char *group, const struct step_rule *rule,
                         struct attribute_rule *known, const char **nearest);
/* Returns true if StepTrace, or a definition that it ships, uses the group. */
bool attribute_group_is_known(const char *group, const char **nearest);

/* Returns NULL, or the fault of a value that can be checked without its context. */
const char *attribute_value_fault(const struct attribute_rule *known, const struct step_rule *rule);

/* ---- checks that stepc makes beyond the language; see docs/formats/step-dl.md, "Faults" ---- */

/* Checks attributes, maps that readers could not follow, and constructs that writers refuse.
 * Returns an exit code.  `path` is used in messages without a place. */
int check_definition(const struct step_definition *definition, const char *path, bool strict);

/* ---- C structs, tables, writer and reader functions ---- */

/* Names for the output.  `file` is the base name of the generated files ("java-trace"). */
struct c_output {
    const struct step_definition *definition;
    const char *file;
    const char *names_begin;         /* prefix of all names: --prefix, or "" */
    char base[COMPILER_BASE_SIZE];   /* the file as a C name ("java_trace") */
    char prefix[COMPILER_BASE_SIZE]; /* prefix of the enum: the package of all records if they share
                                        one, else the base name */
    char **names;                    /* C name of each record */
    bool *is_dictionary;             /* for each record, whether a field holds numbers of its
                                        entries */
};

/* Fills prefix, names and is_dictionary.  Returns false after printing the error. */
bool c_output_init(struct c_output *output, const char *file_name);
void c_output_reset(struct c_output *output);
/* Write the header and the source of a struct c_output. */
void c_output_header(const void *user, FILE *out);
void c_output_source(const void *user, FILE *out);

/* ---- outputs of one text ---- */

struct text_output {
    const struct step_definition *definition; /* a parsed one */
    const char *title;                        /* "zoo", from the file's name */
    FILE *out;
};

void print_canonical(const struct text_output *output);
void print_schema(const struct text_output *output);
void print_markdown(const struct text_output *output);
void print_man_page(const struct text_output *output);

/* Writes the type in STEP-DL syntax, user types by absolute name. */
void doc_put_type(FILE *out, const struct step_definition *definition,
                  const struct step_field *field);
/* Returns the number of the record's inherited fields. */
size_t doc_inherited_count(const struct step_definition *definition, uint32_t record);

#endif
