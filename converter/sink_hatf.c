/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks that write HATF: allocations, frees, thread starts and ends.  Metadata stand only where a
 * value does not fit how its field is stored by then; the field then becomes wide enough, and never
 * narrower again.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "packed_output.h"
#include "steptrace/hatf.h"

#define COMMENT "HATF 1.0, written by steptrace"
#define OBJECT_ALIGNMENT 8u

struct hatf_sink {
    struct trace_sink base;
    const struct trace_names *names; /* borrowed */
    struct trace_sink_options options;
    struct packed_output *packed;
    struct hatf_writer *writer;
    struct live_table addresses; /* by object, where its address is not its id */
    uint64_t bump;               /* the next address */
};

static struct hatf_sink *of(struct trace_sink *sink)
{
    return (struct hatf_sink *) sink;
}

static bool keep_address(struct hatf_sink *sink, uint64_t object, uint64_t address)
{
    return live_table_put(&sink->addresses,
                          &(struct live_object){.object = object, .value = address});
}

/* Where the object is put; false: out of memory. */
static bool place(struct hatf_sink *sink, const struct trace_event *event, uint64_t *address)
{
    struct live_object old;
    switch (sink->options.addresses) {
    case ADDRESSES_ID:
        *address = event->object;
        return true;
    case ADDRESSES_BUMP:
        *address = sink->bump;
        uint64_t size = event->size > 0 ? event->size : 1;
        sink->bump += (size + OBJECT_ALIGNMENT - 1) / OBJECT_ALIGNMENT * OBJECT_ALIGNMENT;
        return keep_address(sink, event->object, *address);
    case ADDRESSES_MALLOC:
        if (live_table_take(&sink->addresses, event->object, &old))
            free((void *) (uintptr_t) old.value);
        void *memory = event->size <= SIZE_MAX / 2 ? malloc((size_t) event->size) : NULL;
        *address = (uint64_t) (uintptr_t) memory;
        return memory != NULL && keep_address(sink, event->object, *address);
    }
    return false;
}

/* Where a dead object was; its id, if nobody knows. */
static uint64_t place_of(struct hatf_sink *sink, uint64_t object)
{
    struct live_object old;
    if (sink->options.addresses == ADDRESSES_ID || !live_table_take(&sink->addresses, object, &old))
        return object;
    if (sink->options.addresses == ADDRESSES_MALLOC)
        free((void *) (uintptr_t) old.value);
    return old.value;
}

static enum step_status widen(struct hatf_sink *sink, enum hatf_field field, uint64_t value,
                              struct step_error *error)
{
    enum hatf_width width = hatf_width_of_unsigned(value);
    if (width < HATF_WIDTH_1)
        width = HATF_WIDTH_1;
    if (field == HATF_TIME && width < HATF_WIDTH_4)
        width = HATF_WIDTH_4; /* it will grow; spare the steps */
    enum step_status status = hatf_writer_set_width(sink->writer, field, width, error);
    if (status == STEP_STATUS_OK &&
        hatf_writer_field(sink->writer, field)->interpretation != HATF_NONE)
        status = hatf_writer_set_interpretation(sink->writer, field, HATF_NONE, 0, 0, error);
    return status;
}

static uint64_t value_of(const struct hatf_record *record, enum hatf_field field)
{
    switch (field) {
    case HATF_SIZE:
        return record->size;
    case HATF_ADDRESS:
        return record->address;
    case HATF_TIME:
        return record->time;
    case HATF_THREAD:
        return record->thread;
    default:
        return record->heap;
    }
}

