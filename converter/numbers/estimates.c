/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs samples, and estimates with them. */
#include "converter/numbers/estimates.h"

#include <math.h>
#include <string.h>

#include "converter/numbers/beta.h"

#define WHOLE_MOST 9e15
#define SURE 1e15 /* so many equal samples have no variance */
#define TAIL 0.025
#define WEIGHT_ROUNDING 1e-6 /* weights of deaths are floats (sample_weights.c) */
#define LIVES_LEAST 1.5      /* equal samples: fewer have no scatter */
/* Degrees of freedom that a mean of lifetimes lacks: more than one, since lifetimes up to the next
 * collection are spread evenly, and few of these scatter less than few of a normal variable. */
#define LIVES_LOST 1.2
#define MANY 1e6 /* samples: the binomial variable is a normal one */
#define NONE_HIGH                                                                                  \
    3.688879454113936 /* -ln(0.025): so many are expected at most where none is seen */

double sample_weight(uint64_t size_bytes, uint64_t interval_bytes)
{
    double share = size_bytes > 0 ? (double) size_bytes / (double) interval_bytes : 0;
    return share > 0 ? -1 / expm1(-share) : 1; /* no object has no size: it stands for itself */
}

void sample_sums_merge(struct sample_sums *sums, const struct sample_sums *other)
{
    if (sums->sampling == NULL)
        sums->sampling = other->sampling;
    sums->samples += other->samples;
    sums->objects += other->objects;
    sums->objects_variance += other->objects_variance;
    sums->bytes += other->bytes;
    sums->seen_bytes += other->seen_bytes;
    sums->bytes_variance += other->bytes_variance;
    sums->fewer += other->fewer;
    sums->fewer_bytes += other->fewer_bytes;
    sums->more += other->more;
    sums->more_bytes += other->more_bytes;
    sums->intervals += other->intervals;
    sums->interval_squares += other->interval_squares;
    sums->is_one_size = sums->is_whole = false; /* they may be of another class */
    sums->known = NULL;
}

bool class_has_one_size(struct step_bytes name)
{
    static const char mirror[] = "java/lang/Class";
    return name.length > 0 && name.data[0] != '[' &&
           (name.length != sizeof mirror - 1 || memcmp(name.data, mirror, sizeof mirror - 1) != 0);
}

void sample_sums_make_whole(struct sample_sums *sums)
{
    sums->is_whole = sums->known != NULL && !sums->known->is_of_several;
}

void sample_lives_merge(struct sample_lives *lives, const struct sample_lives *other)
{
    lives->samples += other->samples;
    lives->weights += other->weights;
    lives->lives += other->lives;
    lives->variance += other->variance;
    lives->variance_lives += other->variance_lives;
    lives->variance_squares += other->variance_squares;
}

static double estimates_difference(double all, double part)
{
    return all > part ? all - part : 0;
}

/* A difference of sums of many samples has no more digits than these: weights of deaths are
 * floats. */
#define ROUNDING 2.5e-7

/* Where rounding may have taken a variance, it is that of samples of equal weights. */
static double variance_left(double left, double all, double of_equal)
{
    return left > all * ROUNDING || !(of_equal > left) ? left : of_equal;
}

static struct sample_sums repair_variances(struct sample_sums sums, const struct sample_sums *all)
{
    double count = (double) sums.samples, weight = sums.objects / count;
    double share = weight > 1 ? 1 - 1 / weight : 0;
    sums.objects_variance = variance_left(sums.objects_variance, all->objects_variance,
                                          sums.objects * sums.objects / count * share);
    sums.bytes_variance = variance_left(sums.bytes_variance, all->bytes_variance,
                                        sums.bytes * sums.bytes / count * share);
    return sums;
}

