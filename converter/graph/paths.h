/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why objects live: for each the shortest way from a root to it, and those ways that go through the
 * same fields of the same classes taken together.  The ways are a tree, which is made as the search
 * goes, so that what is long is not gone through for each object.
 */
#ifndef CONVERTER_GRAPH_PATHS_H
#define CONVERTER_GRAPH_PATHS_H

#include "converter/graph/graph_moment.h"
#include "converter/trace/event_selection.h"
#include "format/core/hash_index.h"

enum keeper_step_kind {
    KEEPER_ROOT,  /* class_id: the root's kind, key: its field, if it is a static one */
    KEEPER_FIELD, /* key: the edge's; class_id: the holder's, as in the next */
    KEEPER_ELEMENT,
    KEEPER_TARGET /* class_id: of the objects at the end */
};

/* A step of ways.  One that repeats (a list's `next`) is one step. */
struct keeper_step {
    uint32_t parent; /* index of the step before; UINT32_MAX at a root */
    uint32_t class_id;
    uint32_t key;
    uint8_t kind; /* enum keeper_step_kind */
    bool repeats;
    /* KEEPER_TARGET: */
    uint32_t length; /* references to `example`, from the root */
    uint64_t objects;
    uint64_t bytes;
    uint64_t example; /* the first of the objects */
};

struct keeper_paths {
    struct keeper_step *steps;
    size_t step_count, step_capacity;
    uint32_t *targets; /* the steps that end ways; the most bytes first */
    size_t target_count;
    uint64_t objects, bytes; /* that were asked for and live */
    uint64_t unreached;      /* of them; nothing known holds them: circles */
    struct step_index index; /* of the steps */
};

/* Which objects: one by its number, or those of classes that match. */
struct keeper_choice {
    uint64_t object;                      /* 0: by class */
    const struct selected_globs *classes; /* borrowed */
};

/* False: out of memory; keeper_paths_reset() in any case. */
bool keeper_paths_find(const struct graph_moment *graph, const struct keeper_choice *choice,
                       struct keeper_paths *out);
void keeper_paths_reset(struct keeper_paths *paths);

struct keeper_name;
/* The step as people read it: "static field a/B.c", "java/util/HashMap$Node.next+",
 * "[Ljava/lang/Object; []". */
void keeper_step_name(const struct graph_moment *graph, const struct keeper_step *step,
                      struct keeper_name *name);
/* The steps of a way, from the root on, to be freed; NULL: out of memory. */
uint32_t *keeper_way(const struct keeper_paths *paths, uint32_t target, size_t *count);

#endif
