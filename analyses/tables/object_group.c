/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one column at a time, and for each column one run at a time. */
#include "analyses/tables/object_group.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "converter/containers/no_memory.h"
#include "format/core/grow.h"
#include "format/core/search.h"

#define LOTS 0x1p53

static enum step_status add_change(void *user, const struct trace_fact *fact)
{
    struct life_weights *weights = user;
    bool is_new;
    size_t capacity = weights->capacity;
    uint64_t last_ns = weights->count > 0 ? weights->times_ns[weights->count - 1] : 0;
    if (fact->kind != TRACE_GIVEN_UP)
        return STEP_STATUS_OK;
    if (fact->threshold == 0 || (double) fact->threshold > LOTS || fact->time_ns < last_ns)
        return STEP_STATUS_FORMAT;
    if (!STEP_MAKE_ROOM(weights->times_ns, weights->capacity, weights->count + 1) ||
        !STEP_MAKE_ROOM(weights->least, capacity, weights->capacity) ||
        (fact->object != 0 && !id_set_add(&weights->given_up, fact->object, &is_new)))
        return STEP_STATUS_NO_MEMORY;
    weights->times_ns[weights->count] = fact->time_ns;
    weights->least[weights->count++] = fact->threshold;
    return STEP_STATUS_OK;
}

/* Makes a tree of the thresholds: node i has the least of nodes 2 i and 2 i + 1. */
static bool make_tree(struct life_weights *weights)
{
    size_t count = weights->count;
    uint64_t *least = calloc(2 * count + 1, sizeof *least);
    if (least == NULL)
        return false;
    if (count > 0)
        memcpy(least + count, weights->least, count * sizeof *least);
    for (size_t i = count; i-- > 1;)
        least[i] = least[2 * i] < least[2 * i + 1] ? least[2 * i] : least[2 * i + 1];
    free(weights->least);
    weights->least = least;
    return true;
}

enum step_status life_weights_read(struct life_weights *weights, struct tables *tables,
                                   struct step_error *error)
{
    struct event_feed *feed = calloc(1, sizeof *feed);
    *weights = (struct life_weights){.count = 0};
    if (feed == NULL)
        return no_memory(error);
    enum step_status status = event_feed_open_weighed(feed, tables, 0, error);
    if (status == STEP_STATUS_OK)
        status = event_source_facts(feed->source, add_change, weights, error);
    if (status == STEP_STATUS_FORMAT)
        step_error_set(error, status, tables->path, STEP_NO_OFFSET,
                       "its records ObjectGivenUp are not in order, or have no valid threshold");
    event_feed_close(feed);
    free(feed);
    if (status == STEP_STATUS_NO_MEMORY || (status == STEP_STATUS_OK && !make_tree(weights)))
        return no_memory(error);
    return status;
}

void life_weights_reset(struct life_weights *weights)
{
    free(weights->times_ns);
    free(weights->least);
    id_set_reset(&weights->given_up);
    *weights = (struct life_weights){.count = 0};
}

/* Returns the least threshold of the changes from `from` to before `to`. */
static double least_of(const struct life_weights *weights, size_t from, size_t to)
{
    double least = LOTS;
    for (from += weights->count, to += weights->count; from < to; from /= 2, to /= 2) {
        if (from % 2 != 0)
            least = fmin(least, (double) weights->least[from++]);
        if (to % 2 != 0)
            least = fmin(least, (double) weights->least[--to]);
    }
    return least;
}

/* Returns how many samples one stands for whose death was awaited from `born_ns` to `end_ns`
 * (UINT64_MAX: the end of the trace), or 0 if it was given up. */
static double life_weights_factor(const struct life_weights *weights, uint64_t object,
                                  uint64_t born_ns, uint64_t end_ns)
{
    if (weights->count == 0)
        return 1;
    if (id_set_has(&weights->given_up, object))
        return 0;
    size_t from = step_lower_bound(weights->times_ns, weights->count, born_ns);
    size_t to = end_ns == UINT64_MAX ? weights->count
                                     : step_lower_bound(weights->times_ns, weights->count, end_ns);
    /* the change before the birth is in force then; before the first one, all are awaited */
    return LOTS / least_of(weights, from > 0 ? from - 1 : 0, to);
}

/* Prefetches a part of a column, a line at a time. */
static void fetch_column(const void *values, size_t value_bytes, unsigned place, unsigned count)
{
    enum { LINE = 64 };
    if (values == NULL)
        return;
    const char *at = (const char *) values + place * value_bytes;
    for (size_t i = 0; i < count * value_bytes; i += LINE)
        __builtin_prefetch(at + i);
}

