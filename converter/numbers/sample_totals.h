/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact totals, and what the samples stand for with them (docs/engine-sampled.md).  A trace of
 * engine=sampled with totals=walk says what was allocated of each class from one collection to the
 * next: a sample stands for itself, and for a share of what its class has beyond its samples, so
 * the bytes of a class's samples are the total, and of a class of several sizes, if it can be, so
 * is their number.  Where it does not, and with totals=threads, the trace says how many bytes all
 * classes have together, and what all samples stand for is scaled to these.
 *
 * Fill in the totals of all collections first, then all samples, and the doubtful ones a second
 * time as such, then settle, then count all samples with what they stand for.
 */
#ifndef CONVERTER_NUMBERS_SAMPLE_TOTALS_H
#define CONVERTER_NUMBERS_SAMPLE_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "converter/containers/name_index.h"
#include "converter/numbers/estimates.h"

/* So many samples, or more, of a class are corrected by one factor: collections are taken together
 * until there are as many.  (The last ones go to those before.)  A class with fewer has no tilt. */
#define TOTALS_SAMPLES_LEAST 8u
/* A tilt makes no sample stand for more than so many times what it stood for without. */
#define TOTALS_TILT_MOST 4.0

/* What is known of an interval besides its samples, and what corrects these. */
enum totals_kind {
    TOTALS_OF_NOTHING, /* a record is lost, or none follows */
    TOTALS_OF_PROGRAM, /* the bytes of all classes together */
    TOTALS_OF_CLASSES
};

/* A class in one interval, from one record to the next. */
struct totals_cell {
    uint32_t interval;
    double bytes, objects; /* exact: of intervals of which this total is known */
    uint64_t samples;
    double seen_bytes;  /* of the samples */
    double least, most; /* sizes of the samples */
    /* Sums over the samples of b, b / size, b * size, b * size^2, (b * size)^2, where b is what a
     * sample stands for besides itself by its chance alone. */
    double beyond, beyond_by_size, beyond_bytes, beyond_square_bytes, square_bytes;
    /* What corrects b: factor * (1 + tilt * (1 / size - middle)). */
    double factor, tilt, middle;
};

struct totals_class {
    struct sample_known known;
    struct totals_cell *cells; /* by interval, when all samples have been added; until then, */
    size_t ordered;            /* so many are */
    size_t count, room;
    uint64_t loader;
    bool is_named; /* `loader` is set */
    bool is_one_size;
    double doubted; /* bytes that doubtful samples stand for besides themselves by their chance */
    double doubt;   /* so much of them may be none */
};

struct sample_totals {
    struct name_index names;      /* of classes */
    struct totals_class *classes; /* by their number there */
    size_t class_room;
    uint64_t *ends_ns; /* of intervals */
    enum totals_kind *kinds;
    size_t interval_count, end_room, kind_room;
    const struct sampling *sampling; /* of the samples; borrowed */
    double counted_bytes;            /* by the JVM, in all intervals, */
    double unknown_bytes;            /* and in those of which classes are not known, */
    double unknown_by_chance;        /* where samples stand for so many */
    double scale;                    /* of all samples */
    bool lacks_one;                  /* an interval of which nothing is known */
    bool has_classes;                /* an interval of which classes are known */
    struct sample_known all;
    /* All samples, if the bytes of all classes together are known, and of no class: what any of
     * them stand for is a share of these. */
    struct sample_sums shared;
};

/* To initialise, zero the structure. */
void sample_totals_reset(struct sample_totals *totals);

/* A class of the interval that ends next.  All return false if out of memory. */
bool sample_totals_add_class(struct sample_totals *totals, struct step_bytes name, uint64_t loader,
                             uint32_t class_id, uint64_t objects, uint64_t bytes);
/* Ends the interval, in which all threads have allocated `counted` bytes. */
bool sample_totals_end(struct sample_totals *totals, uint64_t time_ns, enum totals_kind kind,
                       uint64_t counted);
bool sample_totals_add_sample(struct sample_totals *totals, struct step_bytes name, uint64_t loader,
                              uint32_t class_id, uint64_t time_ns, uint64_t size_bytes,
                              uint64_t interval_bytes);
/* Computes what corrects the samples, when all have been added. */
void sample_totals_settle(struct sample_totals *totals);
/* Says of a sample that was added that a biased JVM may have taken it without reason. */
void sample_totals_doubt_sample(struct sample_totals *totals, struct step_bytes name,
                                uint64_t time_ns, uint64_t size_bytes, uint64_t interval_bytes);
/* Counts a sample with what it stands for: each that was added, after that, with the scale in the
 * samples' `sampling`. */
void sample_totals_count_sample(struct sample_totals *totals, struct step_bytes name,
                                uint64_t time_ns, uint64_t size_bytes, uint64_t interval_bytes,
                                bool is_doubtful);

/* Returns the sums of all samples if any of them are a share of these; else NULL. */
const struct sample_sums *sample_totals_shared(const struct sample_totals *totals);
/* Returns what a sample stands for, of which there would be `chance` (1 / p) by its chance. */
double sample_totals_weight(const struct sample_totals *totals, struct step_bytes name,
                            uint64_t time_ns, uint64_t size_bytes, double chance);
/* A sample of a biased JVM may stand for so many objects less, or more. */
struct sample_doubt {
    double fewer, more;
};
/* Returns that of a sample, with what it stands for, and would by its chance. */
struct sample_doubt sample_totals_doubt(const struct sample_totals *totals, struct step_bytes name,
                                        double weight, double chance, bool is_doubtful);
/* Returns the sums as those of a class, with what is known of it. */
struct sample_sums sample_sums_of_class(struct sample_sums sums, struct step_bytes name);
/* Returns what is known of a class; NULL: nothing. */
const struct sample_known *sample_totals_of(const struct sample_totals *totals,
                                            struct step_bytes name);

#endif
