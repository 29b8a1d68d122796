/* SPDX-License-Identifier: Apache-2.0 */
/* The model from which metatfc generates C: a DTD, and the C names of its parts. */
#ifndef COMPILERS_METATFC_METATFC_MODEL_H
#define COMPILERS_METATFC_METATFC_MODEL_H

#include <stdio.h>

#include "compilers/compiler.h"
#include "steptrace/metatf.h"

/* A field in C. */
struct mc_field {
    char *member;   /* its name in the struct */
    bool is_hidden; /* it has no member: its value is prescribed, or is the length of `user` */
    uint32_t user;  /* the field whose length it stores, or METATF_NO_FIELD */
};

/* A record in C.  A global record has one struct, but a reader and a writer for each section. */
struct mc_record {
    const struct metatf_record *record;
    uint32_t section; /* index in the DTD */
    uint32_t index;   /* in the section */
    bool is_shared;   /* a global record that already appeared in another section */
    char *name;       /* "hatf_heap_alloc" */
    char *member;     /* in the event's union: "heap_alloc" */
    struct mc_field *fields;
};

struct mc_model {
    const struct metatf_dtd *dtd;
    const char *file;              /* base name of the generated files */
    const char *source;            /* path of the DTD */
    char base[COMPILER_BASE_SIZE]; /* the base name as a C name */
    struct mc_record *records;
    size_t record_count;
};

/* Initialises the model.  Returns false after printing the error. */
bool mc_model_init(struct mc_model *model);
void mc_model_reset(struct mc_model *model);

void mc_write_header(const void *model, FILE *out);
void mc_write_source(const void *model, FILE *out);

/* Prints "PREFIX_HEAP_ALLOC". */
void mc_print_kind(const struct mc_record *record, FILE *out);

#endif
