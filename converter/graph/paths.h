/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortest paths from roots to objects.  Paths through the same fields of the same classes are
 * merged.  The merged paths form a tree that is built during the search, so long paths are not
 * walked again for each object.
 */
#ifndef CONVERTER_GRAPH_PATHS_H
#define CONVERTER_GRAPH_PATHS_H

#include "converter/containers/id_set.h"
#include "converter/graph/graph_moment.h"
#include "converter/trace/event_selection.h"
#include "format/core/hash_index.h"

enum keeper_step_kind {
    KEEPER_ROOT,  /* class_id: kind of the root; key: the static field, if it is one */
    KEEPER_FIELD, /* key: the edge's; class_id: the holder's class, also for elements */
    KEEPER_ELEMENT,
    KEEPER_TARGET /* class_id: class of the objects at the end */
};

/* A step of a path.  Consecutive equal steps (`next` of a linked list) are merged into one. */
struct keeper_step {
    uint32_t parent; /* index of the previous step; UINT32_MAX for a root */
    uint32_t class_id;
    uint32_t key;
    uint8_t kind; /* enum keeper_step_kind */
    bool repeats;
    /* For KEEPER_TARGET: */
    uint32_t length; /* length of the path from the root to `example` */
    uint64_t objects;
    uint64_t bytes;
    uint64_t example; /* the first of the objects */
};

struct keeper_paths {
    struct keeper_step *steps;
    size_t step_count, step_capacity;
    uint32_t *targets; /* final steps of paths, ordered by bytes, descending */
    size_t target_count;
    uint64_t objects, bytes; /* requested objects that are alive */
    uint64_t unreached;      /* how many of these no root reaches: unreachable cycles */
    struct step_index index; /* finds steps */
};

/* The requested objects: one by its number, those of a set, or those of matching classes. */
struct keeper_choice {
    uint64_t object;                      /* 0: by the set or by class */
    const struct id_set *objects;         /* NULL: by class; borrowed */
    const struct selected_globs *classes; /* borrowed */
};

/* Finds the paths.  Returns false if out of memory.  Call keeper_paths_reset() in either case. */
bool keeper_paths_find(const struct graph_moment *graph, const struct keeper_choice *choice,
                       struct keeper_paths *out);
void keeper_paths_reset(struct keeper_paths *paths);

struct keeper_name;
/* Writes a step in readable form: "static field a/B.c", "java/util/HashMap$Node.next+",
 * "[Ljava/lang/Object; []". */
void keeper_step_name(const struct graph_moment *graph, const struct keeper_step *step,
                      struct keeper_name *name);
/* Returns the steps of a path, starting at the root; the caller frees them.  NULL: out of
 * memory. */
uint32_t *keeper_way(const struct keeper_paths *paths, uint32_t target, size_t *count);

#endif
