/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes recordings of JDK Flight Recorder (docs/formats/jfr.md): what each thread allocated at
 * each stack in each interval, collections, threads, classes, and at the end the lifetimes.
 */
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/formats/jfr/jfr_types.h"
#include "converter/heap/heap_tracker.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/call_events.h"
#include "converter/trace/trace_sink.h"
#include "format/core/hash.h"

enum { ROWS_MOST = 1 << 15 };
#define DEFAULT_INTERVAL_NS UINT64_C(100000000)
#define DEFAULT_CHUNK_BYTES (UINT64_C(8) << 20)

struct jfr_options {
    uint64_t interval_ns, chunk_bytes; /* 0: the default */
    bool calls;
};

/* What a thread allocated of a class at a site in the interval. */
struct sample {
    struct heap_key key;
    uint64_t bytes, time_ns; /* of the last */
};

/* Totals of a method.  The time of recursive calls is in `inclusive_ns` once. */
struct method_calls {
    uint64_t calls, exceptions;
    uint64_t inclusive_ns, exclusive_ns;
    uint64_t minimum_ns, maximum_ns; /* of a call, callees included */
    bool is_counted;                 /* the trace has its totals */
};

struct jfr_sink {
    struct trace_sink base;
    struct jfr_file file;
    struct heap_tracker tracker;
    struct collection_clock clock;
    struct sample *samples;
    size_t sample_count;
    struct step_index index;
    uint64_t interval_ns, interval_end_ns;
    size_t bounded_bytes; /* of events, when keep_bounds() last looked */
    struct call_events calls;
    struct id_table methods; /* struct method_calls */
    bool shows_calls;        /* an event for each, with the site of its caller */
};

/* ---- allocations ---- */

static void put_sample(struct jfr_sink *sink, const struct sample *sample)
{
    struct jfr_pools *pools = &sink->file.pools;
    struct byte_output *event =
        jfr_event_begin(&sink->file, JFR_ALLOCATION_SAMPLE, sample->time_ns);
    jfr_put_number(event, jfr_thread(pools, sample->key.thread_id));
    jfr_put_number(event, jfr_stack(pools, sample->key.site));
    jfr_put_number(event, jfr_class(pools, sample->key.class_id));
    jfr_put_number(event, sample->bytes <= INT64_MAX ? sample->bytes : JFR_UNKNOWN);
    jfr_event_end(&sink->file);
}

/* Ends the chunk if it is full.  Returns false if out of memory. */
static bool keep_bounds(struct jfr_sink *sink)
{
    if (sink->file.events.bytes.length == sink->bounded_bytes)
        return true; /* no event was added since */
    sink->bounded_bytes = sink->file.events.bytes.length;
    return !jfr_file_chunk_is_full(&sink->file) || jfr_file_end_chunk(&sink->file);
}

static bool flush_samples(struct jfr_sink *sink)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sink->sample_count; i++) {
        put_sample(sink, &sink->samples[i]);
        ok = keep_bounds(sink);
    }
    sink->sample_count = 0;
    step_index_clear(&sink->index);
    return ok;
}

static bool is_key(const struct heap_key *a, const struct heap_key *b)
{
    return a->class_id == b->class_id && a->site == b->site && a->thread_id == b->thread_id;
}

static struct sample *sample_of(struct jfr_sink *sink, const struct heap_key *key)
{
    uint64_t joined = step_hash_join((uint64_t) key->class_id << 32 | key->thread_id, key->site);
    uint32_t hash = (uint32_t) joined, number;
    STEP_INDEX_EACH (&sink->index, hash, number)
        if (is_key(&sink->samples[number].key, key))
            return &sink->samples[number];
    if ((sink->sample_count == ROWS_MOST && !flush_samples(sink)) ||
        !step_index_add(&sink->index, hash, (uint32_t) sink->sample_count))
        return NULL;
    sink->samples[sink->sample_count] = (struct sample){.key = *key};
    return &sink->samples[sink->sample_count++];
}