struct sample_sums sample_sums_without(const struct sample_sums *all,
                                       const struct sample_sums *part)
{
    if (all->samples <= part->samples)
        return (struct sample_sums){.samples = 0};
    const struct sample_sums left = {
        .sampling = all->sampling,
        .samples = all->samples - part->samples,
        .objects = estimates_difference(all->objects, part->objects),
        .objects_variance = estimates_difference(all->objects_variance, part->objects_variance),
        .bytes = estimates_difference(all->bytes, part->bytes),
        .bytes_variance = estimates_difference(all->bytes_variance, part->bytes_variance),
        .seen_bytes = estimates_difference(all->seen_bytes, part->seen_bytes),
        .fewer = estimates_difference(all->fewer, part->fewer),
        .fewer_bytes = estimates_difference(all->fewer_bytes, part->fewer_bytes),
        .more = estimates_difference(all->more, part->more),
        .more_bytes = estimates_difference(all->more_bytes, part->more_bytes),
        .intervals = estimates_difference(all->intervals, part->intervals),
        .interval_squares = estimates_difference(all->interval_squares, part->interval_squares),
        .is_one_size = all->is_one_size,
        .known = all->known};
    return repair_variances(left, all);
}

/* The bounds of the mean of a Poisson variable of which `count` were seen, by the cube root of
 * gamma variables, which is nearly normal (Wilson and Hilferty). */
static double poisson_low(double count)
{
    double root = 1 - 1 / (9 * count) - NORMAL_975 / (3 * sqrt(count));
    return root > 0 ? count * root * root * root : 0;
}

void sampling_draw(struct sampling *sampling, uint64_t interval_bytes)
{
    double interval = (double) interval_bytes;
    sampling->intervals += interval;
    sampling->interval_squares += interval * interval;
}

double sample_sums_interval(const struct sample_sums *sums, double least_bytes)
{
    double mean = sums->intervals > 0 ? sums->interval_squares / sums->intervals : 0;
    return fmax(mean, least_bytes);
}

double estimate_unseen(double size_bytes, double interval_bytes)
{
    return size_bytes > 0 && interval_bytes > 0 ? 1 / expm1(size_bytes / interval_bytes) : 0;
}

/* Returns the factor of the upper bound of a gamma variable's mean, by its shape. */
static double gamma_high(double shape)
{
    double root = 1 - 1 / (9 * shape) + NORMAL_975 / (3 * sqrt(shape));
    return root * root * root;
}

/* Returns what a correction of all samples together adds to a variance: whose bytes were too many
 * or too few is not known, so those of a part may have been right. */
static double moved_variance(double value, const struct sampling *sampling)
{
    double moved = sampling->scaled / (1 + sampling->scaled);
    return moved * moved * value * value;
}

/* Returns what repeated distances add to a variance of chance. */
static double repeated_variance(double value, double variance, uint64_t samples,
                                const struct sampling *sampling)
{
    double repeated = fmax(sampling->repeated, 0);
    double count = value * value / fmax(variance, 0); /* of equal samples with that variance */
    double unsure = count < SURE ? fmin(1, (double) samples / count) : 0; /* of them: 1 - p */
    return repeated * unsure * unsure * value * value;
}

struct estimate estimate_of(double value, double variance, uint64_t samples, double unseen,
                            const struct sampling *sampling)
{
    if (samples == 0 || value <= 0)
        return (struct estimate){0, 0, INFINITY, 0};
    variance = fmax(variance, 0) + repeated_variance(value, variance, samples, sampling) +
               moved_variance(value, sampling);
    double count = value * value / variance, low = value;
    if (!(count < SURE) && unseen <= 0)
        return estimate_exactly(value); /* each is surely sampled */
    if (count < SURE)
        low = value * (poisson_low(count) / count);
    double unit = fmax(variance / value, unseen), shape = variance / (unit * unit) + 1;
    double high = value + unit * (1 + shape * (gamma_high(shape) - 1));
    return (struct estimate){value, low, high, unit};
}

/* Returns the mean interval of all samples of the trace, by bytes; at least the trace's. */
static double mean_interval(const struct sampling *sampling)
{
    double mean = sampling->intervals > 0 ? sampling->interval_squares / sampling->intervals : 0;
    return fmax(mean, (double) sampling->interval_bytes);
}

