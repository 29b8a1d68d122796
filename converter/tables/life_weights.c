/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the least threshold of an interval in a tree of minima. */
#include "converter/tables/life_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/tables/block_choice.h"
#include "format/core/grow.h"
#include "format/core/search.h"

#define LOTS 0x1p53

static bool add(struct life_weights *weights, uint64_t time_ns, uint64_t threshold, uint64_t object)
{
    bool is_new;
    if (weights->count == weights->capacity) {
        uint64_t *times =
            step_grown(weights->times_ns, &weights->capacity, weights->count + 1, sizeof *times);
        if (times == NULL)
            return false;
        weights->times_ns = times;
        uint64_t *least = realloc(weights->least, weights->capacity * sizeof *least);
        if (least == NULL)
            return false;
        weights->least = least;
    }
    weights->times_ns[weights->count] = time_ns;
    weights->least[weights->count++] = threshold;
    return object == 0 || id_set_add(&weights->given_up, object, &is_new);
}

static enum step_status take(struct life_weights *weights, const struct tables *tables,
                             const struct step_record_view *view, struct step_error *error)
{
    struct step_java_object_given_up entry;
    if (!step_java_object_given_up_get(&tables->java.binding, view, &entry))
        return STEP_STATUS_OK;
    uint64_t time_ns = tables_time_ns(tables, entry.time);
    uint64_t last_ns = weights->count > 0 ? weights->times_ns[weights->count - 1] : 0;
    if (entry.threshold == 0 || (double) entry.threshold > LOTS || time_ns < last_ns)
        return step_error_set(
            error, STEP_STATUS_FORMAT, tables->path, STEP_NO_OFFSET,
            "its records ObjectGivenUp are not in order, or have no valid threshold");
    return add(weights, time_ns, entry.threshold, entry.object) ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status read_blocks(struct life_weights *weights, struct tables *tables,
                                    const uint8_t *wanted, uint32_t record,
                                    struct step_error *error)
{
    struct step_block *block = NULL;
    struct step_record_view view;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < step_reader_block_count(tables->reader) && status == STEP_STATUS_OK;
         i++) {
        if (block_rows(tables, i, record) == 0)
            continue;
        status = step_reader_load(tables->reader, i, wanted, &block, error);
        bool is_read = status == STEP_STATUS_OK;
        if (tables_is_damage(status)) /* the reader has noted it */
            status = STEP_STATUS_OK;
        while (is_read && status == STEP_STATUS_OK &&
               step_block_next(block, &view) == STEP_STATUS_OK)
            status = take(weights, tables, &view, error);
    }
    step_block_destroy(block);
    return status;
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
    uint32_t record = java_record_of(&tables->java, STEP_JAVA_OBJECT_GIVEN_UP);
    *weights = (struct life_weights){.count = 0};
    id_set_init(&weights->given_up);
    uint8_t *wanted = calloc(tables->definition->record_count + 1, 1);
    if (wanted == NULL)
        return no_memory(error);
    enum step_status status = STEP_STATUS_OK;
    if (record != STEP_NO_RECORD) {
        wanted[record] = 1;
        status = read_blocks(weights, tables, wanted, record, error);
    }
    free(wanted);
    if (status == STEP_STATUS_OK && !make_tree(weights))
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

double life_weights_factor(const struct life_weights *weights, uint64_t object, uint64_t born_ns,
                           uint64_t end_ns)
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
