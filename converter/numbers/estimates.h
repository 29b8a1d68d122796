/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates of all objects from a sample of them (docs/engine-sampled.md).  An object of `size`
 * bytes is in the sample with the probability p = 1 - exp(-size / interval), independently of the
 * others, so it stands for 1 / p objects.  The sum of these weights is unbiased; its variance is
 * estimated without bias by the sum of (1 - p) / p^2.
 */
#ifndef CONVERTER_NUMBERS_ESTIMATES_H
#define CONVERTER_NUMBERS_ESTIMATES_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/value.h"

/*
 * How the samples of one trace were drawn: what every estimate from them depends on.  Sums carry it
 * with them, so that two traces that are open at once do not change each other's estimates.  To
 * initialise, zero the structure.
 */
struct sampling {
    uint64_t interval_bytes; /* the trace's; 0: not known */
    /* What repeated distances add to the variance of a sum of weak samples, as a share of its
     * square (docs/engine-sampled.md); negative: not known. */
    double repeated;
    bool is_biased; /* the JVM samples with a bias: no interval is one of 95 % */
    double intervals, interval_squares; /* of all samples (sampling_draw()) */
    /* Exact totals (sample_totals.h), which the weights have been corrected by; NULL: the trace has
     * none.  And all samples, if all that samples say are shares of their bytes.  Borrowed. */
    const struct sample_totals *totals;
    const struct sample_sums *shared;
    /* What all samples stand for was scaled by one more than this. */
    double scaled;
};

/* Returns the trace's interval; 0: `sampling` is NULL, as the trace has all objects. */
static inline uint64_t sampling_interval(const struct sampling *sampling)
{
    return sampling != NULL ? sampling->interval_bytes : 0;
}

/* Notes the interval with which a sample was drawn.  The mean of all, by bytes, counts where sums
 * do not say theirs: an object may be of a time of which its row has no samples, with a longer
 * interval (rate=). */
void sampling_draw(struct sampling *sampling, uint64_t interval_bytes);

/* To initialise, zero the structures. */
struct sample_sums {
    const struct sampling *sampling; /* of the samples' trace; NULL: there are none */
    uint64_t samples;
    double objects, objects_variance;
    double bytes, bytes_variance;
    double seen_bytes; /* of the samples themselves */
    /* A biased JVM's samples may stand for so many less, or more (sample_sums_doubt()). */
    double fewer, fewer_bytes, more, more_bytes;
    double intervals, interval_squares; /* sums of the intervals that samples were drawn with */
    /* All objects that the sums may stand for are of one size, so that those which were not seen
     * are like those that were: set for a row of one class that class_has_one_size(). */
    bool is_one_size;
    /* What is known of all objects of the row's class, or of the program.  NULL: nothing. */
    const struct sample_known *known;
    bool is_whole; /* the sums are of all of these: their number and bytes are known */
};

/* What is known of all objects of one class, or of the program. */
struct sample_known {
    double objects, bytes;            /* of collections that were walked */
    struct sample_sums all;           /* its samples in these, with their corrected weights */
    struct sample_sums rest;          /* and others, */
    struct sample_sums rest_of_bytes; /* whose bytes are not known either */
    /* So many bytes at most were allocated of it where nothing is known, and beyond its bytes. */
    double room, room_of_bytes;
    uint32_t class_id;  /* of one of its samples, else of a total */
    bool is_of_several; /* classes of one name */
};

/* Returns whether all objects of a class have the same size: not those of arrays, and of
 * java.lang.Class, which have the static fields. */
bool class_has_one_size(struct step_bytes name);

/* Says of the sums of a class that they are of all its objects. */
void sample_sums_make_whole(struct sample_sums *sums);

/* Lifetimes of the samples that died, by weight. */
struct sample_lives {
    uint64_t samples;
    double weights, lives;
    double variance, variance_lives, variance_squares; /* (1 - p) / p^2, times life, times life^2 */
};

/* An estimate, and the bounds of its 95 % confidence interval.  Without a sample there is no upper
 * bound: it would need the objects' sizes. */
struct estimate {
    double value, low, high;
    double scale; /* what a sample stands for, about; 0: the value is exact */
};

#define NORMAL_975 1.959963984540054 /* the quantile of a normal variable */

/* Returns 1 / p. */
double sample_weight(uint64_t size_bytes, uint64_t interval_bytes);
/* Adds a sample that stands for `weight` objects: 1 / p, times what those stand for that were given
 * up (sample_weights.h). */
void sample_sums_weigh(struct sample_sums *sums, uint64_t size_bytes, double weight,
                       const struct sampling *sampling);
/* Adds that a sample, which was added, may stand for so many objects less or more. */
void sample_sums_doubt(struct sample_sums *sums, uint64_t size_bytes, double fewer, double more);
void sample_lives_weigh(struct sample_lives *lives, double weight, double life);
/* Returns the sums of the samples that are in `all` and not in `part`, a part of it. */
struct sample_sums sample_sums_without(const struct sample_sums *all,
                                       const struct sample_sums *part);

/* Adds the sums of other samples of the same trace. */
void sample_sums_merge(struct sample_sums *sums, const struct sample_sums *other);
void sample_lives_merge(struct sample_lives *lives, const struct sample_lives *other);

/* Returns the mean interval of the samples, by bytes; at least `least_bytes`. */
double sample_sums_interval(const struct sample_sums *sums, double least_bytes);
#define OBJECT_BYTES_LEAST 16.0 /* docs/estimates.md */
/* Returns what an object of this size stands for, less itself: as much a number of objects may be
 * off for one that was not sampled. */
double estimate_unseen(double size_bytes, double interval_bytes);
/* The interval is that of a Poisson variable, scaled to the variance.  It is exact for one size
 * that is small against the interval, is never below 0, and has a width even for one sample.
 * `unseen`: estimate_unseen() of the objects of which there may have been some without a sample; 0
 * if all objects are like those that were sampled.  The upper bound has room for one more of these,
 * as that of a Poisson variable has (Fay and Feuer, Statistics in Medicine 16, 1997), and the
 * skewness of a sum of them alone. */
struct estimate estimate_of(double value, double variance, uint64_t samples, double unseen,
                            const struct sampling *sampling);
struct estimate estimate_objects(const struct sample_sums *sums);
struct estimate estimate_bytes(const struct sample_sums *sums);
/* Returns the mean lifetime: a ratio, whose interval is that of Student's distribution. */
struct estimate estimate_life(const struct sample_lives *lives);
/* Returns the estimate of bytes of which there is no sample.  Whatever sizes the objects have, with
 * -ln(0.025) times the interval one of them would be sampled with a probability of 97.5 %. */
struct estimate estimate_no_bytes(uint64_t interval_bytes);
/* Returns a value that is known. */
struct estimate estimate_exactly(double value);
/* Returns the estimate of `factor` times the value; `factor` is not negative. */
struct estimate estimate_times(struct estimate estimate, double factor);
/* Rounds a value that is not negative to a number that JSON and columns hold exactly. */
uint64_t estimate_whole(double value);
/* Returns the difference of two independent estimates, or of an estimate and an exact value.  Each
 * bound takes the distances of the values' bounds that lead to it (the method of variance estimates
 * recovery).  A side without a sample and an upper bound gets one by the scale of the other; if
 * that is exact, a bound of the difference is infinite. */
struct estimate estimate_difference(struct estimate after, struct estimate before);
/* Returns true if the interval contains the value. */
static inline bool estimate_contains(struct estimate estimate, double value)
{
    return estimate.low <= value && value <= estimate.high;
}

#endif