/* ---- shares of a known total ---- */

static struct estimate estimate_about(double value, double half, double most)
{
    return (struct estimate){value, fmax(value - half, 0), fmin(value + half, most), half};
}

/* Returns the variance of the bytes of a part of what is known. All samples of the class weigh more
 * or less together, so that their sum is the total: what a sample of the part adds to it is taken
 * from the others, in proportion to what is beyond the samples; of the program, to all. */
static double share_variance(const struct sample_sums *part, const struct sample_sums *all)
{
    bool is_of_program = all == part->sampling->shared;
    double beyond = all->bytes - all->seen_bytes, of_part = part->bytes - part->seen_bytes;
    double share = is_of_program ? part->bytes / all->bytes : beyond > 0 ? of_part / beyond : 0;
    share = fmin(fmax(share, 0), 1);
    double own = fmax(part->bytes_variance, 0);
    double of_all = fmax(all->bytes_variance, 0);
    double more =
        repeated_variance(part->bytes, part->bytes_variance, part->samples, part->sampling);
    if (is_of_program)
        more += moved_variance(part->bytes, part->sampling);
    return fmax((1 - 2 * share) * own + share * share * of_all, 0) +
           more * (1 - share) * (1 - share);
}

/* Returns whether all objects of the class that these are a part of are known. */
static bool is_share_of_class(const struct sample_sums *sums)
{
    return sums->known != NULL && sums->known->rest.samples == 0 && sums->known->room <= 0 &&
           sums->known->all.bytes > 0 && sums->samples > 0;
}

/* Returns all samples whose bytes are known and include these; NULL: there are none. */
static const struct sample_sums *shared_by(const struct sample_sums *sums)
{
    if (is_share_of_class(sums))
        return &sums->known->all;
    const struct sample_sums *shared = sums->sampling != NULL ? sums->sampling->shared : NULL;
    return shared != NULL && shared->bytes > 0 && sums->samples > 0 ? shared : NULL;
}

/* The interval is that of a binomial variable with the same variance (Clopper and Pearson). */
static struct estimate share_of_bytes(const struct sample_sums *sums,
                                      const struct sample_sums *shared)
{
    double part = sums->bytes, all = shared->bytes, share = fmin(part / all, 1);
    double variance = share_variance(sums, shared);
    bool is_all = share > 1 - WEIGHT_ROUNDING;
    double count = is_all ? all * all / fmax(shared->bytes_variance, 0)
                          : share * (1 - share) * all * all / variance;
    if (!(count < SURE))
        return estimate_exactly(part);
    if (count > MANY && !is_all)
        return estimate_about(part, NORMAL_975 * sqrt(variance), all);
    double inside = is_all ? count : count * share, outside = count - inside;
    return (struct estimate){part, all * beta_quantile(inside, outside + 1, TAIL),
                             outside > 0 ? all * beta_quantile(inside + 1, outside, 1 - TAIL) : all,
                             all / count};
}

/* Returns a number that is known, and besides it what samples say of the rest; without samples, the
 * rest is at most `room`. */
static struct estimate known_and(double known, struct estimate rest, uint64_t samples, double room)
{
    if (samples == 0)
        return (struct estimate){known, known, known + room, room};
    return (struct estimate){known + rest.value, known + rest.low, known + rest.high, rest.scale};
}

/* Of which there is no sample. */
static double room_unseen(double room, const struct sampling *sampling)
{
    return fmin(room, NONE_HIGH * mean_interval(sampling));
}

static double size_of_known(const struct sample_sums *sums)
{
    const struct sample_known *known = sums->known;
    return sums->is_one_size && known->objects > 0 ? known->bytes / known->objects
                                                   : OBJECT_BYTES_LEAST;
}

