/* SPDX-License-Identifier: Apache-2.0 */
/* Series for `linked`: the values of the fields and column that it names. */
#include "format/step/plan/linked_series.h"

#include <stdlib.h>
#include <string.h>

#include "format/step/plan/plan_build.h"
#include "format/step/plan/record_series.h"

enum { FIELD_BITS = 24 };
#define FIELD_MASK ((UINT64_C(1) << FIELD_BITS) - 1)

static void step_links_pack(const struct step_plan *plan, const struct step_links *links,
                            uint64_t parameters[2])
{
    uint64_t holder = links->holder != STEP_NO_INDEX ? links->holder + UINT64_C(1) : 0;
    parameters[0] = links->key | holder << FIELD_BITS;
    parameters[1] =
        links->newest != STEP_NO_INDEX ? step_follow_reference(plan, links->newest) + 1 : 0;
}

static bool is_single(const struct step_plan *plan, uint32_t column, uint64_t field)
{
    uint32_t record = plan->columns[column].record;
    return field < plan->records[record].field_count &&
           step_field_column(plan, record, field) != STEP_NO_INDEX &&
           step_field_column(plan, record, field) != column;
}

bool step_links_unpack(const struct step_plan *plan, uint32_t column, const uint64_t parameters[2],
                       struct step_links *links)
{
    uint64_t key = parameters[0] & FIELD_MASK;
    uint64_t holder = parameters[0] >> FIELD_BITS;
    const struct step_plan_column *planned = &plan->columns[column];
    *links = (struct step_links){(uint32_t) key, STEP_NO_INDEX, STEP_NO_INDEX};
    if (step_field_column(plan, planned->record, planned->field) != column ||
        !is_single(plan, column, key) || (holder != 0 && !is_single(plan, column, holder - 1)))
        return false;
    if (holder != 0)
        links->holder = (uint32_t) holder - 1;
    if (parameters[1] == 0)
        return true;
    links->newest = step_follow_column(plan, parameters[1] - 1);
    return links->newest != STEP_NO_INDEX && links->newest != column;
}

static uint32_t find_field(const struct step_plan *plan, uint32_t column, const char *name,
                           size_t length)
{
    const struct step_record *record = &plan->definition->records[plan->columns[column].record];
    for (uint32_t i = 0; i < record->field_count; i++)
        if (strlen(record->fields[i].name) == length &&
            memcmp(record->fields[i].name, name, length) == 0)
            return is_single(plan, column, i) ? i : STEP_NO_INDEX;
    return STEP_NO_INDEX;
}

/* Takes the text up to the next +, and skips the +. */
static size_t take_name(const char **text, size_t *left, const char **name)
{
    const char *end = memchr(*text, '+', *left);
    size_t length = end != NULL ? (size_t) (end - *text) : *left;
    size_t passed = length + (end != NULL);
    *name = *text;
    *text += passed;
    *left -= passed;
    return length;
}

void step_plan_resolve_linked(struct step_plan *plan, uint32_t index)
{
    struct step_plan_column *column = &plan->columns[index];
    const char *text = column->field_coding.linked;
    size_t left = column->field_coding.linked_length;
    struct step_links links = {STEP_NO_INDEX, STEP_NO_INDEX, STEP_NO_INDEX};
    bool good = text != NULL && !column->in_array &&
                step_field_column(plan, column->record, column->field) == index;
    while (good && left > 0) {
        const char *name;
        size_t length = take_name(&text, &left, &name);
        if (memchr(name, '.', length) != NULL) {
            links.newest = step_plan_column_of(plan, index, name, length);
            good = links.newest != STEP_NO_INDEX;
            continue;
        }
        uint32_t *field = links.key == STEP_NO_INDEX ? &links.key : &links.holder;
        *field = find_field(plan, index, name, length);
        good = *field != STEP_NO_INDEX;
    }
    if (!good || links.key == STEP_NO_INDEX)
        return;
    column->links = links;
    column->field_coding.column.is_linked = true;
    step_links_pack(plan, &links, column->field_coding.column.linked);
}

static enum step_status gather(const struct step_sequence *sequence, uint32_t column,
                               uint32_t field, size_t count, enum step_linked_series which,
                               struct step_linked *out)
{
    return field != STEP_NO_INDEX ? step_gather(sequence, column, field, count,
                                                &out->storage[which], &out->series[which])
                                  : STEP_STATUS_OK;
}

enum step_status step_linked_fill(const struct step_sequence *sequence, uint32_t column,
                                  const struct step_links *links, size_t count,
                                  struct step_linked *out)
{
    static const uint64_t nothing;
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        out->series[i] = (struct step_series){.values = &nothing};
    enum step_status status = gather(sequence, column, links->key, count, STEP_LINKED_KEY, out);
    if (status == STEP_STATUS_OK)
        status = gather(sequence, column, links->holder, count, STEP_LINKED_HOLDER, out);
    if (status == STEP_STATUS_OK && links->newest != STEP_NO_INDEX)
        status =
            step_follow_latest(sequence, column, links->newest, count,
                               &out->storage[STEP_LINKED_NEWEST], &out->series[STEP_LINKED_NEWEST]);
    for (size_t i = 0; i < STEP_LINKED_SERIES && status == STEP_STATUS_OK; i++)
        if (out->series[i].values == NULL)
            status = STEP_STATUS_CORRUPT;
    return status;
}

void step_linked_reset(struct step_linked *linked)
{
    for (size_t i = 0; i < STEP_LINKED_SERIES; i++)
        free(linked->storage[i]);
    *linked = (struct step_linked){0};
}
