/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coefficient is half of the mean difference of two bytes' lifetimes, divided by their mean.
 *
 * Objects of a bucket are taken as if all had the bucket's mean, which never raises the
 * coefficient.  Lifetimes with a lower bound only are chosen so that the coefficient is least.  Of
 * all choices with the same sum, raising the shortest lifetimes to one level gives the smallest
 * differences, since the others majorise it.  Between two neighbouring lifetimes the coefficient
 * as a function of the level is a quotient of linear functions, so that it is least at a lifetime.
 */
#include "converter/nominal/dispersion.h"

#include <stdlib.h>

bool dispersion_init(struct dispersion *dispersion)
{
    dispersion->known = calloc(LIFETIME_BUCKETS, sizeof *dispersion->known);
    dispersion->least = calloc(LIFETIME_BUCKETS, sizeof *dispersion->least);
    dispersion->has_bounds = false;
    return dispersion->known != NULL && dispersion->least != NULL;
}

void dispersion_reset(struct dispersion *dispersion)
{
    free(dispersion->known);
    free(dispersion->least);
    *dispersion = (struct dispersion){.known = NULL};
}

void dispersion_add(struct dispersion *dispersion, uint64_t size, uint64_t lifetime, bool is_bound)
{
    struct lives *to = is_bound ? dispersion->least : dispersion->known;
    struct lives *bucket = &to[lifetimes_bucket(lifetime)];
    bucket->bytes += (double) size;
    bucket->lived += (double) size * (double) lifetime;
    dispersion->has_bounds = dispersion->has_bounds || (is_bound && size > 0);
}

/* ---- the least ---- */

struct point {
    double lifetime, bytes;
    bool is_bound;
};

static void add_point(struct point *points, size_t *count, const struct lives *lives, bool is_bound)
{
    if (lives->bytes > 0)
        points[(*count)++] = (struct point){lives->lived / lives->bytes, lives->bytes, is_bound};
}

/* Writes the buckets in use, in the order of their lifetimes.  Returns their number. */
static size_t sorted_points(const struct dispersion *dispersion, struct point *points)
{
    size_t count = 0;
    for (size_t i = 0; i < LIFETIME_BUCKETS; i++) {
        const struct lives *known = &dispersion->known[i], *least = &dispersion->least[i];
        bool bound_first = known->lived * least->bytes > least->lived * known->bytes;
        add_point(points, &count, bound_first ? least : known, bound_first);
        add_point(points, &count, bound_first ? known : least, !bound_first);
    }
    return count;
}

/* The running sums over bytes in the order of their lifetimes, for the area below their curve. */
struct curve {
    double bytes, lived, area;
};

static void extend(struct curve *curve, double bytes, double lifetime)
{
    double lived = bytes * lifetime;
    curve->area += bytes * (2 * curve->lived + lived);
    curve->bytes += bytes;
    curve->lived += lived;
}

/* Returns the coefficient if lifetimes with a lower bound below that of `level` are as long. */
static double coefficient(const struct point *points, size_t count, size_t level)
{
    struct curve curve = {.bytes = 0};
    double raised = 0;
    for (size_t i = 0; i < count; i++) {
        if (i < level && points[i].is_bound)
            raised += points[i].bytes;
        else
            extend(&curve, points[i].bytes, points[i].lifetime);
        if (i == level && raised > 0)
            extend(&curve, raised, points[i].lifetime);
    }
    return curve.lived > 0 ? 1 - curve.area / (curve.bytes * curve.lived) : 0;
}

/* ---- inside of buckets ---- */

/* Returns the most that the differences inside of buckets add: a part of the bytes has the least
 * lifetime of the bucket, the rest the greatest. */
static double lost(const struct dispersion *dispersion)
{
    double bytes = 0, lived = 0, sum = 0;
    for (unsigned i = 0; i < LIFETIME_BUCKETS; i++) {
        const struct lives *lives = &dispersion->known[i];
        double low = (double) lifetimes_least_of(i);
        double high = i + 1 < LIFETIME_BUCKETS ? (double) lifetimes_least_of(i + 1) - 1 : low * 2;
        bytes += lives->bytes;
        lived += lives->lived;
        if (lives->bytes == 0 || high <= low)
            continue;
        double mean = lives->lived / lives->bytes;
        sum += lives->bytes * lives->bytes * (mean - low) * (high - mean) / (high - low);
    }
    return lived > 0 ? sum / (bytes * lived) : 0;
}

bool dispersion_compute(const struct dispersion *dispersion, struct dispersion_result *result)
{
    struct point *points = malloc(2 * LIFETIME_BUCKETS * sizeof *points);
    size_t count = points != NULL ? sorted_points(dispersion, points) : 0;
    result->least = 1;
    for (size_t level = 0; level < count; level++) {
        double value = coefficient(points, count, level);
        result->least = value < result->least ? value : result->least;
        if (!dispersion->has_bounds)
            break;
    }
    result->most = result->least + lost(dispersion);
    free(points);
    return count > 0;
}