static bool jfr_put_alloc(struct jfr_sink *sink, const struct trace_event *event)
{
    const struct heap_key key = {event->class_id,
                                 heap_sites_of_frame(&sink->tracker.sites, event->stack_id),
                                 event->thread_id};
    struct sample *sample = sample_of(sink, &key);
    if (sample == NULL)
        return false;
    if (__builtin_add_overflow(sample->bytes, event->size, &sample->bytes))
        sample->bytes = UINT64_MAX; /* no trace of a program */
    sample->time_ns = event->time_ns;
    return true;
}

/* ---- other events ---- */

static void put_heap_summary(struct jfr_sink *sink, const struct collection *over,
                             enum jfr_when when, uint64_t bytes)
{
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_HEAP_SUMMARY, over->time);
    jfr_put_number(event, over->number);
    jfr_put_number(event, when);
    jfr_put_number(event, bytes);
    jfr_event_end(&sink->file);
}

static void put_collection(struct jfr_sink *sink, const struct collection *over)
{
    uint64_t live = sink->tracker.cells.all.bytes;
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_GARBAGE_COLLECTION, over->time);
    jfr_put_number(event, over->number);
    jfr_put_optional_text(event, NULL);
    jfr_put_number(event, JFR_UNKNOWN);
    jfr_put_number(event, over->objects);
    jfr_put_number(event, over->bytes);
    jfr_event_end(&sink->file);
    put_heap_summary(sink, over, JFR_BEFORE_GC, live + over->bytes);
    put_heap_summary(sink, over, JFR_AFTER_GC, live);
}

static void jfr_put_thread_event(struct jfr_sink *sink, enum jfr_type type,
                                 const struct trace_event *event)
{
    struct byte_output *out = jfr_event_begin(&sink->file, type, event->time_ns);
    uint64_t thread = jfr_thread(&sink->file.pools, event->thread_id);
    jfr_put_number(out, thread);
    jfr_put_number(out, thread);
    jfr_event_end(&sink->file);
}

static void put_class_load(struct jfr_sink *sink, const struct trace_event *event)
{
    struct byte_output *out = jfr_event_begin(&sink->file, JFR_CLASS_LOAD, event->time_ns);
    jfr_put_number(out, jfr_thread(&sink->file.pools, event->thread_id));
    jfr_put_number(out, jfr_class(&sink->file.pools, event->class_id));
    jfr_event_end(&sink->file);
}

/* The fastest and the slowest call are JFR_UNKNOWN if they are not known. */
static void put_timing(struct jfr_sink *sink, uint32_t method_id, uint64_t time_ns,
                       const struct method_calls *calls)
{
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_METHOD_TIMING, time_ns);
    jfr_put_number(event, jfr_method(&sink->file.pools, method_id));
    jfr_put_number(event, calls->calls);
    jfr_put_number(event, calls->minimum_ns);
    jfr_put_number(event, calls->calls > 0 ? calls->inclusive_ns / calls->calls : JFR_UNKNOWN);
    jfr_put_number(event, calls->maximum_ns);
    jfr_put_number(event, calls->exceptions);
    jfr_put_number(event, calls->inclusive_ns);
    jfr_put_number(event, calls->exclusive_ns);
    jfr_event_end(&sink->file);
}

static enum step_status jfr_put_fact(void *user, const struct trace_fact *fact)
{
    struct jfr_sink *sink = user;
    if (fact->kind != TRACE_METHOD_COUNT)
        return STEP_STATUS_OK;
    const struct method_calls calls = {.calls = fact->calls,
                                       .exceptions = fact->exceptions,
                                       .inclusive_ns = fact->inclusive_ns,
                                       .exclusive_ns = fact->exclusive_ns,
                                       .minimum_ns = JFR_UNKNOWN,
                                       .maximum_ns = JFR_UNKNOWN};
    struct method_calls *own = id_table_get(&sink->methods, fact->method_id);
    if (own == NULL)
        return STEP_STATUS_NO_MEMORY;
    own->is_counted = true;
    put_timing(sink, fact->method_id, fact->time_ns, &calls);
    keep_bounds(sink); /* a failure is reported at the end */
    return STEP_STATUS_OK;
}