static enum step_status put_record(struct hatf_sink *sink, const struct hatf_record *record,
                                   struct step_error *error)
{
    for (int attempts = 0; attempts <= HATF_FIELD_COUNT; attempts++) {
        enum hatf_field misfit = HATF_FIELD_COUNT;
        enum step_status status = hatf_writer_put(sink->writer, record, &misfit, error);
        if (status != STEP_STATUS_LIMIT || misfit >= HATF_ATTRIBUTES)
            return status;
        status = widen(sink, misfit, value_of(record, misfit), error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    return STEP_STATUS_LIMIT;
}

static enum step_status put_event(struct hatf_sink *sink, const struct trace_event *event,
                                  struct step_error *error)
{
    struct hatf_record record = {.time = event->time_ns};
    if (event->thread_id != 0)
        record.thread = trace_thread_of(sink->names, event->thread_id)->number;
    switch (event->kind) {
    case STEP_TEXT_OA:
        record.tag = HATF_ALLOC;
        record.size = event->size;
        if (!place(sink, event, &record.address))
            return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET,
                                  "no memory for object %" PRIu64 " of %" PRIu64 " bytes",
                                  event->object, event->size);
        break;
    case STEP_TEXT_OF:
        record.tag = HATF_FREE;
        record.address = place_of(sink, event->object);
        break;
    case STEP_TEXT_TB:
        record.tag = HATF_CREATE_THREAD;
        break;
    case STEP_TEXT_TE:
        record.tag = HATF_DESTROY_THREAD;
        break;
    default:
        return STEP_STATUS_OK;
    }
    if (sink->options.class_attributes && (record.tag == HATF_ALLOC || record.tag == HATF_FREE)) {
        record.attributes = trace_class_of(sink->names, event->class_id)->name;
        if (record.attributes.length > HATF_ATTRIBUTES_MAX)
            record.attributes.length = HATF_ATTRIBUTES_MAX;
    }
    return put_record(sink, &record, error);
}

static enum step_status put(struct trace_sink *base, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    struct hatf_sink *sink = of(base);
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = put_event(sink, &events[i], error);
    return status;
}

static enum step_status close_sink(struct trace_sink *base, struct step_error *error)
{
    struct hatf_sink *sink = of(base);
    enum step_status status = hatf_writer_close(sink->writer, error);
    return status == STEP_STATUS_OK ? packed_output_close(sink->packed, error) : status;
}

static void free_memory(struct hatf_sink *sink)
{
    if (sink->addresses.slots == NULL)
        return;
    if (sink->options.addresses == ADDRESSES_MALLOC)
        for (size_t i = 0; i <= sink->addresses.mask; i++)
            if (sink->addresses.slots[i].object != 0)
                free((void *) (uintptr_t) sink->addresses.slots[i].value);
    live_table_reset(&sink->addresses);
}

static void destroy(struct trace_sink *base)
{
    struct hatf_sink *sink = of(base);
    hatf_writer_destroy(sink->writer);
    packed_output_destroy(sink->packed);
    free_memory(sink);
    free(sink);
}

static const struct trace_sink_operations operations = {
    .put = put,
    .close = close_sink,
    .destroy = destroy,
};

static enum step_status start(struct hatf_sink *sink, enum packing packing,
                              struct output_file *file, struct step_error *error)
{
    struct step_output output = output_file_as_output(file);
    if (!live_table_init(&sink->addresses))
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    enum step_status status =
        packed_output_create(packing, sink->options.level, &output, &sink->packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    output = packed_output_as_output(sink->packed);
    status = hatf_writer_create(&output, &sink->writer, error);
    if (status == STEP_STATUS_OK)
        status = hatf_writer_comment(sink->writer, COMMENT, sizeof COMMENT - 1, error);
    if (status == STEP_STATUS_OK && sink->options.class_attributes)
        status = hatf_writer_set_width(sink->writer, HATF_ATTRIBUTES, HATF_WIDTH_V2, error);
    if (status == STEP_STATUS_OK && sink->options.class_attributes &&
        hatf_writer_field(sink->writer, HATF_ATTRIBUTES)->width != HATF_WIDTH_V2)
        status =
            hatf_writer_set_interpretation(sink->writer, HATF_ATTRIBUTES, HATF_NONE, 0, 0, error);
    return status;
}

static enum step_status create(enum packing packing, struct output_file *output,
                               const struct trace_source *source,
                               const struct trace_sink_options *options, struct trace_sink **out,
                               struct step_error *error)
{
    struct hatf_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
    sink->base.operations = &operations;
    sink->names = &source->names;
    sink->options = *options;
    enum step_status status = start(sink, packing, output, error);
    if (status != STEP_STATUS_OK) {
        destroy(&sink->base);
        return status;
    }
    *out = &sink->base;
    return status;
}

enum step_status hatf_sink_create(struct output_file *output, const struct trace_source *source,
                                  const struct trace_sink_options *options, struct trace_sink **out,
                                  struct step_error *error)
{
    return create(PACKING_NONE, output, source, options, out, error);
}

enum step_status hatf_gzip_sink_create(struct output_file *output,
                                       const struct trace_source *source,
                                       const struct trace_sink_options *options,
                                       struct trace_sink **out, struct step_error *error)
{
    return create(PACKING_GZIP, output, source, options, out, error);
}

enum step_status hatf_zstd_sink_create(struct output_file *output,
                                       const struct trace_source *source,
                                       const struct trace_sink_options *options,
                                       struct trace_sink **out, struct step_error *error)
{
    return create(PACKING_ZSTD, output, source, options, out, error);
}
