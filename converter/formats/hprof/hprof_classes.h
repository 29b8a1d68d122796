/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of a heap dump.  A class has the fields that objects of it were seen to have, since
 * traces have no class hierarchy; all classes extend java/lang/Object, but for those with a field
 * of java/lang/ref/Reference, which readers know by their parents.
 */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_CLASSES_H
#define CONVERTER_FORMATS_HPROF_HPROF_CLASSES_H

#include "converter/base/id_table.h"
#include "converter/graph/graph_moment.h"

/* What is known of a class. */
struct hprof_class {
    uint32_t *fields; /* of its objects, in the order of the dump */
    size_t count, capacity;
    uint32_t size;   /* of an object */
    uint32_t parent; /* a class of references; 0: java/lang/Object */
    bool is_used;
    char kind; /* 'L': objects, '[': an array of references, else of that primitive type */
};

struct hprof_classes {
    const struct graph_moment *graph; /* borrowed */
    struct id_table classes;          /* struct hprof_class: those that are used */
    struct id_table field_names;      /* uint8_t: 1 for those that are */
};

/* False: out of memory; reset in any case. */
bool hprof_classes_find(struct hprof_classes *found, const struct graph_moment *graph);
void hprof_classes_reset(struct hprof_classes *found);

/* "?" where the trace does not know. */
struct step_bytes hprof_class_name(const struct hprof_classes *found, uint32_t class_id);
struct step_bytes hprof_field_name(const struct hprof_classes *found, uint32_t field);
/* NULL: java/lang/Object. */
struct hprof_class *hprof_class_parent(const struct hprof_classes *found,
                                       const struct hprof_class *class);
/* A class that is used; UINT32_MAX: there is none of that name. */
uint32_t hprof_classes_named(const struct hprof_classes *found, const char *name);

#endif
