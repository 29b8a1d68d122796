/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what simulators of collectors and allocators read (docs/formats/lifetimes.md): a line for
 * each object in order of allocation, with the moment of its death on the same clock, which counts
 * allocations.  Deaths come later, so that lines wait in a temporary file as records of one size.
 */
#include <inttypes.h>
#include <unistd.h>

#include "converter/cli/csv_output.h"
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/files/spool.h"
#include "converter/trace/trace_sink.h"

#define PAGE_OBJECTS ((size_t) 4096)

struct object {
    uint64_t freed_at; /* 1 + the number of allocations by then; 0: alive at the end */
    uint64_t size;
    uint32_t class_id;
};

struct lifetimes_sink {
    struct trace_sink base;
    struct object_table live; /* value: the object's number */
    uint64_t count;
    bool has_sizes;
    int spool;
    struct object page[PAGE_OBJECTS]; /* the objects that the spool does not have yet */
};

/* Writes the objects of the last page. */
static enum step_status write_page(const struct lifetimes_sink *sink, struct step_error *error)
{
    size_t count = (size_t) ((sink->count - 1) % PAGE_OBJECTS + 1);
    return spool_write(sink->spool, sink->page, count * sizeof(struct object),
                       (sink->count - count) * sizeof(struct object), error);
}

/* ---- events ---- */

static enum step_status lifetimes_put_alloc(struct lifetimes_sink *sink,
                                            const struct trace_event *event,
                                            struct step_error *error)
{
    if (sink->count > 0 && sink->count % PAGE_OBJECTS == 0) {
        enum step_status status = write_page(sink, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
    sink->has_sizes = sink->has_sizes || event->size > 0;
    sink->page[sink->count % PAGE_OBJECTS] =
        (struct object){.size = event->size, .class_id = event->class_id};
    struct live_object object = {.object = event->object, .value = sink->count++};
    return object_table_put(&sink->live, &object) ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status lifetimes_put_free(struct lifetimes_sink *sink,
                                           const struct trace_event *event,
                                           struct step_error *error)
{
    struct live_object object;
    uint64_t freed_at = sink->count + 1;
    if (!object_table_take(&sink->live, event->object, &object))
        return STEP_STATUS_OK; /* not selected */
    if (object.value >= (sink->count - 1) / PAGE_OBJECTS * PAGE_OBJECTS) {
        sink->page[object.value % PAGE_OBJECTS].freed_at = freed_at;
        return STEP_STATUS_OK;
    }
    return spool_write(sink->spool, &freed_at, sizeof freed_at,
                       object.value * sizeof(struct object), error);
}

static enum step_status lifetimes_put(struct trace_sink *base, const struct trace_event *events,
                                      size_t count, struct step_error *error)
{
    struct lifetimes_sink *sink = (struct lifetimes_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        if (events[i].kind == EVENT_OBJECT_ALLOC)
            status = lifetimes_put_alloc(sink, &events[i], error);
        else if (events[i].kind == EVENT_OBJECT_FREE)
            status = lifetimes_put_free(sink, &events[i], error);
    }
    return status;
}

static void put_line(struct lifetimes_sink *sink, uint64_t number, const struct object *object)
{
    FILE *out = sink->base.stream.file;
    fprintf(out, "%" PRIu64 ",", number + 1);
    if (object->freed_at != 0)
        fprintf(out, "%" PRIu64, object->freed_at - 1);
    fputc(',', out);
    if (sink->has_sizes)
        fprintf(out, "%" PRIu64, object->size);
    fputc(',', out);
    csv_put_text(trace_class_of(&sink->base.source->names, object->class_id)->name, out);
    fputc('\n', out);
}

static enum step_status lifetimes_close(struct trace_sink *base, struct step_error *error)
{
    struct lifetimes_sink *sink = (struct lifetimes_sink *) base;
    enum step_status status = sink->count > 0 ? write_page(sink, error) : STEP_STATUS_OK;
    if (status != STEP_STATUS_OK)
        return status;
    fputs("alloc_seq,free_at_seq,size,type\n", sink->base.stream.file);
    for (uint64_t first = 0;
         first < sink->count && sink->base.stream.error.status == STEP_STATUS_OK;
         first += PAGE_OBJECTS) {
        uint64_t left = sink->count - first;
        size_t count = left < PAGE_OBJECTS ? (size_t) left : PAGE_OBJECTS;
        status = spool_read(sink->spool, sink->page, count * sizeof(struct object),
                            first * sizeof(struct object), error);
        if (status != STEP_STATUS_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            put_line(sink, first + i, &sink->page[i]);
    }
    return status;
}

static void lifetimes_sink_reset(struct trace_sink *base)
{
    struct lifetimes_sink *sink = (struct lifetimes_sink *) base;
    if (sink->spool >= 0)
        close(sink->spool);
    object_table_reset(&sink->live);
}

static enum step_status lifetimes_open(struct trace_sink *base, const struct format_output *to,
                                       struct step_error *error)
{
    struct lifetimes_sink *sink = (struct lifetimes_sink *) base;
    (void) to;
    sink->spool = -1;
    return spool_open(&sink->spool, error);
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct lifetimes_sink),
    .prints = true,
    .open = lifetimes_open,
    .put = lifetimes_put,
    .close = lifetimes_close,
    .reset = lifetimes_sink_reset,
};

const struct trace_format format_lifetimes = {
    .name = "lifetimes",
    .ending = ".lifetimes.csv",
    .help = "an object per line, for simulators",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_ALLOCATIONS,
    .follows_objects = true,
    .sink = &operations,
};
