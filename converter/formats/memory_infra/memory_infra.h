/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads heap dumps of Chromium's memory-infra, written by StepTrace or Chromium, as Trace Event
 * JSON (docs/formats/memory-infra.md).  The first pass reads frames and types, which may be
 * anywhere in the file.  The second returns the dumps one by one, so memory is proportional to the
 * largest dump.
 */
#ifndef CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_H
#define CONVERTER_FORMATS_MEMORY_INFRA_MEMORY_INFRA_H

#include "converter/containers/name_index.h"
#include "converter/heap/heap_snapshot.h"
#include "steptrace/status.h"

/* A value as stored in a dump: cumulative over the axes that it does not name. */
struct dump_value {
    uint32_t site;
    uint32_t class_id; /* 0: all types */
    bool is_self;      /* of the frame `<self>` under the site */
    uint64_t bytes;
    uint64_t objects;
};

struct memory_infra_frame {
    struct step_bytes name, parent; /* the parent's id; `data` NULL: no parent */
    uint64_t process;
    uint32_t site;
    uint8_t state; /* of name resolution */
    bool is_self;
};

struct memory_infra {
    const char *path; /* borrowed */
    struct trace_names names;
    struct heap_sites sites;
    struct name_index frame_ids;       /* (process, id) */
    struct memory_infra_frame *frames; /* by index in frame_ids */
    size_t frame_capacity;
    struct name_index type_ids; /* (process, id) */
    uint32_t *types;            /* class by index in type_ids */
    size_t type_capacity;
    struct name_index names_used; /* class names (0), method names (1) */
    struct name_index strings;    /* heaps_v2: (process, id) */
    struct step_bytes *string_texts;
    size_t string_capacity;
    uint32_t other_method; /* the frame name "<other>" */
    size_t fault_count;
    char first_faults[8][160];
};

/* A dump of one process: the sum of all its heaps, or the selected heap. */
struct memory_infra_dump {
    uint64_t number; /* from 1, in file order */
    uint64_t process;
    uint64_t time_ns;
    uint64_t bytes;
    struct dump_value *values; /* borrowed for the call */
    size_t count;
};

typedef enum step_status (*memory_infra_receive)(void *user, const struct memory_infra_dump *dump,
                                                 struct step_error *error);

/* First pass.  Counts invalid frames and types as faults.  After CUT or CORRUPT, the part that was
 * read can be used.  Reset is allowed after any failure. */
enum step_status memory_infra_open(struct memory_infra *infra, const char *path,
                                   struct step_error *error);
/* Second pass.  `heap`: only the heap of that allocator; NULL: all heaps. */
enum step_status memory_infra_each(struct memory_infra *infra, const char *heap,
                                   memory_infra_receive receive, void *user,
                                   struct step_error *error);
void memory_infra_reset(struct memory_infra *infra);
__attribute__((format(printf, 2, 3))) void memory_infra_fault(struct memory_infra *infra,
                                                              const char *format, ...);

/* memory_infra_rows.c: converts the cumulative values of a dump to rows that add up.  The row of a
 * site has its value minus the values of its dumped children.  With `by_class` the rows are the
 * types of the whole heap.  Reorders the values. */
enum step_status memory_infra_rows(struct memory_infra *infra, struct memory_infra_dump *dump,
                                   bool by_class, struct heap_snapshot *snapshot,
                                   struct step_error *error);

#endif
