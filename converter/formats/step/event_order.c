/* SPDX-License-Identifier: Apache-2.0 */
/* Which blocks and records are needed, and the order at one tick. */
#include "converter/formats/step/event_order.h"

#include <stdlib.h>

#include "converter/base/no_memory.h"
#include "steptrace/live.h"

#define LIVE_KINDS (TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE))

/* At one tick; the higher waits for the lower. */
enum rank { RANK_GLOBAL = 0, RANK_BUFFER = 1, RANK_FREES = 2, RANK_LAST = 3 };

/* ---- what is wanted ---- */

/* The identifier of the thread that text shows as `number`; 0 if there is none. */
static uint64_t thread_id_of(const struct event_order *order, uint64_t number)
{
    if (!order->decoder.numbers_in_names)
        return number;
    const struct step_definition *definition = step_reader_borrow_definition(order->reader);
    for (uint32_t i = 0; i < definition->record_count; i++) {
        if (order->decoder.records[i] != STEP_JAVA_THREAD)
            continue;
        uint64_t count = step_reader_dictionary_count(order->reader, i);
        for (uint64_t id = 1; id <= count && id < UINT32_MAX; id++)
            if (stepfile_decoder_thread_number(&order->decoder, id) == number)
                return id;
    }
    return 0;
}

static void choose_records(struct event_order *order, uint32_t kinds)
{
    uint32_t decoded = kinds | (order->needs_objects ? LIVE_KINDS : 0);
    for (uint32_t i = 0; i < order->decoder.record_count; i++) {
        enum step_text_kind kind = stepfile_decoder_kind(&order->decoder, i);
        uint32_t bit = kind < EVENT_KIND_COUNT ? TRACE_KIND_BIT(kind) : 0;
        order->wanted[i] = (decoded & bit) != 0;
        order->wanted_live[i] = (LIVE_KINDS & bit) != 0;
        order->wanted_frees[i] = (decoded & bit & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
    }
}

static bool holds(const struct step_block_info *info, const uint8_t *wanted)
{
    bool found = false;
    for (size_t i = 0; !found && i < info->type_count; i++)
        found = wanted[info->counts[i].record] != 0;
    return found;
}

static const uint8_t *wanted_of(void *user, const struct step_block_info *info)
{
    const struct event_order *order = user;
    if (info->time_min > order->to_ticks)
        return NULL;
    bool is_before = info->time_max < order->from_ticks;
    if (is_before && !order->needs_objects)
        return NULL;
    const uint8_t *wanted = is_before ? order->wanted_live : order->wanted;
    if (order->has_thread &&
        (order->thread_id < info->thread_min || order->thread_id > info->thread_max))
        wanted = order->wanted_frees; /* frees belong to no thread, but to their objects' */
    return holds(info, wanted) ? wanted : NULL;
}

/* ---- the order ---- */

static uint8_t rank_of(uint64_t stream, const struct trace_event *event)
{
    if (stream == STEP_LIVE_STREAM_GLOBAL)
        return event->kind == EVENT_VM_DEATH ? RANK_LAST : RANK_GLOBAL;
    return stream == STEP_LIVE_STREAM_FREES ? RANK_FREES : RANK_BUFFER;
}

static bool take_front(void *user, struct step_records_front *front)
{
    struct event_order *order = user;
    struct trace_event *event = &order->fronts[front->queue];
    if (!stepfile_decoder_event(&order->decoder, &front->view, event, &front->time))
        return false;
    front->rank = rank_of(front->stream, event);
    return true;
}

static bool must_wait(void *user, const struct step_records_front *front)
{
    const struct event_order *order = user;
    const struct trace_event *event = &order->fronts[front->queue];
    return order->live != NULL && event->object != 0 &&
           (event->kind == EVENT_METHOD_ENTRY || event->kind == EVENT_OBJECT_FREE) &&
           !object_table_has(order->live, event->object);
}

/* ---- from start to end ---- */

/* Frees are wanted by what their objects' allocations tell. */
static bool follows_objects(const struct event_selection *selected)
{
    return event_selection_is_of_objects(selected) &&
           (selected->kinds & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0;
}

enum step_status event_order_init(struct event_order *order, struct step_reader *reader,
                                  struct trace_names *names, const struct event_selection *selected,
                                  bool keep_live, struct step_error *error)
{
    *order = (struct event_order){.reader = reader,
                                  .selected = selected,
                                  .needs_objects = keep_live || follows_objects(selected)};
    enum step_status status = stepfile_decoder_init(&order->decoder, reader, names, error);
    if (status != STEP_STATUS_OK)
        return status;
    order->wanted = calloc(order->decoder.record_count + 1, 1);
    order->wanted_live = calloc(order->decoder.record_count + 1, 1);
    order->wanted_frees = calloc(order->decoder.record_count + 1, 1);
    if (order->wanted == NULL || order->wanted_live == NULL || order->wanted_frees == NULL)
        return no_memory(error);
    choose_records(order, selected->kinds);
    order->from_ticks = selected->from_ns / order->decoder.resolution_ns;
    order->to_ticks = selected->to_ns / order->decoder.resolution_ns;
    uint64_t number;
    if (event_selection_one_thread(selected, &number) && number != 0) {
        order->has_thread = true;
        order->thread_id = thread_id_of(order, number);
    }
    return STEP_STATUS_OK;
}

enum step_status event_order_start(struct event_order *order, const struct object_table *live,
                                   struct step_error *error)
{
    const struct step_records_rules rules = {
        .user = order, .wanted = wanted_of, .front = take_front, .waits = must_wait};
    order->live = order->has_thread ? NULL : live; /* other threads' objects are not known */
    enum step_status status =
        step_records_create_ordered(order->reader, &rules, &order->records, error);
    if (status != STEP_STATUS_OK)
        return status;
    order->fronts = calloc(step_records_queue_count(order->records) + 1, sizeof *order->fronts);
    return order->fronts != NULL ? STEP_STATUS_OK : no_memory(error);
}

void event_order_reset(struct event_order *order)
{
    step_records_destroy(order->records);
    stepfile_decoder_reset(&order->decoder);
    free(order->fronts);
    free(order->wanted);
    free(order->wanted_live);
    free(order->wanted_frees);
}
