/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that writes heaptrack's format.  A file numbers pairs of a size and a stack; an allocation
 * and a free are a pair's number each, so what lives has to be followed.  The pairs of late are in
 * a table of fixed size: one that was forgotten gets another number, which readers allow.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/base/object_table.h"
#include "converter/files/output_file.h"
#include "converter/files/output_stream.h"
#include "converter/formats/heaptrack/heaptrack_format.h"
#include "converter/formats/heaptrack/heaptrack_lines.h"
#include "converter/formats/heaptrack/heaptrack_stacks.h"
#include "converter/heap/call_sites.h"
#include "format/core/hash.h"
#include "steptrace/packed.h"

enum { PAIR_BITS = 19, PAIR_PLACES = 1 << PAIR_BITS };
#define NS_PER_MS UINT64_C(1000000)

struct pair {
    uint64_t size;
    uint32_t site, class_id;
    uint32_t number; /* 0: the place is empty */
};

struct heaptrack_sink {
    struct event_sink base;
    struct heap_sites sites;
    struct call_sites calls;
    struct heaptrack_stacks stacks;
    struct object_table live; /* class_id is the pair's number */
    struct pair *pairs;       /* by hash */
    uint32_t pair_count;      /* that were written; the first is never used */
    struct step_packed_output *packed;
    struct output_stream stream;
    bool has_begun;
    uint64_t start_ns, now_ns; /* of the first event and the last */
    uint64_t written_ms;
};

static struct heaptrack_sink *of(struct event_sink *sink)
{
    return (struct heaptrack_sink *) sink;
}

/* Number 0 stays unused: heaptrack takes a free of it that follows another free for that of a
 * temporary allocation. */
static enum step_status write_pair(struct heaptrack_sink *sink, struct pair *pair,
                                   struct step_error *error)
{
    uint32_t stack = heaptrack_stack_of(&sink->stacks, pair->site, pair->class_id);
    if (stack == 0)
        return no_memory(error);
    if (sink->pair_count == UINT32_MAX)
        return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "more than 4294967295 pairs of size and stack");
    for (unsigned i = 0; i < (sink->pair_count == 0 ? 2 : 1); i++)
        heaptrack_put_numbers(sink->stream.file, 'a', (const uint64_t[]){pair->size, stack}, 2);
    sink->pair_count += sink->pair_count == 0 ? 2 : 1;
    pair->number = sink->pair_count - 1;
    return STEP_STATUS_OK;
}

static struct pair *place_of(const struct heaptrack_sink *sink, uint64_t size, uint32_t site,
                             uint32_t class_id)
{
    uint64_t hash = step_hash_join(step_hash_join(size, site), class_id);
    return &sink->pairs[step_hash(hash) >> (64 - PAIR_BITS)];
}

/* Lines before an allocation or a free say when it was. */
static void put_time(struct heaptrack_sink *sink)
{
    uint64_t now_ms = (sink->now_ns - sink->start_ns) / NS_PER_MS;
    if (now_ms > sink->written_ms)
        heaptrack_put_numbers(sink->stream.file, 'c', &now_ms, 1);
    sink->written_ms = now_ms > sink->written_ms ? now_ms : sink->written_ms;
}

static void put_free(struct heaptrack_sink *sink, uint64_t object)
{
    struct live_object born;
    if (!object_table_take(&sink->live, object, &born))
        return;
    put_time(sink);
    heaptrack_put_numbers(sink->stream.file, '-', (const uint64_t[]){born.class_id}, 1);
}

static enum step_status put_alloc(struct heaptrack_sink *sink, const struct trace_event *event,
                                  struct step_error *error)
{
    uint32_t site = call_sites_of(&sink->calls, &sink->sites, event);
    struct pair *pair = place_of(sink, event->size, site, event->class_id);
    enum step_status status = STEP_STATUS_OK;
    if (event->object == 0)
        return status;
    put_free(sink, event->object); /* of a number that is used anew, where its free was lost */
    if (pair->number == 0 || pair->size != event->size || pair->site != site ||
        pair->class_id != event->class_id) {
        *pair = (struct pair){event->size, site, event->class_id, 0};
        status = write_pair(sink, pair, error);
    }
    if (status != STEP_STATUS_OK)
        return status;
    put_time(sink);
    heaptrack_put_numbers(sink->stream.file, '+', (const uint64_t[]){pair->number}, 1);
    const struct live_object object = {.object = event->object, .class_id = pair->number};
    return object_table_put(&sink->live, &object) ? status : no_memory(error);
}

