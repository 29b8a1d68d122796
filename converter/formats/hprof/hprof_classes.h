/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes of a heap dump.  A class has the fields that were observed in its objects, since traces
 * have no class hierarchy.  All classes extend java/lang/Object, except those with a field of
 * java/lang/ref/Reference, which dump readers recognise by their superclass.
 */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_CLASSES_H
#define CONVERTER_FORMATS_HPROF_HPROF_CLASSES_H

#include "converter/base/id_table.h"
#include "converter/graph/graph_moment.h"

struct hprof_class {
    uint32_t *fields; /* of its objects, in dump order */
    size_t count, capacity;
    uint32_t size;   /* of an object */
    uint32_t parent; /* a class of references; 0: java/lang/Object */
    bool is_used;
    char kind; /* 'L': objects, '[': an array of references, else the type of a primitive array */
};

struct hprof_classes {
    const struct graph_moment *graph; /* borrowed */
    struct id_table classes;          /* struct hprof_class: those in use */
    struct id_table field_names;      /* uint8_t: 1 for those in use */
};

/* Returns false if memory runs out; call reset in any case. */
bool hprof_classes_find(struct hprof_classes *found, const struct graph_moment *graph);
void hprof_classes_reset(struct hprof_classes *found);

/* Returns "?" if the trace has no name. */
struct step_bytes hprof_class_name(const struct hprof_classes *found, uint32_t class_id);
struct step_bytes hprof_field_name(const struct hprof_classes *found, uint32_t field);
/* NULL: java/lang/Object. */
struct hprof_class *hprof_class_parent(const struct hprof_classes *found,
                                       const struct hprof_class *class);
/* Returns a class in use by name, or UINT32_MAX if there is none. */
uint32_t hprof_classes_named(const struct hprof_classes *found, const char *name);

#endif
