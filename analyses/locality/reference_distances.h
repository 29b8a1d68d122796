/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far apart objects that refer to each other were allocated, by field and class, in one pass
 * over the references of a trace.  Memory is proportional to the objects that live at a time, and
 * to the number of fields.
 *
 * A trace has no addresses that last, since collectors move objects.  But a thread's allocations
 * follow each other in its allocation buffer, so the bytes that the thread allocated between two
 * objects are their distance in memory when they are new.  Between two threads there is no such
 * distance, and such references are only counted.
 */
#ifndef ANALYSES_LOCALITY_REFERENCE_DISTANCES_H
#define ANALYSES_LOCALITY_REFERENCE_DISTANCES_H

#include "converter/containers/lifetimes.h"
#include "converter/graph/keepers_of_trace.h"

/* References from a field, or from the elements of an array, to objects of a class.  A reference is
 * within a thread, between threads, or unknown. */
struct reference_row {
    uint32_t field;        /* 0: an element */
    uint32_t array_class;  /* of an element's array, else 0 */
    uint32_t target_class; /* of the object referred to */
    uint64_t references;   /* that were made */
    uint64_t between;      /* the two objects were allocated by two threads */
    uint64_t unknown;      /* one existed before the trace, or was allocated by no known thread */
    uint64_t neighbours;   /* the thread allocated nothing between the two objects */
    uint64_t neighbour_bytes; /* of both objects */
    /* Bytes that the thread allocated from the start of one object to the start of the other. */
    struct lifetimes distance;
};

struct birth;

struct reference_distances {
    const char *path; /* of the trace; borrowed */
    struct opened_graph opened;
    struct birth *births; /* by node */
    size_t birth_capacity;
    struct id_table threads; /* struct thread_births */
    uint64_t objects, existing, bytes;
    struct reference_row *rows; /* most references first, when all is read */
    size_t count, capacity;
    struct step_index index;
    struct reference_row all; /* sums; without distance */
    bool is_snapshot;         /* the references are those of the last snapshot */
    const struct graph_event *event;
    bool no_memory;
};

/* Reads the trace.  Returns NOT_FOUND if it has neither stores of references nor a snapshot.  Call
 * reference_distances_close() in either case. */
enum step_status reference_distances_read(struct reference_distances *distances, const char *path,
                                          struct step_error *error);
/* Reports `error` if `status` is not OK, or else the trace's damage, and frees everything.
 * Returns the status of what it reported. */
enum step_status reference_distances_close(struct reference_distances *distances,
                                           enum step_status status, const struct step_error *error);

static inline uint64_t reference_row_known(const struct reference_row *row)
{
    return row->references - row->unknown;
}

/* At least so many references, and this share of those that are known, are to neighbours. */
#define CANDIDATE_LEAST 16u
#define CANDIDATE_SHARE 0.9
static inline bool is_candidate(const struct reference_row *row)
{
    return row->neighbours >= CANDIDATE_LEAST &&
           (double) row->neighbours >= CANDIDATE_SHARE * (double) reference_row_known(row);
}

/* `top`: rows of each table; 0: all. */
void locality_print_text(const struct reference_distances *distances, uint64_t top);
void locality_print_json(const struct reference_distances *distances);

#endif