static enum step_status put_event(struct heaptrack_sink *sink, const struct trace_event *event,
                                  struct step_error *error)
{
    if (!sink->has_begun)
        sink->start_ns = sink->now_ns = event->time_ns;
    sink->has_begun = true;
    if (event->time_ns > sink->now_ns)
        sink->now_ns = event->time_ns;
    if (event->kind == EVENT_OBJECT_ALLOC)
        return put_alloc(sink, event, error);
    if (event->kind == EVENT_OBJECT_FREE)
        put_free(sink, event->object);
    else if (!call_sites_put(&sink->calls, &sink->sites, event))
        return no_memory(error);
    return STEP_STATUS_OK;
}

static enum step_status put(struct event_sink *base, const struct trace_event *events, size_t count,
                            struct step_error *error)
{
    struct heaptrack_sink *sink = of(base);
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = put_event(sink, &events[i], error);
    if (status == STEP_STATUS_OK && sink->stream.error.status != STEP_STATUS_OK) {
        status = sink->stream.error.status;
        if (error != NULL)
            *error = sink->stream.error;
    }
    return status;
}

static enum step_status close_sink(struct event_sink *base, struct step_error *error)
{
    struct heaptrack_sink *sink = of(base);
    put_time(sink);
    fprintf(sink->stream.file, "# strings: %zu\n# ips: %u\n", sink->stacks.texts.count,
            sink->stacks.frame_count);
    enum step_status status = output_stream_close(&sink->stream, error);
    return status == STEP_STATUS_OK ? step_packed_output_close(sink->packed, error) : status;
}

static void destroy(struct event_sink *base)
{
    struct heaptrack_sink *sink = of(base);
    output_stream_reset(&sink->stream);
    step_packed_output_destroy(sink->packed);
    heaptrack_stacks_reset(&sink->stacks);
    call_sites_reset(&sink->calls);
    heap_sites_reset(&sink->sites);
    object_table_reset(&sink->live);
    free(sink->pairs);
    free(sink);
}

static const struct event_sink_operations operations = {
    .put = put,
    .close = close_sink,
    .destroy = destroy,
};

/* Version 2 of the format is that of heaptrack 1.1, and all later ones read it.  How much memory
 * the machine has is not in a trace. */
static void write_head(struct heaptrack_sink *sink, const struct event_source *source)
{
    static const char *const keys[] = {"java-command", "command-line"};
    const char *command = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && command == NULL; i++)
        command = event_source_property(source, keys[i]);
    fputs("v 10100 2\n", sink->stream.file);
    heaptrack_put_text(sink->stream.file, 'X', step_text(command != NULL ? command : source->path));
    fputs("I 1000 0\n", sink->stream.file);
}

static enum step_status start(struct heaptrack_sink *sink, enum step_packing packing,
                              struct output_file *output, const struct event_source *source,
                              int level, struct step_error *error)
{
    struct step_output to = output_file_as_output(output);
    call_sites_init(&sink->calls);
    bool ok = heap_sites_init(&sink->sites, &source->names);
    ok = object_table_init(&sink->live) && ok;
    sink->pairs = calloc(PAIR_PLACES, sizeof *sink->pairs);
    enum step_status status = step_packed_output_create(packing, level, &to, &sink->packed, error);
    if (status != STEP_STATUS_OK)
        return status;
    to = step_packed_output_as_output(sink->packed);
    ok = output_stream_open(&sink->stream, &to) && ok && sink->pairs != NULL;
    ok = heaptrack_stacks_init(&sink->stacks, sink->stream.file, &sink->sites) && ok;
    if (!ok)
        return no_memory(error);
    write_head(sink, source);
    return STEP_STATUS_OK;
}

static enum step_status create(enum step_packing packing, struct output_file *output,
                               const struct event_source *source,
                               const struct event_sink_options *options, struct event_sink **out,
                               struct step_error *error)
{
    struct heaptrack_sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return no_memory(error);
    sink->base.operations = &operations;
    enum step_status status = start(sink, packing, output, source, options->level, error);
    if (status == STEP_STATUS_OK)
        *out = &sink->base;
    else
        destroy(&sink->base);
    return status;
}

enum step_status heaptrack_sink_create(struct output_file *output,
                                       const struct event_source *source,
                                       const struct event_sink_options *options,
                                       struct event_sink **out, struct step_error *error)
{
    return create(step_packing_by_ending(output->path), output, source, options, out, error);
}

enum step_status heaptrack_gzip_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct event_sink **out, struct step_error *error)
{
    return create(STEP_PACKING_GZIP, output, source, options, out, error);
}

enum step_status heaptrack_zstd_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct event_sink **out, struct step_error *error)
{
    return create(STEP_PACKING_ZSTD, output, source, options, out, error);
}