static void jfr_put_call(struct jfr_sink *sink, const struct call_event *call)
{
    uint64_t begin_ns = call->frame->entered_ns, end_ns = begin_ns + call->took_ns;
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_METHOD_TRACE, begin_ns);
    jfr_put_number(event, call->took_ns);
    jfr_put_number(event, jfr_thread(&sink->file.pools, call->thread_id));
    jfr_put_number(event, jfr_stack(&sink->file.pools, call->depth > 0 ? call->frame[-1].site : 0));
    jfr_put_number(event, jfr_method(&sink->file.pools, call->frame->method_id));
    jfr_event_end(&sink->file);
    if (end_ns > sink->file.last_ns)
        sink->file.last_ns = end_ns;
    keep_bounds(sink);
}

static bool begin_call(struct jfr_sink *sink, const struct call_event *call)
{
    struct method_calls *method = id_table_get(&sink->methods, call->frame->method_id);
    if (method == NULL)
        return false;
    method->calls++;
    if (!sink->shows_calls)
        return true;
    const struct heap_site site = {.parent = call->depth > 0 ? call->frame[-1].site : 0,
                                   .method_id = call->frame->method_id};
    call->frame->site = heap_sites_put(&sink->tracker.sites, &site);
    return call->frame->site != 0;
}

static enum step_status receive_call(void *user, const struct call_event *call,
                                     struct step_error *error)
{
    struct jfr_sink *sink = user;
    if (call->change == CALL_OPENS)
        return begin_call(sink, call) ? STEP_STATUS_OK : no_memory(error);
    const struct call_frame *frame = call->frame;
    struct method_calls *method = id_table_find(&sink->methods, frame->method_id);
    uint64_t took_ns = call->took_ns;
    bool is_first = method->maximum_ns == 0 && method->minimum_ns == 0;
    method->exceptions += call->change == CALL_THROWS;
    method->exclusive_ns += took_ns > frame->inner_ns ? took_ns - frame->inner_ns : 0;
    method->inclusive_ns += frame->outer == 0 ? took_ns : 0;
    if (is_first || took_ns < method->minimum_ns)
        method->minimum_ns = took_ns;
    if (took_ns > method->maximum_ns)
        method->maximum_ns = took_ns;
    if (sink->shows_calls)
        jfr_put_call(sink, call);
    return STEP_STATUS_OK;
}

static void finish_calls(struct jfr_sink *sink)
{
    call_events_finish(&sink->calls, NULL); /* closing a call cannot fail */
    const struct method_calls *calls;
    for (uint32_t id = 0; (calls = id_table_next(&sink->methods, &id)) != NULL; id++) {
        if (calls->calls > 0 && !calls->is_counted)
            put_timing(sink, id, sink->calls.last_ns, calls);
        keep_bounds(sink);
    }
}

static void put_jvm(struct jfr_sink *sink)
{
    const struct event_source *source = sink->base.source;
    const char *attached = event_source_property(source, "attached").unshown;
    bool since_start = sink->file.start_ns != 0 && attached != NULL && attached[0] == 'n';
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_JVM_INFORMATION, 0);
    jfr_put_optional_text(event, event_source_property(source, "java-vm-name").unshown);
    jfr_put_optional_text(event, event_source_property(source, "java-vm-version").unshown);
    jfr_put_optional_text(event, event_source_property(source, "command-line").unshown);
    jfr_put_optional_text(event, event_source_property(source, "java-command").unshown);
    jfr_put_number(event, since_start ? sink->file.start_ns / 1000000 : JFR_UNKNOWN);
    jfr_put_number(event, event_source_number(source, "process-id", JFR_UNKNOWN));
    jfr_event_end(&sink->file);
}

