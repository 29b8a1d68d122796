/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph at a moment as an HPROF 1.0.2 heap dump (docs/formats/hprof.md). */
#ifndef CONVERTER_FORMATS_HPROF_HPROF_WRITER_H
#define CONVERTER_FORMATS_HPROF_HPROF_WRITER_H

#include "converter/containers/id_table.h"
#include "converter/graph/graph_moment.h"
#include "converter/layout/object_layout.h"
#include "converter/trace/trace_format.h"

/*
 * Classes of a heap dump.  A class has the fields that were observed in its objects, since traces
 * have no class hierarchy.  All classes extend java/lang/Object, except those with a field of
 * java/lang/ref/Reference, which dump readers recognise by their superclass.
 */
struct hprof_class {
    uint32_t *fields; /* of its objects, in the dump's order */
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
    struct object_layout layout;      /* as traced, or guessed */
    bool has_layout;                  /* the trace has it, and with it the lengths of arrays */
    uint64_t estimated;               /* arrays whose length is only known from their size */
    uint64_t cut;                     /* arrays that are longer than the dump can have them */
    uint64_t lost;                    /* references that have no place in the dump */
};

static inline const struct object_graph *hprof_graph(const struct hprof_classes *found)
{
    return &found->graph->replay.graph;
}

/* Returns false if memory runs out; reset is allowed then, and for a zeroed structure. */
bool hprof_classes_find(struct hprof_classes *found, const struct graph_moment *graph);
void hprof_classes_reset(struct hprof_classes *found);

/* Iterates over the classes in use, as id_table_next(). */
struct hprof_class *hprof_class_next(const struct hprof_classes *found, uint32_t *id);
/* Returns the class of an object. */
static inline const struct hprof_class *hprof_class_of(const struct hprof_classes *found,
                                                       uint32_t node)
{
    return id_table_find(&found->classes, hprof_graph(found)->objects[node].class_id);
}
/* Returns "?" if the trace has no name. */
struct step_bytes hprof_class_name(const struct hprof_classes *found, uint32_t class_id);
struct step_bytes hprof_field_name(const struct hprof_classes *found, uint32_t field);
/* NULL: java/lang/Object. */
struct hprof_class *hprof_class_parent(const struct hprof_classes *found,
                                       const struct hprof_class *class);
/* Returns true for Reference.referent, which does not keep its target alive. */
bool hprof_field_is_referent(const struct hprof_classes *found, uint32_t field);
/* Returns the length of an array. */
uint64_t hprof_length(const struct hprof_classes *found, uint32_t node,
                      const struct hprof_class *class);
/* Counts the references of an object that are neither in a field nor in an element as lost. */
void hprof_count_lost(struct hprof_classes *found, uint32_t node, const struct hprof_class *class);
/* Returns a class in use by name, or UINT32_MAX if there is none. */
uint32_t hprof_classes_named(const struct hprof_classes *found, const char *name);

/* Prints a dump to `out`, whose errors the caller checks. */
typedef enum step_status (*graph_write)(struct hprof_classes *found, FILE *out,
                                        struct step_error *error);
enum step_status hprof_write(struct hprof_classes *found, FILE *out, struct step_error *error);
/* Writes the graph of the job's trace, and reports what the output lacks. */
enum step_status graph_write_job(const struct format_job *job, graph_write write);

#endif
