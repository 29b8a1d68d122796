/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that writes a heap trace as STEP (hatf.step).  All records are in one stream, in the
 * trace's order.  Addresses are encoded with the heap's model where possible.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/step/stepfile.h"
#include "converter/trace/address_model.h"
#include "converter/trace/copy_loss.h"
#include "converter/trace/trace_sink.h"
#include "steptrace/hatf_trace.h"
#include "steptrace/live.h"

/* A single stream preserves the order of the records. */
#define STREAM 0

/* Limits for the dictionary of repeated attributes. */
enum { ENTRIES_MAX = 1 << 16, ENTRY_BYTES_MAX = 1 << 22 };

struct step_allocs_sink {
    struct trace_sink base;
    struct step_writer *writer;
    struct address_model *model; /* NULL: store addresses */
    uint64_t resolution_ns;
    struct name_index attributes;
    size_t text_bytes;
};

/* Adds an entry.  The dictionary assigns it the same id as name_index. */
static bool allocs_sink_define(struct step_allocs_sink *sink, struct step_bytes value)
{
    sink->text_bytes += value.length;
    return step_heap_attributes_define(sink->writer, &(struct step_heap_attributes){value}, NULL) ==
           STEP_STATUS_OK;
}

/* Sets the record's field for attributes.  Attributes without entry are written as a record
 * before it. */
static bool allocs_sink_put_attributes(struct step_allocs_sink *sink, struct step_bytes value,
                                       uint64_t *id)
{
    bool is_new = false;
    *id = 0;
    if (value.length == 0)
        return true;
    bool has_room =
        sink->attributes.count < ENTRIES_MAX && value.length <= ENTRY_BYTES_MAX - sink->text_bytes;
    if (!has_room && name_index_find(&sink->attributes, 0, value) == 0)
        return step_heap_next_attributes_put(sink->writer, STREAM,
                                             &(struct step_heap_next_attributes){value}) ==
               STEP_STATUS_OK;
    *id = name_index_put(&sink->attributes, 0, value, &is_new);
    return *id != 0 && (!is_new || allocs_sink_define(sink, value));
}

static enum step_status put_slots(struct step_allocs_sink *sink, const struct hatf_record *record,
                                  uint64_t attributes, bool is_placed,
                                  const struct address_place *place)
{
    uint64_t slots[HEAP_STEP_SLOTS] = {record->time / sink->resolution_ns, record->thread,
                                       attributes};
    const struct alloc_form *form = &alloc_forms[record->tag];
    size_t at = 3;
    if (hatf_tag_has(record->tag, HATF_HEAP))
        slots[at++] = record->heap;
    if (hatf_tag_has(record->tag, HATF_SIZE))
        slots[at++] = record->size;
    if (form->has_old)
        slots[at++] = is_placed ? place->age : record->address;
    if (form->has_new)
        slots[at++] = is_placed       ? place->rank
                      : form->has_old ? record->new_address
                                      : record->address;
    return step_writer_put(sink->writer, STREAM, is_placed ? form->placed : form->plain, slots);
}

static enum step_status allocs_sink_put(struct trace_sink *base, const struct hatf_record *record,
                                        struct step_error *error)
{
    struct step_allocs_sink *sink = (struct step_allocs_sink *) base;
    struct address_place place;
    uint64_t attributes;
    enum step_status status;
    if (record->tag == HATF_COMMENT) {
        status = step_heap_comment_put(sink->writer, STREAM,
                                       &(struct step_heap_comment){record->comment});
        return status == STEP_STATUS_OK ? status : step_writer_close(sink->writer, error);
    }
    enum address_answer answer =
        sink->model != NULL ? address_model_place(sink->model, record, &place) : HEAP_PLAIN;
    if (answer == HEAP_NO_MEMORY ||
        !allocs_sink_put_attributes(sink, record->attributes, &attributes))
        return no_memory(error);
    status = put_slots(sink, record, attributes, answer == HEAP_PLACED, &place);
    return status == STEP_STATUS_OK ? status : step_writer_close(sink->writer, error);
}

