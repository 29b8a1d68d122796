/* SPDX-License-Identifier: Apache-2.0 */
/* Converts allocations, frees, thread starts and ends, and assigns addresses.  On top of that, a
 * source of records that reads events, and a sink of events that writes records. */
#include "converter/trace/events_as_allocs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/trace/trace_sink.h"

static bool take_omitted(void *unsigned_target, const char *value, const char **fault)
{
    *fault = "time, thread, heap and attributes are expected, with + between";
    for (;;) {
        size_t length = strcspn(value, "+");
        unsigned field = HATF_TIME;
        while (field < HATF_FIELD_COUNT &&
               (strlen(hatf_field_name((enum hatf_field) field)) != length ||
                strncmp(value, hatf_field_name((enum hatf_field) field), length) != 0))
            field++;
        if (field == HATF_FIELD_COUNT)
            return false;
        *(unsigned *) unsigned_target |= 1u << field;
        if (value[length] == '\0')
            return true;
        value += length + 1;
    }
}

static const struct format_option event_rows[] = {
    {{"addresses", 0, "HOW", "HATF: id (default), bump or malloc",
      WORDS_OF(enum alloc_addresses, "id", "bump", "malloc")},
     offsetof(struct alloc_options, addresses)},
    {{"attributes", 0, "class", "HATF: store the class name with each object",
      WORDS_OF(bool, "", "class")},
     offsetof(struct alloc_options, class_attributes)},
    {.place = 0}};

static const struct format_option split_rows[] = {
    {{"split", 0, "HOW", "HATF: a ZIP file of streams: fields or address",
      WORDS_OF(enum hatf_split, "", "fields", "address")},
     offsetof(struct alloc_options, split)},
    {.place = 0}};

static const struct format_option omit_rows[] = {
    {{"omit", 0, "FIELDS", "HATF: leave out time, thread, heap, attributes (joined by +)",
      take_omitted, NULL},
     offsetof(struct alloc_options, omitted)},
    {.place = 0}};

const struct format_options alloc_event_options = {sizeof(struct alloc_options), event_rows, NULL};
const struct format_options alloc_split_options = {0, split_rows, &alloc_event_options};
const struct format_options alloc_omit_options = {0, omit_rows, &alloc_event_options};

const struct alloc_options *alloc_options_of(const struct format_settings *settings)
{
    return format_settings_get(settings, &alloc_event_options);
}

enum { BATCH = 512, OBJECT_ALIGNMENT = 8 };

/* State of the conversion. */
struct event_records {
    struct alloc_options options;
    const struct trace_names *names; /* borrowed */
    struct object_table addresses;   /* by object, unless its address is its id */
    uint64_t bump;                   /* next address */
    bool has_comment;                /* the comment was returned */
};

/* `options` NULL: the defaults. */
static void event_records_init(struct event_records *records, const struct alloc_options *options,
                               const struct trace_names *names)
{
    static const struct alloc_options defaults = {.addresses = ADDRESSES_ID};
    *records =
        (struct event_records){.options = options != NULL ? *options : defaults, .names = names};
}

static void event_records_reset(struct event_records *records)
{
    struct object_cursor cursor = {0};
    struct live_object kept;
    while (records->options.addresses == ADDRESSES_MALLOC &&
           object_table_next(&records->addresses, &cursor, &kept))
        free((void *) (uintptr_t) kept.value);
    object_table_reset(&records->addresses);
}

static bool keep_address(struct event_records *records, uint64_t object, uint64_t address)
{
    return object_table_put(&records->addresses,
                            &(struct live_object){.object = object, .value = address});
}

/* Assigns an address to an object.  Returns false if out of memory. */
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

/* Returns the address of a dead object and releases it; its id if it is unknown. */
static uint64_t as_allocs_place_of(struct event_records *records, uint64_t object)
{
    struct live_object old;
    if (records->options.addresses == ADDRESSES_ID ||
        !object_table_take(&records->addresses, object, &old))
        return object;
    if (records->options.addresses == ADDRESSES_MALLOC)
        free((void *) (uintptr_t) old.value);
    return old.value;
}

/* Returns the comment that precedes the first record, or false if there is none. */
static bool event_records_comment(struct event_records *records, struct hatf_record *comment)
{
    bool is_due = records->options.addresses == ADDRESSES_ID && !records->has_comment;
    if (is_due)
        *comment = address_numbers_comment();
    records->has_comment = true;
    return is_due;
}

