/* SPDX-License-Identifier: Apache-2.0 */
/* Weighs samples, with the interval of each and the thresholds during its life. */
#include "converter/trace/sample_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "format/core/grow.h"
#include "steptrace/live.h"

#define LOTS 0x1p53

struct threshold {
    uint64_t time_ns, value;
    uint64_t object; /* that is not awaited any more; 0: none */
};

void sample_weights_init(struct sample_weights *weights, uint64_t interval_bytes,
                         struct sampling *sampling)
{
    *weights = (struct sample_weights){.interval_bytes = interval_bytes, .sampling = sampling};
}

void sample_weights_reset(struct sample_weights *weights)
{
    if (weights->totals != NULL) {
        if (weights->sampling->totals == weights->totals) {
            weights->sampling->totals = NULL;
            weights->sampling->shared = NULL;
            weights->sampling->scaled = 0;
        }
        sample_totals_reset(weights->totals);
        free(weights->totals);
    }
    free(weights->changes);
    free(weights->least);
    id_set_reset(&weights->given_up);
    object_table_reset(&weights->live);
    object_table_reset(&weights->doubted);
    sample_doubts_reset(&weights->doubts);
    *weights = (struct sample_weights){.interval_bytes = 0};
}

/* Returns false if out of memory. */
static bool sample_weights_grow(struct sample_weights *weights)
{
    size_t changes = weights->capacity, least = weights->capacity, need = weights->count + 1;
    if (!STEP_MAKE_ROOM(weights->changes, changes, need) ||
        !STEP_MAKE_ROOM(weights->least, least, need))
        return false;
    weights->capacity = least;
    return true;
}

/* What a walk knows is of its classes' records: where these have other sums, some are lost, or they
 * are wrong, and no class is known.  If a record before this one is lost, so are the bytes that
 * were counted then; and nothing is known of one that knows more than it has counted. */
static bool put_walk(struct sample_weights *weights, const struct trace_fact *fact)
{
    bool is_next = fact->collection == weights->records + 1;
    bool has_classes = fact->how == STEP_LIVE_EDEN_WALKED && weights->class_bytes == fact->bytes &&
                       fact->bytes == fact->counted;
    weights->class_bytes = 0;
    weights->records = fact->collection;
    return sample_totals_end(weights->totals, fact->time_ns,
                             !is_next || fact->bytes > fact->counted ? TOTALS_OF_NOTHING
                             : has_classes                           ? TOTALS_OF_CLASSES
                                                                     : TOTALS_OF_PROGRAM,
                             fact->counted);
}

static bool put_totals(struct sample_weights *weights, const struct trace_fact *fact)
{
    if (fact->kind == TRACE_EDEN_WALK)
        return put_walk(weights, fact);
    if (!fact->is_of_class)
        return true; /* the record of the walk says how many bytes that are */
    const struct trace_class *class = trace_class_of(weights->names, fact->class_id);
    weights->class_bytes += fact->bytes;
    return sample_totals_add_class(weights->totals, class->name, class->loader, fact->class_id,
                                   fact->objects, fact->bytes);
}

enum step_status sample_weights_put_fact(void *user, const struct trace_fact *fact)
{
    struct sample_weights *weights = user;
    if (fact->kind == TRACE_EDEN_CLASS || fact->kind == TRACE_EDEN_WALK)
        return weights->totals == NULL || put_totals(weights, fact) ? STEP_STATUS_OK
                                                                    : STEP_STATUS_NO_MEMORY;
    if (fact->kind != TRACE_GIVEN_UP)
        return STEP_STATUS_OK;
    uint64_t last_ns = weights->count > 0 ? weights->changes[weights->count - 1].time_ns : 0;
    if (fact->threshold == 0 || fact->threshold > (uint64_t) LOTS || fact->time_ns < last_ns ||
        weights->count == UINT32_MAX)
        return STEP_STATUS_CORRUPT;
    if (!sample_weights_grow(weights))
        return STEP_STATUS_NO_MEMORY;
    weights->changes[weights->count++] =
        (struct threshold){fact->time_ns, fact->threshold, fact->object};
    return STEP_STATUS_OK;
}

/* The files of a ring as one have no totals for the time between them: each file alone has. */
static bool has_totals(const struct event_source *source)
{
    const struct trace_text totals = event_source_property(source, "totals");
    return (trace_text_is(totals, "walk") || trace_text_is(totals, "threads")) &&
           event_source_property(source, "file-set-pauses-ns").unshown == NULL;
}