static enum step_status allocs_sink_close(struct trace_sink *base, struct step_error *error)
{
    struct step_allocs_sink *sink = (struct step_allocs_sink *) base;
    enum step_status status = copy_loss_put(&base->source->about, sink->writer);
    return status == STEP_STATUS_OK ? step_writer_close(sink->writer, error) : status;
}

static void allocs_sink_reset(struct trace_sink *base)
{
    struct step_allocs_sink *sink = (struct step_allocs_sink *) base;
    step_writer_destroy(sink->writer);
    address_model_destroy(sink->model);
    name_index_reset(&sink->attributes);
}

/* ---- the writer of both sinks ---- */

static void allocs_sink_copy_properties(struct step_writer *writer,
                                        const struct event_source *source, uint64_t resolution_ns)
{
    char resolution[32];
    bool has_producer = event_source_property(source, "producer").unshown != NULL;
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(&source->about, i)).key.unshown != NULL; i++)
        if (!trace_text_is(property.key, STEP_LIVE_REST)) /* the copy has no live file */
            step_writer_property(writer, property.key.unshown, property.value.unshown);
    if (!has_producer)
        step_writer_property(writer, "producer", "StepTrace steptrace " STEPTRACE_VERSION);
    snprintf(resolution, sizeof resolution, "%" PRIu64, resolution_ns);
    if (event_source_has_times(source))
        step_writer_property(writer, "resolution-ns", resolution);
}

enum step_status stepfile_writer_create(const struct format_output *to,
                                        struct step_writer_options *options,
                                        uint64_t *resolution_ns, struct step_writer **writer,
                                        struct step_error *error)
{
    uint64_t given_ns = trace_summary_of(&to->source->about).resolution_ns;
    *resolution_ns = given_ns > 0 ? given_ns : 1;
    options->output = output_file_as_output(to->file);
    options->verify = true;
    options->level = format_settings_level(to->settings);
    enum step_status status = step_writer_create(options, writer, error);
    if (status == STEP_STATUS_OK)
        allocs_sink_copy_properties(*writer, to->source, *resolution_ns);
    return status;
}

static enum step_status allocs_sink_open(struct trace_sink *base, const struct format_output *to,
                                         struct step_error *error)
{
    const struct stepfile_options *options = format_settings_get(to->settings, &stepfile_options);
    struct step_allocs_sink *sink = (struct step_allocs_sink *) base;
    if (!options->is_plain)
        sink->model = address_model_create(false);
    if (!options->is_plain && sink->model == NULL)
        return no_memory(error);
    struct step_writer_options writer_options;
    step_writer_options_init(&writer_options);
    writer_options.definition = &step_hatf_trace_definition;
    if (options->packed_block_records > 0) {
        writer_options.compression = STEP_COMPRESSION_BEST;
        writer_options.block_records = options->packed_block_records;
        writer_options.memory_bytes = (size_t) 1 << 30;
    }
    enum step_status status =
        stepfile_writer_create(to, &writer_options, &sink->resolution_ns, &sink->writer, error);
    if (status == STEP_STATUS_OK)
        step_writer_property(sink->writer, "converted-from",
                             trace_summary_of(&to->source->about).format);
    return status;
}

const struct trace_sink_operations stepfile_alloc_sink_operations = {
    .size_bytes = sizeof(struct step_allocs_sink),
    .open = allocs_sink_open,
    .put_alloc = allocs_sink_put,
    .has_properties = true,
    .close = allocs_sink_close,
    .reset = allocs_sink_reset,
};

static const struct format_option rows_of[] = {
    {{"plain", 0, NULL, "STEP: store addresses of a heap trace unencoded", take_flag, NULL},
     offsetof(struct stepfile_options, is_plain)},
    {.place = 0}};

const struct format_options stepfile_options = {sizeof(struct stepfile_options), rows_of, NULL};