static struct estimate estimate_objects_by_chance(const struct sample_sums *sums)
{
    if (sums->samples == 0)
        return estimate_of(0, 0, 0, 0, NULL);
    double size = sums->is_one_size ? sums->bytes / sums->objects : OBJECT_BYTES_LEAST;
    double interval = sample_sums_interval(sums, mean_interval(sums->sampling));
    return estimate_of(sums->objects, sums->objects_variance, sums->samples,
                       estimate_unseen(size, interval), sums->sampling);
}

/* Returns the range with room for a biased JVM's errors: at least what the samples are themselves.
 */
static struct estimate estimate_doubted(struct estimate estimate, double fewer, double more,
                                        double seen)
{
    if (fewer > 0)
        estimate.low = fmin(fmax(estimate.low - fewer, seen), estimate.low);
    estimate.high += more;
    return estimate;
}

/* The same of a part of what is known: if the others' samples stand for less, these stand for more,
 * in proportion; and the others have at least what their samples are. */
static struct estimate share_doubted(struct estimate estimate, const struct sample_sums *part,
                                     const struct sample_sums *all)
{
    double others = estimates_difference(all->fewer_bytes, part->fewer_bytes);
    double most = all->bytes - estimates_difference(all->seen_bytes, part->seen_bytes);
    estimate = estimate_doubted(estimate, part->fewer_bytes, part->more_bytes, part->seen_bytes);
    if (others > 0 || part->more_bytes > 0)
        estimate.high =
            fmax(fmin(others < all->bytes ? estimate.high * (all->bytes / (all->bytes - others))
                                          : INFINITY,
                      most),
                 estimate.value);
    return estimate;
}

/* Of samples that are a part of others. */
static struct estimate part_of_bytes(const struct sample_sums *sums)
{
    const struct sample_sums *shared = shared_by(sums);
    if (shared != NULL)
        return share_doubted(share_of_bytes(sums, shared), sums, shared);
    return estimate_doubted(
        estimate_of(sums->bytes, sums->bytes_variance, sums->samples, 0, sums->sampling),
        sums->fewer_bytes, sums->more_bytes, sums->seen_bytes);
}

static struct estimate part_of_objects(const struct sample_sums *sums)
{
    const struct sample_sums *shared = shared_by(sums);
    if (shared != NULL && sums->is_one_size)
        return estimate_times(part_of_bytes(sums), sums->objects / sums->bytes);
    struct estimate objects = estimate_doubted(estimate_objects_by_chance(sums), sums->fewer,
                                               sums->more, (double) sums->samples);
    if (is_share_of_class(sums) && objects.high > sums->known->objects)
        objects.high = fmax(sums->known->objects, objects.value);
    return objects;
}

struct estimate estimate_objects(const struct sample_sums *sums)
{
    const struct sample_known *known = sums->known;
    if (!sums->is_whole)
        return part_of_objects(sums);
    return known_and(known->objects, part_of_objects(&known->rest), known->rest.samples,
                     room_unseen(known->room, sums->sampling) / size_of_known(sums));
}

struct estimate estimate_bytes(const struct sample_sums *sums)
{
    const struct sample_known *known = sums->known;
    if (!sums->is_whole)
        return part_of_bytes(sums);
    return known_and(known->bytes, part_of_bytes(&known->rest_of_bytes),
                     known->rest_of_bytes.samples,
                     room_unseen(known->room_of_bytes, sums->sampling));
}

/* Returns the 97.5 % quantile of Student's distribution. */
static double student_quantile(double freedom)
{
    double x = beta_quantile(freedom / 2, 0.5, 2 * TAIL); /* freedom / (freedom + t^2) */
    return x > 0 ? sqrt(freedom * (1 - x) / x) : INFINITY;
}

/* The mean is a ratio.  So many equal samples as would have these weights say how far their own
 * scatter is to be trusted; one alone says nothing of it. */
