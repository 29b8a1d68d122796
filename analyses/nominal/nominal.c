/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the statistics need. */
#include "analyses/nominal/nominal.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/trace/open_phases.h"

/* Returns false if out of memory; dispersion_reset() is allowed then. */
static bool dispersion_init(struct dispersion *dispersion)
{
    dispersion->known = calloc(LIFETIME_BUCKETS, sizeof *dispersion->known);
    dispersion->least = calloc(LIFETIME_BUCKETS, sizeof *dispersion->least);
    dispersion->has_bounds = false;
    return dispersion->known != NULL && dispersion->least != NULL;
}

static void dispersion_reset(struct dispersion *dispersion)
{
    free(dispersion->known);
    free(dispersion->least);
    *dispersion = (struct dispersion){.known = NULL};
}

static void dispersion_add(struct dispersion *dispersion, uint64_t size, uint64_t lifetime,
                           bool is_bound)
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

#define BYTES_MOST (UINT64_C(1) << 62)

bool nominal_init(struct nominal *nominal, const struct nominal_options *options)
{
    *nominal = (struct nominal){.options = *options, .first_ns = UINT64_MAX};
    nominal->sizes = calloc(NOMINAL_SIZES, sizeof *nominal->sizes);
    return dispersion_init(&nominal->dispersion) && nominal->sizes != NULL;
}

void nominal_reset(struct nominal *nominal)
{
    free(nominal->sizes);
    nominal->sizes = NULL;
    lifetimes_reset(&nominal->larger);
    dispersion_reset(&nominal->dispersion);
    object_table_reset(&nominal->live);
}

/* ---- phases ---- */

/* DaCapo's and JMH's iterations. */
static bool is_iteration(const struct trace_phase *phase)
{
    static const char *const names[] = {"warmup", "measure"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (phase->name.length == strlen(names[i]) &&
            memcmp(phase->name.data, names[i], phase->name.length) == 0)
            return phase->of_program && phase->depth == 1;
    return false;
}

enum step_status nominal_put_phase(void *user, const struct trace_phase *phase)
{
    struct nominal *nominal = user;
    const struct selected_globs *globs = &nominal->options.phases;
    if (is_iteration(phase) && phase->end_ns != UINT64_MAX) {
        nominal->iterations++;
        if (nominal->iterations == 1)
            nominal->first_end_ns = phase->end_ns;
        if (nominal->iterations == NOMINAL_ITERATIONS)
            nominal->tenth_end_ns = phase->end_ns;
    }
    if (globs->count == 0 || !selected_globs_accept(globs, phase_name_mask(globs, phase->name)))
        return STEP_STATUS_OK;
    if (!phase->of_program || phase->end_ns == UINT64_MAX) {
        nominal->has_other_phases = true;
        return STEP_STATUS_OK;
    }
    nominal->phase_count++;
    nominal->phase_ns += phase->end_ns - phase->begin_ns;
    return STEP_STATUS_OK;
}

/* ---- events ---- */

static bool count_size(struct nominal *nominal, uint64_t size)
{
    nominal->objects++;
    nominal->bytes += size;
    if (size >= NOMINAL_SIZES)
        return lifetimes_add(&nominal->larger, size);
    nominal->sizes[size]++;
    return true;
}

static void note_peak(struct nominal *nominal, uint64_t time_ns)
{
    if (nominal->living > nominal->peak)
        nominal->peak = nominal->living;
    if (time_ns <= nominal->first_end_ns && nominal->living > nominal->peak_first)
        nominal->peak_first = nominal->living;
    if (time_ns <= nominal->tenth_end_ns && nominal->living > nominal->peak_tenth)
        nominal->peak_tenth = nominal->living;
}

static bool nominal_put_birth(struct nominal *nominal, const struct trace_event *event)
{
    bool is_new = (event->flags & TRACE_EXISTING) == 0;
    bool is_counted =
        is_new && (nominal->options.phases.count == 0 || (event->flags & TRACE_IN_PHASE) != 0);
    const struct live_object object = {.object = event->object,
                                       .value = is_counted ? nominal->born + 1 : 0,
                                       .size = event->size,
                                       .class_id = event->class_id};
    if (!object_table_put(&nominal->live, &object))
        return false;
    nominal->living += event->size;
    nominal->born += is_new ? event->size : 0;
    note_peak(nominal, event->time_ns);
    return !is_counted || count_size(nominal, event->size);
}

static void count_life(struct nominal *nominal, const struct live_object *object, bool is_bound)
{
    if (object->value != 0)
        dispersion_add(&nominal->dispersion, object->size, nominal->born - (object->value - 1),
                       is_bound);
}

static void nominal_put_death(struct nominal *nominal, const struct trace_event *event)
{
    struct live_object object;
    death_dates_put(&nominal->deaths, event);
    if (!object_table_take(&nominal->live, event->object, &object)) {
        nominal->unknown_frees++;
        return;
    }
    nominal->living -= object.size;
    count_life(nominal, &object,
               (event->flags & TRACE_BOUND) != 0 && (event->flags & TRACE_BY_COLLECTION) == 0);
}

enum step_status nominal_put(void *nominal_pointer, const struct trace_event *events, size_t count,
                             struct step_error *error)
{
    struct nominal *nominal = nominal_pointer;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        nominal->first_ns = event->time_ns < nominal->first_ns ? event->time_ns : nominal->first_ns;
        nominal->last_ns = event->time_ns > nominal->last_ns ? event->time_ns : nominal->last_ns;
        if (event->kind == EVENT_OBJECT_FREE)
            nominal_put_death(nominal, event);
        if (event->kind != EVENT_OBJECT_ALLOC)
            continue;
        if (event->size > BYTES_MOST - nominal->born || event->size > BYTES_MOST - nominal->living)
            return step_error_set(error, STEP_STATUS_CORRUPT, nominal->path, STEP_NO_OFFSET,
                                  "the sizes of the objects add up to more than 2^62");
        if (!nominal_put_birth(nominal, event))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
}

void nominal_finish(struct nominal *nominal)
{
    struct object_cursor cursor = {0};
    struct live_object object;
    while (object_table_next(&nominal->live, &cursor, &object))
        count_life(nominal, &object, true);
}

/* ---- call sites ---- */

/* Methods that the JVM calls, not an instruction of the frame below. */
static bool is_called_by_vm(const struct trace_names *names, const struct trace_frame *frame)
{
    static const char *const methods[] = {"<clinit>", "loadClass", "checkPackageAccess"};
    struct step_bytes name = trace_method_of(names, frame->method_id)->name;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (name.length == strlen(methods[i]) && memcmp(name.data, methods[i], name.length) == 0)
            return true;
    return false;
}

bool nominal_put_names(struct nominal *nominal, const struct trace_names *names)
{
    struct name_index places = {.count = 0}; /* by method and line, and the bytecode index */
    bool ok = true, is_new;
    for (uint32_t id = 0; ok && id_table_next(&names->frames, &id); id++) {
        const struct trace_frame *frame = trace_frame_of(names, id);
        const struct trace_frame *caller = trace_frame_of(names, frame->parent);
        const struct step_bytes bytecode = {(const uint8_t *) &caller->bytecode,
                                            sizeof caller->bytecode};
        if (frame->known && frame->parent != 0 && (caller->line != 0 || caller->bytecode != 0) &&
            !is_called_by_vm(names, frame))
            ok = name_index_put(&places, (uint64_t) caller->method_id << 32 | caller->line,
                                bytecode, &is_new) != 0;
    }
    nominal->call_sites = places.count;
    name_index_reset(&places);
    return ok;
}