/* Returns END for an event without a record. */
static enum step_status event_records_take(struct event_records *records,
                                           const struct trace_event *event,
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
        record->address = as_allocs_place_of(records, event->object);
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

/* ---- a source of records ---- */

struct event_alloc_source {
    struct alloc_source base;
    struct event_source *events;
    struct event_records records;
    size_t at;
    size_t count;
    struct trace_event batch[BATCH];
};

static enum step_status as_allocs_next(struct alloc_source *base, struct hatf_record *record,
                                       struct step_error *error)
{
    struct event_alloc_source *source = (struct event_alloc_source *) base;
    enum step_status status = STEP_STATUS_END;
    if (event_records_comment(&source->records, record))
        return STEP_STATUS_OK;
    while (status == STEP_STATUS_END) {
        if (source->at == source->count) {
            source->at = 0;
            status = source->events->operations->read(source->events, source->batch, BATCH,
                                                      &source->count, error);
            if (status != STEP_STATUS_OK)
                return status;
        }
        status = event_records_take(&source->records, &source->batch[source->at++], record, error);
    }
    return status;
}

static double as_allocs_progress(struct alloc_source *base)
{
    struct event_alloc_source *source = (struct event_alloc_source *) base;
    struct event_source *events = source->events;
    return events->operations->progress(events);
}

static void destroy_source(struct alloc_source *base)
{
    struct event_alloc_source *source = (struct event_alloc_source *) base;
    event_records_reset(&source->records);
    source->events->operations->destroy(source->events);
    free(source);
}

static const struct alloc_source_operations source_operations = {
    .next = as_allocs_next,
    .progress = as_allocs_progress,
    .destroy = destroy_source,
};

enum step_status event_alloc_source_create(struct event_source *events,
                                           const struct alloc_options *options,
                                           struct alloc_source **out, struct step_error *error)
{
    struct event_alloc_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        events->operations->destroy(events);
        return no_memory(error);
    }
    event_records_init(&source->records, options, &events->names);
    source->base.operations = &source_operations;
    source->base.path = events->path;
    source->base.about.inner = &events->about;
    source->events = events;
    *out = &source->base;
    return STEP_STATUS_OK;
}

/* ---- a sink of events ---- */

struct events_as_allocs_sink {
    struct trace_sink base;
    struct event_records events;
    struct trace_sink *records;
    unsigned omitted;
};

void record_omit(struct hatf_record *record, unsigned omitted)
{
    if ((omitted & 1u << HATF_SIZE) != 0)
        record->size = 0;
    if ((omitted & 1u << HATF_TIME) != 0)
        record->time = 0;
    if ((omitted & 1u << HATF_THREAD) != 0)
        record->thread = 0;
    if ((omitted & 1u << HATF_HEAP) != 0)
        record->heap = 0;
    if ((omitted & 1u << HATF_ATTRIBUTES) != 0)
        record->attributes.length = 0;
}

static enum step_status as_allocs_put(struct trace_sink *base, const struct trace_event *events,
                                      size_t count, struct step_error *error)
{
    struct events_as_allocs_sink *sink = (struct events_as_allocs_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    struct hatf_record comment;
    if (event_records_comment(&sink->events, &comment))
        status = trace_sink_put_alloc(sink->records, &comment, error);
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        struct hatf_record record;
        status = event_records_take(&sink->events, &events[i], &record, error);
        if (status == STEP_STATUS_OK) {
            record_omit(&record, sink->omitted);
            status = trace_sink_put_alloc(sink->records, &record, error);
        } else if (status == STEP_STATUS_END) {
            status = STEP_STATUS_OK;
        }
    }
    return status;
}

static enum step_status as_allocs_close(struct trace_sink *base, struct step_error *error)
{
    struct events_as_allocs_sink *sink = (struct events_as_allocs_sink *) base;
    return trace_sink_close(sink->records, error);
}

static void reset_sink(struct trace_sink *base)
{
    struct events_as_allocs_sink *sink = (struct events_as_allocs_sink *) base;
    trace_sink_destroy(sink->records);
    event_records_reset(&sink->events);
}

static enum step_status as_allocs_open(struct trace_sink *base, const struct format_output *to,
                                       struct step_error *error)
{
    struct events_as_allocs_sink *sink = (struct events_as_allocs_sink *) base;
    const struct alloc_options *options = alloc_options_of(to->settings);
    sink->omitted = options->omitted;
    event_records_init(&sink->events, options, &to->source->names);
    return trace_sink_create(to, true, &sink->records, error);
}

const struct trace_sink_operations events_as_allocs_sink = {
    .size_bytes = sizeof(struct events_as_allocs_sink),
    .open = as_allocs_open,
    .put = as_allocs_put,
    .close = as_allocs_close,
    .reset = reset_sink,
};
