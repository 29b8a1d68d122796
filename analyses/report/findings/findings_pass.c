/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what findings are made from, in one pass and with one table of living objects: that of
 * the leak tracker, which calls back for each birth and each death. */
#include "analyses/report/findings/findings.h"

#include <stdlib.h>

#include "format/core/grow.h"

#define BYTES_MOST (UINT64_C(1) << 62)

/* An object is old that SURVIVED_OLD collections have seen. */
static bool is_old(const struct leak_tracker *leaks, uint64_t born_ns)
{
    return leaks->time_count >= SURVIVED_OLD &&
           leaks->times_ns[leaks->time_count - SURVIVED_OLD] >= born_ns;
}

static void findings_pass_add(struct site_amount *amount, uint64_t bytes)
{
    amount->objects++;
    amount->bytes += bytes;
}

static void decide(struct findings_pass *pass, const struct live_object *object, bool is_dead)
{
    struct cell_fate *fate = &pass->fates[object->class_id];
    bool is_of_old = is_old(&pass->leaks, object->value);
    if (is_dead || is_of_old)
        findings_pass_add(&fate->decided, object->size);
    if (is_of_old)
        findings_pass_add(&fate->old, object->size);
}

/* What lives now decides, and objects that do not fit into every eden. */
static void put_living(struct findings_pass *pass, uint64_t size)
{
    uint64_t living = pass->leaks.heap.cells.all.bytes + pass->existing_bytes;
    if (living <= pass->peak_living && size <= SPACE_ALIGNMENT)
        return;
    if (living > pass->peak_living)
        pass->peak_living = living;
    least_heap_put(&pass->least, living, size);
}

static bool findings_pass_put_existing(struct findings_pass *pass, const struct trace_event *event)
{
    const struct live_object object = {.object = event->object, .size = event->size};
    return object_table_put(&pass->existing, &object);
}

static bool findings_pass_put_birth(struct findings_pass *pass, const struct trace_event *event,
                                    uint32_t cell)
{
    pass->is_countable = pass->is_countable && event->size <= BYTES_MOST - pass->born_bytes;
    if (!pass->is_countable)
        return true;
    pass->born_bytes += event->size;
    if (cell == UINT32_MAX) {
        pass->existing_bytes += event->size;
        if (!findings_pass_put_existing(pass, event))
            return false;
    } else {
        pass->has_stacks |= trace_recorded_stack(event) != 0;
        if (!STEP_MAKE_ZEROED_ROOM(pass->fates, pass->fate_count, (size_t) cell + 1))
            return false;
    }
    put_living(pass, event->size);
    return true;
}

static void findings_pass_take_existing(struct findings_pass *pass, const struct trace_event *event)
{
    struct live_object existed;
    if (object_table_take(&pass->existing, event->object, &existed))
        pass->existing_bytes -= existed.size;
}

static void findings_pass_put_death(struct findings_pass *pass, const struct trace_event *event,
                                    const struct live_object *born)
{
    if (!pass->is_countable)
        return;
    if (born != NULL)
        decide(pass, born, true);
    else
        findings_pass_take_existing(pass, event);
}

static bool findings_pass_follow(void *user, const struct trace_event *event, uint32_t cell,
                                 const struct live_object *born)
{
    struct findings_pass *pass = user;
    if (event->kind == EVENT_OBJECT_ALLOC)
        return findings_pass_put_birth(pass, event, cell);
    findings_pass_put_death(pass, event, born);
    return true;
}

bool findings_pass_init(struct findings_pass *pass, const struct event_source *source)
{
    const struct simulation_options options = SIMULATION_OPTIONS_DEFAULT;
    *pass = (struct findings_pass){.is_countable = event_source_sample_interval(source) == 0,
                                   .generations = options.generations,
                                   .is_native = source->content == TRACE_OF_ALLOCATIONS};
    bool ok = leak_tracker_init(&pass->leaks, source, false, NULL);
    if (pass->is_countable)
        pass->leaks.heap.options.follow = findings_pass_follow;
    pass->leaks.heap.options.follower = pass;
    least_heap_init(&pass->least, 0, &pass->generations);
    return ok;
}

enum step_status findings_pass_finish(struct findings_pass *pass, struct step_error *error)
{
    enum step_status status = heap_tracker_finish(&pass->leaks.heap, error);
    struct object_cursor cursor = {0};
    struct live_object object;
    while (status == STEP_STATUS_OK && pass->is_countable &&
           object_table_next(&pass->leaks.heap.live, &cursor, &object))
        decide(pass, &object, false);
    return status;
}

void findings_pass_reset(struct findings_pass *pass)
{
    object_table_reset(&pass->existing);
    free(pass->fates);
    leak_tracker_reset(&pass->leaks);
    pass->fates = NULL;
}