/* Returns the interval with which a sample was drawn. */
static uint64_t sample_weights_interval(const struct sample_weights *weights,
                                        const struct trace_event *event)
{
    return event->drawn_bytes != 0 ? event->drawn_bytes : weights->interval_bytes;
}

static enum step_status put_sample(void *user, const struct trace_event *event)
{
    struct sample_weights *weights = user;
    const struct trace_class *class = trace_class_of(weights->names, event->class_id);
    bool has_room = sample_totals_add_sample(weights->totals, class->name, class->loader,
                                             event->class_id, event->time_ns, event->size,
                                             sample_weights_interval(weights, event));
    if (has_room && weights->sampling->is_biased)
        has_room =
            sample_doubts_add(&weights->doubts, event->thread_id, event->time_ns, event->size);
    return has_room ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

static bool is_doubtful(const struct sample_weights *weights, const struct trace_event *event)
{
    return sample_doubts_has(&weights->doubts, event->thread_id, event->time_ns);
}

static enum step_status doubt_sample(void *user, const struct trace_event *event)
{
    struct sample_weights *weights = user;
    const struct trace_class *class = trace_class_of(weights->names, event->class_id);
    if (is_doubtful(weights, event))
        sample_totals_doubt_sample(weights->totals, class->name, event->time_ns, event->size,
                                   sample_weights_interval(weights, event));
    return STEP_STATUS_OK;
}

static enum step_status count_sample(void *user, const struct trace_event *event)
{
    struct sample_weights *weights = user;
    const struct trace_class *class = trace_class_of(weights->names, event->class_id);
    sample_totals_count_sample(weights->totals, class->name, event->time_ns, event->size,
                               sample_weights_interval(weights, event),
                               is_doubtful(weights, event));
    return STEP_STATUS_OK;
}

static enum step_status read_totals(struct sample_weights *weights, struct event_source *source,
                                    struct step_error *error)
{
    if (weights->totals == NULL)
        return STEP_STATUS_OK;
    struct sampling *sampling = weights->sampling;
    enum step_status status = event_source_samples(source, put_sample, weights, error);
    sample_doubts_sort(&weights->doubts);
    if (status == STEP_STATUS_OK && sampling->is_biased)
        status = event_source_samples(source, doubt_sample, weights, error);
    sample_totals_settle(weights->totals);
    sampling->scaled = weights->totals->scale - 1;
    if (status == STEP_STATUS_OK)
        status = event_source_samples(source, count_sample, weights, error);
    sampling->totals = weights->totals;
    sampling->shared = sample_totals_shared(weights->totals);
    return status;
}

enum step_status sample_weights_read(struct sample_weights *weights, struct event_source *source,
                                     struct step_error *error)
{
    uint64_t interval_bytes = event_source_sample_interval(source);
    *weights = (struct sample_weights){.interval_bytes = 0};
    if (interval_bytes == 0)
        return STEP_STATUS_OK;
    struct sampling *sampling = sampled_trace_sampling(source->path);
    if (sampling == NULL)
        return no_memory(error);
    sampling->interval_bytes = interval_bytes;
    sample_weights_init(weights, interval_bytes, sampling);
    weights->names = &source->names;
    if (has_totals(source)) {
        weights->totals = calloc(1, sizeof *weights->totals);
        if (weights->totals == NULL)
            return no_memory(error);
        weights->totals->sampling = sampling;
    }
    enum step_status status = event_source_facts(source, sample_weights_put_fact, weights, error);
    if (status == STEP_STATUS_NO_MEMORY)
        return no_memory(error);
    if (status == STEP_STATUS_CORRUPT && error->message[0] == '\0')
        return step_error_set(
            error, status, source->path, STEP_NO_OFFSET,
            "its records ObjectGivenUp are not in order, or have no valid threshold");
    return status == STEP_STATUS_OK ? read_totals(weights, source, error) : status;
}

static void pass_next(struct sample_weights *weights)
{
    uint64_t value = weights->changes[weights->passed].value;
    uint64_t object = weights->changes[weights->passed].object;
    struct live_object given_up;
    bool is_new;
    object_table_take(&weights->live, object, &given_up);
    if (object != 0 && !id_set_add(&weights->given_up, object, &is_new))
        weights->no_memory = true;
    while (weights->least_count > 0 &&
           weights->changes[weights->least[weights->least_count - 1]].value >= value)
        weights->least_count--;
    weights->least[weights->least_count++] = (uint32_t) weights->passed++;
}

void sample_weights_pass(struct sample_weights *weights, uint64_t time_ns)
{
    while (weights->passed < weights->count && weights->changes[weights->passed].time_ns < time_ns)
        pass_next(weights);
}

/* Returns the least threshold since the change `from`, that before it included. */
static double least_since(const struct sample_weights *weights, size_t from)
{
    size_t low = 0, high = weights->least_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (weights->least[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    double least = from > 0 ? (double) weights->changes[from - 1].value : LOTS;
    if (low < weights->least_count)
        least = fmin(least, (double) weights->changes[weights->least[low]].value);
    return least;
}

/* Of an object that will be known at a later time: its weight as a float, and the changes of the
 * threshold before its birth. */
static void sample_weights_keep(struct sample_weights *weights, const struct trace_event *event,
                                double weight)
{
    struct live_object kept = {
        .object = event->object, .size = event->size, .class_id = event->class_id};
    float rounded = (float) weight;
    uint32_t bits;
    if ((weights->count == 0 && event->drawn_bytes == 0 && weights->totals == NULL) ||
        id_set_has(&weights->given_up, event->object))
        return;
    memcpy(&bits, &rounded, sizeof bits);
    kept.value = (uint64_t) weights->passed << 32 | bits;
    if (!object_table_put(&weights->live, &kept))
        weights->no_memory = true;
}

static double weight_now(const struct sample_weights *weights, const struct live_object *kept)
{
    uint32_t bits = (uint32_t) kept->value;
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    return (double) weight * (LOTS / least_since(weights, (size_t) (kept->value >> 32)));
}

/* Keeps what is in doubt of a weight, as shares of it. */
static void keep_doubt(struct sample_weights *weights, const struct trace_event *event,
                       double weight, double chance)
{
    const struct trace_class *class = trace_class_of(weights->names, event->class_id);
    struct sample_doubt doubt = sample_totals_doubt(weights->totals, class->name, weight, chance,
                                                    is_doubtful(weights, event));
    float shares[2] = {(float) (doubt.fewer / weight), (float) (doubt.more / weight)};
    struct live_object kept = {.object = event->object};
    if (doubt.fewer <= 0 && doubt.more <= 0) {
        object_table_take(&weights->doubted, event->object, &kept); /* of a second allocation */
        return;
    }
    memcpy(&kept.value, shares, sizeof kept.value);
    if (!object_table_put(&weights->doubted, &kept))
        weights->no_memory = true;
}

void sample_weights_add(const struct sample_weights *weights, struct sample_sums *sums,
                        uint64_t object, uint64_t size_bytes, double weight)
{
    struct live_object kept;
    float shares[2];
    sample_sums_weigh(sums, size_bytes, weight, weights->sampling);
    if (!object_table_find(&weights->doubted, object, &kept))
        return;
    memcpy(shares, &kept.value, sizeof shares);
    sample_sums_doubt(sums, size_bytes, shares[0] * weight, shares[1] * weight);
}

double sample_weights_of(struct sample_weights *weights, const struct trace_event *event)
{
    struct live_object kept;
    sample_weights_pass(weights, event->time_ns);
    if (event->kind == EVENT_OBJECT_ALLOC) {
        uint64_t interval = sample_weights_interval(weights, event);
        double chance = sample_weight(event->size, interval), weight = chance;
        if (weights->totals != NULL) {
            weight = sample_totals_weight(weights->totals,
                                          trace_class_of(weights->names, event->class_id)->name,
                                          event->time_ns, event->size, chance);
            keep_doubt(weights, event, weight, chance);
        }
        if (weights->interval_bytes != 0)
            sampling_draw(weights->sampling, interval);
        sample_weights_keep(weights, event, weight);
        return weight;
    }
    return object_table_take(&weights->live, event->object, &kept)
               ? weight_now(weights, &kept)
               : sample_weight(event->size, weights->interval_bytes);
}

bool sample_weights_now(const struct sample_weights *weights, uint64_t object, uint64_t size_bytes,
                        double *weight)
{
    struct live_object kept;
    bool is_kept = object_table_find(&weights->live, object, &kept);
    *weight =
        is_kept ? weight_now(weights, &kept) : sample_weight(size_bytes, weights->interval_bytes);
    return is_kept || weights->count == 0;
}

void sample_weights_each_live(struct sample_weights *weights, sample_weight_visit visit, void *user)
{
    sample_weights_pass(weights, UINT64_MAX);
    struct object_cursor cursor = {0};
    struct live_object kept;
    while (object_table_next(&weights->live, &cursor, &kept))
        visit(user, &kept, weight_now(weights, &kept));
}
