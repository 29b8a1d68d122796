/* SPDX-License-Identifier: Apache-2.0 */
/* What metatfc writes C of: a DTD, and the C names of its parts. */
#ifndef COMPILERS_METATFC_METATFC_MODEL_H
#define COMPILERS_METATFC_METATFC_MODEL_H

#include <stdio.h>

#include "compilers/c_names.h"
#include "compilers/compiler.h"
#include "steptrace/metatf.h"

/* A field in C. */
struct mc_field {
    char *member;   /* its name in the struct */
    bool is_hidden; /* it has no member: its value is prescribed, or the length of... */
    uint32_t user;  /* ...this field; METATF_NO_FIELD: no other */
};

/* A record in C.  Global records have one struct, and a reader and a writer in each section. */
struct mc_record {
    const struct metatf_record *record;
    uint32_t section; /* index in the DTD */
    uint32_t index;   /* in the section */
    bool is_shared;   /* a global record, met again in another section */
    char *name;       /* "hatf_heap_alloc" */
    char *member;     /* of the event's union: "heap_alloc" */
    struct mc_field *fields;
};

struct mc_model {
    const struct metatf_dtd *dtd;
    const char *file;              /* name of the files */
    const char *source;            /* of the DTD */
    char base[COMPILER_BASE_SIZE]; /* as a C name */
    struct mc_record *records;
    size_t record_count;
};

/* False: said why on stderr. */
bool mc_model_init(struct mc_model *model);
void mc_model_reset(struct mc_model *model);

void mc_write_header(const void *model, FILE *out);
void mc_write_source(const void *model, FILE *out);

/* "PREFIX_HEAP_ALLOC" */
void mc_print_kind(const struct mc_model *model, const struct mc_record *record, FILE *out);

#endif
