/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the sites of a trace with the log of the JIT compiler of an untraced run. */
#ifndef CONVERTER_SITES_ESCAPE_H
#define CONVERTER_SITES_ESCAPE_H

#include "converter/sites/jit_log.h"
#include "converter/sites/site_lives.h"
#include "converter/trace/names.h"

/* The allocations of a class at a bytecode index. */
struct escape_row {
    uint32_t class_id, method_id;
    uint32_t bytecode;               /* 1 + index; 0: none, as in a native method */
    uint32_t line;                   /* 0: unknown */
    struct site_amount made;         /* in the source's sense */
    struct site_amount removed;      /* of these, at most; at least none */
    double estimate;                 /* objects that were removed; below 0: there is none */
    const struct jit_place *place;   /* NULL: no compilation removed it at its index */
    const struct jit_method *method; /* NULL: the log does not name it */
};

struct escape_rows {
    struct escape_row *items; /* those with most bytes removed first */
    size_t count;
    struct site_amount made, removed, without_index;
    double estimate_objects, estimate_bytes; /* of the rows that have one */
    struct site_amount not_estimated;        /* removed at most, of rows that have none */
    uint64_t unmatched;                      /* places of the log at which the trace has no site */
};

/* Returns false if out of memory.  escape_reset() is needed in each case. */
bool escape_join(struct escape_rows *rows, const struct site_lives *lives,
                 const struct trace_names *names, struct jit_log *log);
void escape_reset(struct escape_rows *rows);

#endif
