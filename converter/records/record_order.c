/* SPDX-License-Identifier: Apache-2.0 */
/* The rank of a record is that of its stream. */
#include "converter/records/record_order.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "steptrace/live.h"

/* At one tick, the lower first. */
enum rank { RANK_GLOBAL, RANK_BUFFER, RANK_FREES, RANK_END };

struct record_order {
    struct step_selection *selection;
    struct step_records *records;
    const uint8_t *wanted; /* NULL: all */
    size_t *time_slots;    /* of each record */
    uint32_t vm_death;     /* STEP_NO_RECORD: the trace is not Java's, and no rank is known */
};

static const uint8_t *wanted_of(void *user, const struct step_block_info *info)
{
    const struct record_order *order = user;
    for (size_t i = 0; i < info->type_count; i++)
        if (order->wanted[info->counts[i].record])
            return order->wanted;
    return NULL;
}

static uint8_t rank_of(const struct record_order *order, const struct step_records_front *front)
{
    if (order->vm_death == STEP_NO_RECORD)
        return RANK_GLOBAL;
    if (front->stream == STEP_LIVE_STREAM_GLOBAL)
        return front->view.record == order->vm_death ? RANK_END : RANK_GLOBAL;
    return front->stream == STEP_LIVE_STREAM_FREES ? RANK_FREES : RANK_BUFFER;
}

/* A record without a time keeps the place of the one before it. */
static bool take_front(void *user, struct step_records_front *front)
{
    const struct record_order *order = user;
    size_t slot = order->time_slots[front->view.record];
    if (slot != STEP_NO_PROPERTY_SLOT)
        front->time = front->view.slots[slot];
    front->rank = rank_of(order, front);
    return true;
}

enum step_status record_order_create(struct step_reader *reader, struct step_selection *selection,
                                     struct record_order **out, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct record_order *order = calloc(1, sizeof *order);
    *out = order;
    if (order == NULL ||
        (order->time_slots = calloc(definition->record_count + 1, sizeof(size_t))) == NULL)
        return no_memory(error);
    order->selection = selection;
    order->wanted = step_selection_wanted(selection);
    order->vm_death = step_definition_find(definition, "java.VMDeath");
    for (uint32_t i = 0; i < definition->record_count; i++)
        order->time_slots[i] = step_record_find_property(definition, i, "time");
    const struct step_records_rules rules = {
        .user = order, .wanted = wanted_of, .front = take_front};
    return step_records_create_ordered(reader, &rules, &order->records, error);
}

enum step_status record_order_next(struct record_order *order, struct step_record_view *view,
                                   struct step_error *error)
{
    struct step_record_view found;
    enum step_status status;
    while ((status = step_records_next(order->records, &found, error)) == STEP_STATUS_OK &&
           !step_selection_view(order->selection, &found, view))
        continue;
    return status;
}

void record_order_destroy(struct record_order *order)
{
    if (order == NULL)
        return;
    step_records_destroy(order->records);
    free(order->time_slots);
    free(order);
}
