/* SPDX-License-Identifier: Apache-2.0 */
/* A source that reads STEP traces. */
#include <stdlib.h>
#include <string.h>

#include "converter/base/given_definition.h"
#include "converter/formats/step/event_order.h"
#include "converter/formats/step/stepfile.h"

struct stepfile_source {
    struct event_source base;
    struct step_reader *reader;
    struct event_order order;
};

static struct stepfile_source *of(struct event_source *source)
{
    return (struct stepfile_source *) source;
}

static const struct stepfile_source *of_const(const struct event_source *source)
{
    return (const struct stepfile_source *) source;
}

static enum step_status read_events(struct event_source *base, struct trace_event *events,
                                    size_t capacity, size_t *count, struct step_error *error)
{
    struct stepfile_source *source = of(base);
    size_t filled = 0;
    enum step_status status = STEP_STATUS_OK;
    while (filled < capacity) {
        const struct trace_event *event;
        uint64_t ticks;
        status = event_order_next(&source->order, &event, &ticks, error);
        if (status != STEP_STATUS_OK)
            break;
        struct trace_event *out = &events[filled];
        *out = *event;
        if (__builtin_mul_overflow(ticks, source->order.decoder.resolution_ns, &out->time_ns))
            out->time_ns = UINT64_MAX;
        if ((out->flags & TRACE_DATED) != 0 &&
            __builtin_mul_overflow(out->collected_ns, source->order.decoder.resolution_ns,
                                   &out->collected_ns))
            out->collected_ns = UINT64_MAX;
        if (!event_source_follow(base, out))
            return step_error_set(error, STEP_STATUS_NO_MEMORY, base->path, STEP_NO_OFFSET,
                                  "out of memory for the live objects");
        filled += trace_filter_takes(&base->filter, &base->names, out);
    }
    *count = filled;
    return status == STEP_STATUS_END && filled > 0 ? STEP_STATUS_OK : status;
}

static void summary(const struct event_source *base, struct trace_summary *out)
{
    const struct stepfile_source *source = of_const(base);
    *out = (struct trace_summary){.format = "step",
                                  .whole = step_reader_is_whole(source->reader),
                                  .running = step_reader_is_running(source->reader),
                                  .recovered = step_reader_recovered_count(source->reader),
                                  .file_bytes = step_reader_file_size(source->reader),
                                  .resolution_ns = source->order.decoder.resolution_ns};
}

static size_t property_count(const struct event_source *base)
{
    return step_reader_property_count(of_const(base)->reader);
}

static void property(const struct event_source *base, size_t i, const char **key,
                     const char **value)
{
    *key = step_reader_property_key(of_const(base)->reader, i);
    *value = step_reader_property_value(of_const(base)->reader, i);
}

static size_t damage_count(const struct event_source *base)
{
    return step_reader_damage_count(of_const(base)->reader);
}

static const struct step_damage *damage(const struct event_source *base, size_t i)
{
    return step_reader_damage(of_const(base)->reader, i);
}

static void count_block(const struct stepfile_source *source, const struct step_block_info *info,
                        struct trace_inventory *inventory)
{
    uint64_t first_ns, last_ns;
    uint64_t resolution_ns = source->order.decoder.resolution_ns;
    if (__builtin_mul_overflow(info->time_min, resolution_ns, &first_ns))
        first_ns = UINT64_MAX;
    if (__builtin_mul_overflow(info->time_max, resolution_ns, &last_ns))
        last_ns = UINT64_MAX;
    if (inventory->block_count++ == 0 || first_ns < inventory->first_ns)
        inventory->first_ns = first_ns;
    if (last_ns > inventory->last_ns)
        inventory->last_ns = last_ns;
    for (uint32_t i = 0; i < inventory->definition->record_count; i++) {
        enum step_text_kind kind = stepfile_decoder_kind(&source->order.decoder, i);
        inventory->is_event[i] = kind < EVENT_KIND_COUNT;
    }
    for (size_t i = 0; i < info->type_count; i++) {
        const struct step_record_count *of = &info->counts[i];
        enum step_text_kind kind = stepfile_decoder_kind(&source->order.decoder, of->record);
        inventory->records[of->record] += of->count;
        if (kind < EVENT_KIND_COUNT)
            inventory->kinds[kind] += of->count;
    }
}

static void count_names(const struct stepfile_source *source, struct trace_inventory *inventory)
{
    const struct stepfile_decoder *decoder = &source->order.decoder;
    for (uint32_t i = 0; i < decoder->record_count; i++) {
        uint64_t count = step_reader_dictionary_count(source->reader, i);
        inventory->classes += decoder->records[i] == STEP_JAVA_CLASS ? count : 0;
        inventory->methods += decoder->records[i] == STEP_JAVA_METHOD ? count : 0;
        inventory->threads += decoder->records[i] == STEP_JAVA_THREAD ? count : 0;
    }
}