/* Prefetches births, which were written long ago. */
static void fetch_births(const struct birth_page *page, unsigned place, unsigned count)
{
    fetch_column(page->born_ns, sizeof *page->born_ns, place, count);
    fetch_column(page->size, sizeof *page->size, place, count);
    fetch_column(page->thread, sizeof *page->thread, place, count);
    fetch_column(page->site, sizeof *page->site, place, count);
    fetch_column(page->class_id, sizeof *page->class_id, place, count);
}

void object_group_add(struct object_group *group, const struct birth_page *page, uint32_t bits,
                      const struct object_death *death)
{
    static const struct object_death none;
    while (bits != 0) {
        unsigned place = (unsigned) __builtin_ctz(bits);
        uint32_t others = ~(bits >> place);
        unsigned count =
            others != 0 ? (unsigned) __builtin_ctz(others) : (unsigned) BIRTH_PAGE_SIZE;
        group->runs[group->run_count++] =
            (struct object_run){page, place, count, death != NULL ? *death : none};
        fetch_births(page, place, count);
        group->row_count += count;
        bits &= ~birth_bits(place, count);
    }
}

/* Executes `statement` for each run: its `count` values are written to `out`.  Uses local
 * variables, as the compiler cannot rule out aliasing. */
#define EACH_RUN(column, kind, statement)                                                          \
    do {                                                                                           \
        kind *restrict out = builder->values[column];                                              \
        if (out == NULL)                                                                           \
            break;                                                                                 \
        out += builder->count;                                                                     \
        for (size_t r = 0; r < group->run_count; r++) {                                            \
            const struct object_run *run = &group->runs[r];                                        \
            const size_t place = run->place, count = run->count;                                   \
            (void) place;                                                                          \
            statement;                                                                             \
            out += count;                                                                          \
        }                                                                                          \
    } while (0)
#define PUT(column, kind, value)                                                                   \
    EACH_RUN(column, kind, for (size_t i = 0; i < count; i++) out[i] = (kind) (value))
#define COPY(column, member)                                                                       \
    EACH_RUN(column, uint64_t, memcpy(out, run->page->member + place, count * sizeof *out))
#define WIDEN(column, member)                                                                      \
    EACH_RUN(column, uint64_t, object_group_widen(run->page->member + place, count, out))

static inline void object_group_widen(const uint32_t *values, size_t count, uint64_t *restrict out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = values[i];
}

/* Sets the validity of the next rows, at most 32, to `bits`. */
static void put_valid(uint8_t *validity, size_t at, uint32_t bits)
{
    uint64_t word = (uint64_t) bits << at % 8;
    for (size_t i = at / 8; word != 0; i++, word >>= 8)
        validity[i] |= (uint8_t) word;
}

static uint32_t not_zero(const uint32_t *ids, unsigned count)
{
    unsigned zeros = 0;
    uint32_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        zeros += ids[i] == 0;
    if (zeros == 0)
        return birth_bits(0, count);
    for (unsigned i = 0; i < count; i++)
        bits |= (uint32_t) (ids[i] != 0) << i;
    return bits;
}

static void put_sites_valid(const struct object_group *group, const struct row_builder *builder)
{
    uint8_t *validity = builder->validity[OBJECTS_SITE];
    size_t at = builder->count;
    for (size_t r = 0; validity != NULL && r < group->run_count; r++) {
        const struct object_run *run = &group->runs[r];
        put_valid(validity, at, not_zero(run->page->site + run->place, run->count));
        at += run->count;
    }
}

/* Fast path for classes whose code is known. */
static void put_run_classes(struct tables *tables, const uint32_t *ids, unsigned count,
                            uint32_t *restrict codes)
{
    const struct table_names *names = &tables->class_names;
    for (unsigned i = 0; i < count; i++) {
        uint32_t id = ids[i];
        uint32_t code = id < names->code_count ? names->codes[id] : NO_NAME_CODE;
        if (code == NO_NAME_CODE && id != 0)
            code = tables_class_code(tables, id);
        codes[i] = id != 0 ? code : 0;
    }
}