/* Microseconds as nanoseconds (steps as steps), or unknown if there are too many. */
static uint64_t lifetime_ns(uint64_t lifetime_us, enum time_unit unit)
{
    uint64_t unit_ns = unit == TIME_STEPS ? 1 : 1000;
    return lifetime_us <= INT64_MAX / unit_ns ? lifetime_us * unit_ns : JFR_UNKNOWN;
}

static void put_lifetime(struct jfr_sink *sink, const struct heap_row *row, uint64_t time_ns)
{
    struct heap_amount dead = heap_row_dead(row);
    if (row->allocated.objects == 0 && dead.objects == 0)
        return; /* existed, and still does */
    struct byte_output *event = jfr_event_begin(&sink->file, JFR_OBJECT_LIFETIME, time_ns);
    jfr_put_number(event, jfr_stack(&sink->file.pools, row->key.site));
    jfr_put_number(event, jfr_class(&sink->file.pools, row->key.class_id));
    jfr_put_number(event, row->allocated.objects);
    jfr_put_number(event, row->allocated.bytes);
    jfr_put_number(event, dead.objects);
    jfr_put_number(event, dead.bytes);
    jfr_put_number(event, lifetime_ns(dead.ages_us, sink->tracker.unit));
    jfr_put_number(event, dead.objects > 0
                              ? lifetime_ns(dead.ages_us / dead.objects, sink->tracker.unit)
                              : JFR_UNKNOWN);
    jfr_event_end(&sink->file);
}

static enum step_status receive_end(void *user, struct heap_snapshot *snapshot,
                                    struct step_error *error)
{
    struct jfr_sink *sink = user;
    bool ok = true;
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        put_lifetime(sink, &snapshot->rows[i], snapshot->time_ns);
        ok = keep_bounds(sink);
    }
    heap_snapshot_reset(snapshot);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

/* ---- the sink ---- */

static bool jfr_put_any(struct jfr_sink *sink, const struct trace_event *event)
{
    bool existed = (event->flags & TRACE_EXISTING) != 0;
    if (event->time_ns >= sink->interval_end_ns) {
        sink->interval_end_ns = event->time_ns - event->time_ns % sink->interval_ns;
        if (__builtin_add_overflow(sink->interval_end_ns, sink->interval_ns,
                                   &sink->interval_end_ns))
            sink->interval_end_ns = UINT64_MAX;
        if (!flush_samples(sink))
            return false;
    }
    switch (event->kind) {
    case EVENT_OBJECT_ALLOC:
        return existed || jfr_put_alloc(sink, event);
    case EVENT_OBJECT_FREE:
        return collection_clock_put_free(&sink->clock, event);
    case EVENT_THREAD_BEGIN:
    case EVENT_THREAD_END:
        if (!existed)
            jfr_put_thread_event(
                sink, event->kind == EVENT_THREAD_END ? JFR_THREAD_END : JFR_THREAD_START, event);
        return true;
    case EVENT_CLASS_LOAD:
        if (!existed)
            put_class_load(sink, event);
        return true;
    default:
        return true;
    }
}

static enum step_status jfr_put(struct trace_sink *base, const struct trace_event *events,
                                size_t count, struct step_error *error)
{
    struct jfr_sink *sink = (struct jfr_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    struct collection over;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        while (collection_clock_ends_before(&sink->clock, &events[i], &over))
            put_collection(sink, &over);
        if (!jfr_put_any(sink, &events[i]))
            return no_memory(error);
        status = call_events_put(&sink->calls, &events[i], error);
        if (status == STEP_STATUS_OK && !keep_bounds(sink))
            status = no_memory(error);
        if (status == STEP_STATUS_OK)
            status = heap_tracker_put(&sink->tracker, &events[i], 1, error);
    }
    return status;
}