/* Lets the reader verify the checksums of all blocks; it keeps note of damage. */
static enum step_status verify(struct stepfile_source *source)
{
    struct step_block *block = NULL;
    uint8_t *nothing = calloc(source->order.decoder.record_count + 1, 1);
    enum step_status status = nothing != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(source->reader);
         i++) {
        status = step_reader_load(source->reader, i, nothing, &block, NULL);
        if (status != STEP_STATUS_NO_MEMORY && status != STEP_STATUS_IO)
            status = STEP_STATUS_OK;
    }
    step_block_destroy(block);
    free(nothing);
    return status;
}

static enum step_status inventory(struct event_source *base, struct trace_inventory *out)
{
    struct stepfile_source *source = of(base);
    *out = (struct trace_inventory){.definition = step_reader_borrow_definition(source->reader)};
    out->records = calloc(out->definition->record_count + 1, sizeof *out->records);
    out->is_event = calloc(out->definition->record_count + 1, sizeof *out->is_event);
    if (out->records == NULL || out->is_event == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < step_reader_block_count(source->reader); i++)
        count_block(source, step_reader_block_info(source->reader, i), out);
    out->stream_count = step_records_queue_count(source->order.records);
    count_names(source, out);
    return verify(source);
}

/* Those of the two record types that the file's definition has, as a selection wants them. */
static size_t fact_names(const struct stepfile_source *source, const char *names[2])
{
    const struct step_definition *definition = step_reader_borrow_definition(source->reader);
    size_t count = 0;
    for (uint32_t i = 0; i < definition->record_count; i++) {
        int known = source->order.decoder.records[i];
        const char *name = definition->records[i].name;
        if ((known == STEP_JAVA_NOT_PROBED || known == STEP_JAVA_METHOD_COUNT) && count < 2 &&
            strcmp(name, step_java_trace_definition.records[known].name) == 0)
            names[count++] = name;
    }
    return count;
}

static enum step_status facts(struct event_source *base, trace_fact_visit visit, void *user,
                              struct step_error *error)
{
    struct stepfile_source *source = of(base);
    struct step_selection *selection = NULL;
    struct step_records *records = NULL;
    struct step_record_view view;
    const char *names[2];
    size_t count = fact_names(source, names);
    if (count == 0)
        return STEP_STATUS_OK;
    enum step_status status = step_selection_create(step_reader_borrow_definition(source->reader),
                                                    names, count, false, &selection, error);
    if (status == STEP_STATUS_OK)
        status = step_records_create(source->reader, selection, &records, error);
    while (status == STEP_STATUS_OK &&
           (status = step_records_next(records, &view, error)) == STEP_STATUS_OK) {
        struct trace_fact fact;
        if (stepfile_decoder_fact(&source->order.decoder, &view, &fact))
            status = visit(user, &fact);
    }
    step_records_destroy(records);
    step_selection_destroy(selection);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static double progress(const struct event_source *base)
{
    uint64_t done, all;
    step_records_progress(of_const(base)->order.records, &done, &all);
    return all > 0 ? (double) done / (double) all : 1.0;
}

static void destroy(struct event_source *base)
{
    struct stepfile_source *source = of(base);
    event_order_reset(&source->order);
    event_source_reset(base);
    step_reader_destroy(source->reader);
    free(source);
}

static const struct event_source_operations operations = {
    .read = read_events,
    .summary = summary,
    .property_count = property_count,
    .property = property,
    .damage_count = damage_count,
    .damage = damage,
    .inventory = inventory,
    .facts = facts,
    .progress = progress,
    .destroy = destroy,
};

/* Takes the reader over. */
static enum step_status start(struct stepfile_source *source, struct step_reader *reader,
                              struct step_error *error)
{
    enum step_status status;
    source->reader = reader;
    const struct event_selection *selected = &source->base.filter.selected;
    status = event_order_init(&source->order, source->reader, &source->base.names, selected,
                              source->base.keep_live, error);
    if (status != STEP_STATUS_OK)
        return status;
    source->base.is_foreign = true;
    for (uint32_t i = 0; i < source->order.decoder.record_count; i++)
        if (stepfile_decoder_kind(&source->order.decoder, i) < EVENT_KIND_COUNT)
            source->base.is_foreign = false;
    return event_order_start(&source->order, source->base.keep_live ? &source->base.live : NULL,
                             error);
}

enum step_status stepfile_source_create(const char *path, const struct event_selection *selected,
                                        struct opened_trace *out, struct step_error *error)
{
    struct step_reader *reader;
    enum step_status status = open_with_given_definition(path, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (stepfile_reader_has_heap_events(reader))
        return stepfile_alloc_source_create(path, reader, &out->allocs, error);
    struct stepfile_source *source = calloc(1, sizeof *source);
    if (source == NULL) {
        step_reader_destroy(reader);
        return step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    }
    if (event_source_init(&source->base, &operations, path, selected)) {
        status = start(source, reader, error);
    } else {
        source->reader = reader;
        status =
            step_error_set(error, STEP_STATUS_NO_MEMORY, path, STEP_NO_OFFSET, "out of memory");
    }
    if (status != STEP_STATUS_OK) {
        destroy(&source->base);
        return status;
    }
    out->events = &source->base;
    return status;
}