struct estimate estimate_life(const struct sample_lives *lives)
{
    if (lives->samples == 0)
        return (struct estimate){0, 0, INFINITY, 0};
    double mean = lives->lives / lives->weights;
    double variance =
        lives->variance_squares - 2 * mean * lives->variance_lives + mean * mean * lives->variance;
    if (!(lives->variance > lives->weights * WEIGHT_ROUNDING))
        return estimate_exactly(mean);                 /* each sample stands for itself */
    double squares = lives->variance + lives->weights; /* of the weights */
    double count = lives->weights * lives->weights / squares;
    if (count < LIVES_LEAST)
        return (struct estimate){mean, 0, INFINITY, mean};
    double deviation = sqrt(fmax(variance, 0) * count / (count - 1)) / lives->weights;
    double half = student_quantile(count - LIVES_LOST) * deviation;
    return (struct estimate){mean, half < mean ? mean - half : 0, mean + half, half};
}

struct estimate estimate_no_bytes(uint64_t interval_bytes)
{
    double scale = (double) interval_bytes;
    return (struct estimate){0, 0, NONE_HIGH * scale, scale};
}

struct estimate estimate_exactly(double value)
{
    return (struct estimate){value, value, value, 0};
}

uint64_t estimate_whole(double value)
{
    return value < WHOLE_MOST ? (uint64_t) (value + 0.5) : (uint64_t) WHOLE_MOST;
}

struct estimate estimate_times(struct estimate estimate, double factor)
{
    return (struct estimate){estimate.value * factor, estimate.low * factor,
                             isinf(estimate.high) ? INFINITY : estimate.high * factor,
                             estimate.scale * factor};
}

/* Returns the distance from the value to its upper bound. */
static double room_above(struct estimate estimate, double other_scale)
{
    if (!isinf(estimate.high))
        return estimate.high - estimate.value;
    return other_scale > 0 ? NONE_HIGH * other_scale : INFINITY;
}

struct estimate estimate_difference(struct estimate after, struct estimate before)
{
    double value = after.value - before.value;
    double less = hypot(after.value - after.low, room_above(before, after.scale));
    double more = hypot(room_above(after, before.scale), before.value - before.low);
    return (struct estimate){value, value - less, value + more, fmax(after.scale, before.scale)};
}

/* Returns the interval with which an object of few bytes would stand for as many as this sample:
 * the one that it was drawn with, times what it stands for that was given up, or that exact totals
 * add.  A large object does not say the first; it is the trace's then. */
static double sample_interval(double size_bytes, double weight, const struct sampling *sampling)
{
    double widest = (double) sampling->interval_bytes;
    return widest > 0 ? widest * weight * -expm1(-size_bytes / widest) : size_bytes * weight;
}

/* With p = 1 / weight, (1 - p) / p^2 is weight * (weight - 1); if both are scaled, (weight - scale)
 * takes the place of that. */
void sample_sums_weigh(struct sample_sums *sums, uint64_t size_bytes, double weight,
                       const struct sampling *sampling)
{
    double size = (double) size_bytes, variance = weight * (weight - 1 - sampling->scaled);
    sums->sampling = sampling;
    sums->samples++;
    sums->objects += weight;
    sums->objects_variance += variance;
    sums->bytes += size * weight;
    sums->bytes_variance += size * size * variance;
    sums->seen_bytes += size;
    double interval = sample_interval(size, weight, sampling);
    sums->intervals += interval;
    sums->interval_squares += interval * interval;
}

void sample_sums_doubt(struct sample_sums *sums, uint64_t size_bytes, double fewer, double more)
{
    double size = (double) size_bytes;
    sums->fewer += fewer;
    sums->fewer_bytes += fewer * size;
    sums->more += more;
    sums->more_bytes += more * size;
}

void sample_lives_weigh(struct sample_lives *lives, double weight, double life)
{
    double variance = weight * (weight - 1);
    lives->samples++;
    lives->weights += weight;
    lives->lives += life * weight;
    lives->variance += variance;
    lives->variance_lives += variance * life;
    lives->variance_squares += variance * life * life;
}