static void object_group_put_classes(const struct object_group *group, struct tables *tables,
                                     const struct row_builder *builder)
{
    uint32_t *codes = builder->values[OBJECTS_CLASS];
    size_t at = builder->count;
    for (size_t r = 0; codes != NULL && r < group->run_count; r++) {
        const struct object_run *run = &group->runs[r];
        const uint32_t *ids = run->page->class_id + run->place;
        put_run_classes(tables, ids, run->count, codes + at);
        put_valid(builder->validity[OBJECTS_CLASS], at, not_zero(ids, run->count));
        at += run->count;
    }
}

/* Returns the number of collections before a time; caches the interval of the last call. */
static size_t collections_before(struct object_group *group, const struct tables *tables,
                                 uint64_t time_ns)
{
    if (time_ns > group->era_from_ns && time_ns <= group->era_to_ns)
        return group->era_collections;
    size_t count = tables_collections_before(tables, time_ns);
    group->era_collections = count;
    group->era_from_ns = count > 0 ? tables->collections[count - 1] : 0;
    group->era_to_ns = count < tables->collection_count ? tables->collections[count] : UINT64_MAX;
    return count;
}

static void put_survived(struct object_group *group, const struct tables *tables,
                         const struct row_builder *builder, bool are_dead)
{
    uint64_t *out = builder->values[OBJECTS_SURVIVED];
    if (out == NULL)
        return;
    out += builder->count;
    for (size_t r = 0; r < group->run_count; r++) {
        const struct object_run *run = &group->runs[r];
        const uint64_t *born = run->page->born_ns + run->place;
        size_t seen = are_dead ? run->death.collections : tables->collection_count;
        for (unsigned i = 0; i < run->count; i++) {
            size_t before = collections_before(group, tables, born[i]);
            *out++ = seen > before ? seen - before : 0;
        }
    }
}

static void object_group_put_deaths(const struct object_group *group,
                                    const struct row_builder *builder, bool are_dead)
{
    uint8_t *alive = builder->values[OBJECTS_ALIVE];
    uint8_t *validity = builder->validity[OBJECTS_DIED];
    size_t at = builder->count;
    PUT(OBJECTS_DIED, uint64_t, run->death.died_ns);
    if (alive != NULL)
        memset(alive + at, !are_dead, group->row_count);
    for (size_t r = 0; validity != NULL && are_dead && r < group->run_count; r++) {
        put_valid(validity, at, birth_bits(0, group->runs[r].count));
        at += group->runs[r].count;
    }
}

/* Each sample is put once: its weight is not needed any more. */
static double take_weight(const struct object_group *group, uint64_t object)
{
    struct live_object kept;
    double weight = 1;
    if (object_table_take(group->weights, object, &kept))
        memcpy(&weight, &kept.value, sizeof weight);
    return weight;
}

static void put_weights(const struct object_group *group, const struct row_builder *builder,
                        bool are_dead)
{
    double *weights = builder->values[OBJECTS_WEIGHT];
    double *lives = builder->values[OBJECTS_LIFE_WEIGHT];
    size_t at = builder->count;
    for (size_t r = 0; (weights != NULL || lives != NULL) && r < group->run_count; r++) {
        const struct object_run *run = &group->runs[r];
        for (unsigned i = run->place; i < run->place + run->count; i++, at++) {
            uint64_t object = run->page->number << BIRTH_PAGE_BITS | i;
            double weight = take_weight(group, object);
            if (weights != NULL)
                weights[at] = weight;
            if (lives != NULL)
                lives[at] =
                    weight * life_weights_factor(group->lives, object, run->page->born_ns[i],
                                                 are_dead ? run->death.died_ns : UINT64_MAX);
        }
    }
}

void object_group_put(struct object_group *group, struct tables *tables,
                      struct row_builder *builder, bool are_dead)
{
    PUT(OBJECTS_OBJECT, uint64_t, (run->page->number << BIRTH_PAGE_BITS | place) + i);
    object_group_put_classes(group, tables, builder);
    WIDEN(OBJECTS_CLASS_ID, class_id);
    WIDEN(OBJECTS_THREAD, thread);
    WIDEN(OBJECTS_SITE, site);
    put_sites_valid(group, builder);
    COPY(OBJECTS_SIZE, size);
    COPY(OBJECTS_BORN, born_ns);
    object_group_put_deaths(group, builder, are_dead);
    PUT(OBJECTS_EXISTING, uint8_t, run->page->existing >> (place + i) & 1);
    put_survived(group, tables, builder, are_dead);
    if (tables->sample_interval_bytes != 0)
        put_weights(group, builder, are_dead);
    builder->count += group->row_count;
    group->run_count = group->row_count = 0;
}
