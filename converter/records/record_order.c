/* SPDX-License-Identifier: Apache-2.0 */
/* Orders records by time, then by the rank of their stream. */
#include "converter/records/record_order.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "converter/base/record_layout.h"
#include "converter/step/java_records.h"

struct record_order {
    struct step_selection *selection;
    struct step_records *records;
    const uint8_t *wanted;    /* NULL: all */
    size_t *time_slots;       /* by record */
    struct java_records java; /* empty if it is not a Java trace, which has no ranks */
};

static const uint8_t *wanted_of(void *user, const struct step_block_info *info)
{
    const struct record_order *order = user;
    return block_has_wanted(info, order->wanted) ? order->wanted : NULL;
}

/* A record without time follows the one before it. */
static bool take_front(void *user, struct step_records_front *front)
{
    const struct record_order *order = user;
    size_t slot = order->time_slots[front->view.record];
    if (slot != STEP_NO_PROPERTY_SLOT)
        front->time = front->view.slots[slot];
    front->rank = order->java.count > 0
                      ? java_rank(java_kind_of(&order->java, front->view.record), front->stream)
                      : 0;
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
    for (uint32_t i = 0; i < definition->record_count; i++)
        order->time_slots[i] = step_record_find_property(definition, i, "time");
    enum step_status status = STEP_STATUS_OK;
    if (step_definition_find(definition, "java.VMDeath") != STEP_NO_RECORD)
        status = java_records_init(&order->java, reader, error);
    if (status != STEP_STATUS_OK)
        return status;
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
    java_records_reset(&order->java);
    free(order->time_slots);
    free(order);
}
