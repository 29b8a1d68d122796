/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading heap dumps of Chromium's memory-infra, ours or Chromium's own: Trace Event JSON
 * (docs/formats/memory-infra.md).  A first pass over the file takes the frames and types, which may
 * stand anywhere; a second gives the dumps one by one, so that memory is that of the largest.
 */
#ifndef CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_H
#define CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_H

#include "converter/base/name_index.h"
#include "converter/heap/heap_snapshot.h"
#include "steptrace/status.h"

/* A value as it stands in a dump: cumulative over the axes that it does not name. */
struct dump_value {
    uint32_t site;
    uint32_t class_id; /* 0: all types */
    bool is_self;      /* of the frame `<self>` under the site */
    uint64_t bytes;
    uint64_t objects;
};

struct memory_infra_frame {
    struct step_bytes name, parent; /* the parent's id; `data` NULL: it has none */
    uint64_t process;
    uint32_t site;
    uint8_t state; /* of resolving */
    bool is_self;
};

struct memory_infra {
    const char *path; /* borrowed */
    struct trace_names names;
    struct heap_sites sites;
    struct name_index frame_ids;       /* (process, id) */
    struct memory_infra_frame *frames; /* by number in frame_ids */
    size_t frame_capacity;
    struct name_index type_ids; /* (process, id) */
    uint32_t *types;            /* class by number in type_ids */
    size_t type_capacity;
    struct name_index names_used; /* class names (0), method names (1) */
    struct name_index strings;    /* heaps_v2: (process, id) */
    struct step_bytes *string_texts;
    size_t string_capacity;
    uint32_t other_method; /* the frame name "<other>" */
    size_t fault_count;
    char first_faults[8][160];
};

/* A dump of one process, all its heaps or the one that was asked for added up. */
struct memory_infra_dump {
    uint64_t number; /* from 1, in the file's order */
    uint64_t process;
    uint64_t time_ns;
    uint64_t bytes;
    struct dump_value *values; /* borrowed for the call */
    size_t count;
};

typedef enum step_status (*memory_infra_receive)(void *user, const struct memory_infra_dump *dump,
                                                 struct step_error *error);

/* The first pass.  What is wrong with single frames and types is counted as a fault; after CUT or
 * CORRUPT what was read may be used.  Reset is allowed after any failure. */
enum step_status memory_infra_open(struct memory_infra *infra, const char *path,
                                   struct step_error *error);
/* The second.  `heap`: only the heap of that allocator; NULL: all. */
enum step_status memory_infra_each(struct memory_infra *infra, const char *heap,
                                   memory_infra_receive receive, void *user,
                                   struct step_error *error);
void memory_infra_reset(struct memory_infra *infra);
__attribute__((format(printf, 2, 3))) void memory_infra_fault(struct memory_infra *infra,
                                                              const char *format, ...);

/* memory_infra_rows.c: the dump's values as rows that add up: a site's rows are what none of its
 * dumped children has.  With `by_class` the rows are the types of the whole heap.  The values are
 * reordered. */
enum step_status memory_infra_rows(struct memory_infra *infra, struct memory_infra_dump *dump,
                                   bool by_class, struct heap_snapshot *snapshot,
                                   struct step_error *error);

#endif