static enum step_status jfr_close(struct trace_sink *base, struct step_error *error)
{
    struct jfr_sink *sink = (struct jfr_sink *) base;
    struct collection over;
    while (collection_clock_finish(&sink->clock, &over))
        put_collection(sink, &over);
    if (!flush_samples(sink))
        return no_memory(error);
    finish_calls(sink);
    enum step_status status = heap_tracker_finish(&sink->tracker, error);
    if (status != STEP_STATUS_OK)
        return status;
    return jfr_file_end_chunk(&sink->file) ? STEP_STATUS_OK : no_memory(error);
}

static void jfr_reset(struct trace_sink *base)
{
    struct jfr_sink *sink = (struct jfr_sink *) base;
    jfr_file_reset(&sink->file);
    call_events_reset(&sink->calls);
    id_table_reset(&sink->methods);
    heap_tracker_reset(&sink->tracker);
    collection_clock_reset(&sink->clock);
    step_index_reset(&sink->index);
    free(sink->samples);
}

static bool take_interval(void *target, const char *value, const char **fault)
{
    uint64_t *interval_ns = target;
    return take_time(interval_ns, value, fault) && *interval_ns > 0;
}

static const struct format_option rows[] = {
    {{"interval", 0, "TIME", "jfr: time that one sample covers (100ms)", take_interval, NULL},
     offsetof(struct jfr_options, interval_ns)},
    {{"chunk", 0, "SIZE", "jfr: size of a chunk (8m)", take_size, NULL},
     offsetof(struct jfr_options, chunk_bytes)},
    {{"calls", 0, NULL, "jfr: an event for each call of the trace's method events", take_flag,
      NULL},
     offsetof(struct jfr_options, calls)},
    {.place = 0}};

static const struct format_options jfr_options = {sizeof(struct jfr_options), rows, NULL};
static const struct format_options *const options_of[] = {&jfr_options, NULL};

static enum step_status jfr_open(struct trace_sink *base, const struct format_output *to,
                                 struct step_error *error)
{
    struct jfr_sink *sink = (struct jfr_sink *) base;
    static const struct heap_moment end = {.kind = HEAP_AT_END};
    const struct heap_tracker_options wanted = {
        .moments = &end, .moment_count = 1, .receive = receive_end, .user = sink};
    const struct jfr_options *options = format_settings_get(to->settings, &jfr_options);
    sink->interval_ns = options->interval_ns != 0 ? options->interval_ns : DEFAULT_INTERVAL_NS;
    sink->samples = malloc(ROWS_MOST * sizeof *sink->samples);
    bool ok = heap_tracker_init(&sink->tracker, to->source, &wanted);
    jfr_file_init(&sink->file, sink->base.stream.file, &sink->tracker.sites);
    call_events_init(&sink->calls, 0, receive_call, sink);
    id_table_init(&sink->methods, sizeof(struct method_calls));
    sink->shows_calls = options->calls;
    sink->file.start_ns = event_source_number(to->source, "start-time-ns", 0);
    sink->file.chunk_bytes = options->chunk_bytes != 0 ? options->chunk_bytes : DEFAULT_CHUNK_BYTES;
    if (!ok || sink->samples == NULL)
        return no_memory(error);
    put_jvm(sink);
    return STEP_STATUS_OK;
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct jfr_sink),
    .prints = true,
    .open = jfr_open,
    .put = jfr_put,
    .put_fact = jfr_put_fact,
    .close = jfr_close,
    .reset = jfr_reset,
};

const struct trace_format format_jfr = {
    .name = "jfr",
    .ending = ".jfr",
    .help = "JDK Flight Recorder (JMC)",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_EVENTS,
    .shows_allocations = true,
    .shows_stacks = true,
    .options = options_of,
    .sink = &operations,
};
