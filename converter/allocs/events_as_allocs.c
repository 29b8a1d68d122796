/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations, frees, thread starts and ends; where objects lie. */
#include "converter/allocs/events_as_allocs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "converter/allocs/address_numbers.h"

#define OBJECT_ALIGNMENT 8u

bool event_records_init(struct event_records *records, const struct record_options *options,
                        const struct trace_names *names)
{
    static const struct record_options defaults = {ADDRESSES_ID, false};
    *records =
        (struct event_records){.options = options != NULL ? *options : defaults, .names = names};
    return object_table_init(&records->addresses);
}

void event_records_reset(struct event_records *records)
{
    if (records->addresses.slots == NULL)
        return;
    if (records->options.addresses == ADDRESSES_MALLOC)
        for (size_t i = 0; i <= records->addresses.mask; i++)
            if (records->addresses.slots[i].object != 0)
                free((void *) (uintptr_t) records->addresses.slots[i].value);
    object_table_reset(&records->addresses);
}

static bool keep_address(struct event_records *records, uint64_t object, uint64_t address)
{
    return object_table_put(&records->addresses,
                            &(struct live_object){.object = object, .value = address});
}

/* Where the object is put; false: out of memory. */
static bool place(struct event_records *records, const struct trace_event *event, uint64_t *address)
{
    struct live_object old;
    switch (records->options.addresses) {
    case ADDRESSES_ID:
        *address = event->object;
        return true;
    case ADDRESSES_BUMP:
        *address = records->bump;
        uint64_t size = event->size > 0 ? event->size : 1;
        records->bump += (size + OBJECT_ALIGNMENT - 1) / OBJECT_ALIGNMENT * OBJECT_ALIGNMENT;
        return keep_address(records, event->object, *address);
    case ADDRESSES_MALLOC:
        if (object_table_take(&records->addresses, event->object, &old))
            free((void *) (uintptr_t) old.value);
        void *memory = event->size <= SIZE_MAX / 2 ? malloc((size_t) event->size) : NULL;
        *address = (uint64_t) (uintptr_t) memory;
        return memory != NULL && keep_address(records, event->object, *address);
    }
    return false;
}

/* Where a dead object was; its id, if nobody knows. */
static uint64_t place_of(struct event_records *records, uint64_t object)
{
    struct live_object old;
    if (records->options.addresses == ADDRESSES_ID ||
        !object_table_take(&records->addresses, object, &old))
        return object;
    if (records->options.addresses == ADDRESSES_MALLOC)
        free((void *) (uintptr_t) old.value);
    return old.value;
}

bool event_records_comment(struct event_records *records, struct hatf_record *comment)
{
    bool is_due = records->options.addresses == ADDRESSES_ID && !records->has_comment;
    if (is_due)
        *comment = address_numbers_comment();
    records->has_comment = true;
    return is_due;
}

enum step_status event_records_take(struct event_records *records, const struct trace_event *event,
                                    struct hatf_record *record, struct step_error *error)
{
    *record = (struct hatf_record){.time = event->time_ns};
    if (event->thread_id != 0)
        record->thread = trace_thread_of(records->names, event->thread_id)->number;
    switch (event->kind) {
    case EVENT_OBJECT_ALLOC:
        record->tag = HATF_ALLOC;
        record->size = event->size;
        if (!place(records, event, &record->address))
            return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET,
                                  "no memory for object %" PRIu64 " of %" PRIu64 " bytes",
                                  event->object, event->size);
        break;
    case EVENT_OBJECT_FREE:
        record->tag = HATF_FREE;
        record->address = place_of(records, event->object);
        break;
    case EVENT_THREAD_BEGIN:
        record->tag = HATF_CREATE_THREAD;
        break;
    case EVENT_THREAD_END:
        record->tag = HATF_DESTROY_THREAD;
        break;
    default:
        return STEP_STATUS_END;
    }
    if (records->options.class_attributes &&
        (record->tag == HATF_ALLOC || record->tag == HATF_FREE)) {
        record->attributes = trace_class_of(records->names, event->class_id)->name;
        if (record->attributes.length > HATF_ATTRIBUTES_MAX)
            record->attributes.length = HATF_ATTRIBUTES_MAX;
    }
    return STEP_STATUS_OK;
}
