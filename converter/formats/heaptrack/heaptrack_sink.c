/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes heaptrack's format.  A file numbers pairs of a size and a stack, and allocations and frees
 * contain only a pair's number, so live objects must be tracked.  Recent pairs are in a table of
 * fixed size.  A pair that was evicted gets another number, which readers accept.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/cli/utf8_text.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/containers/object_table.h"
#include "converter/heap/heap_sites.h"
#include "converter/trace/trace_sink.h"
#include "format/core/grow.h"
#include "format/core/hash.h"
#include "steptrace/value.h"

/* ---- lines, formatted by hand: printf() is too slow for one line per allocation ---- */

enum { NUMBERS_MOST = 8, DIGITS_MOST = 16 };

/* Writes "+ 1f": at most eight numbers. */
static void heaptrack_put_numbers(FILE *out, char kind, const uint64_t *numbers, size_t count)
{
    char line[NUMBERS_MOST * (DIGITS_MOST + 1) + 2];
    size_t at = sizeof line;
    line[--at] = '\n';
    for (size_t i = count; i-- > 0;) {
        uint64_t number = numbers[i];
        do
            line[--at] = "0123456789abcdef"[number & 15];
        while ((number >>= 4) != 0);
        line[--at] = ' ';
    }
    line[--at] = kind;
    fwrite_unlocked(line + at, 1, sizeof line - at, out);
}

/* Writes "s java/lang/String"; characters that would end the line become `?`. */
static void heaptrack_put_text(FILE *out, char kind, struct step_bytes text)
{
    putc_unlocked(kind, out);
    putc_unlocked(' ', out);
    utf8_print_in_line(text, 0, out);
    putc_unlocked('\n', out);
}

/* ---- texts (s), frames (i: heaptrack's instruction pointers) and stacks (t: a node and its
 * parent) ---- */

struct heaptrack_stacks {
    FILE *out;                      /* borrowed */
    const struct heap_sites *sites; /* of the trace, borrowed; may grow */
    struct name_index texts;        /* a Java method's text is keyed by its number + 1 */
    struct id_table class_frames;   /* uint32_t: frame, by class */
    struct id_table site_stacks;    /* uint32_t: stack, by site */
    struct heap_sites places;       /* sites without parents: one per frame */
    struct id_table place_frames;   /* uint32_t: number in the file, by place */
    struct heap_sites stacks;       /* numbers are the file's; method_id is the frame */
    uint32_t frame_count;
    uint32_t *chain; /* scratch: sites on the way to the outermost */
    size_t chain_capacity;
};

/* Returns false if memory runs out; reset is allowed then. */
static bool heaptrack_stacks_init(struct heaptrack_stacks *stacks, FILE *out,
                                  const struct heap_sites *sites)
{
    *stacks = (struct heaptrack_stacks){.out = out, .sites = sites};
    id_table_init(&stacks->class_frames, sizeof(uint32_t));
    id_table_init(&stacks->site_stacks, sizeof(uint32_t));
    id_table_init(&stacks->place_frames, sizeof(uint32_t));
    bool ok = heap_sites_init(&stacks->places, sites->names);
    return heap_sites_init(&stacks->stacks, sites->names) && ok;
}

static void heaptrack_stacks_reset(struct heaptrack_stacks *stacks)
{
    name_index_reset(&stacks->texts);
    id_table_reset(&stacks->class_frames);
    id_table_reset(&stacks->site_stacks);
    id_table_reset(&stacks->place_frames);
    heap_sites_reset(&stacks->places);
    heap_sites_reset(&stacks->stacks);
    free(stacks->chain);
}

/* ---- texts ---- */

/* Returns the number of a text; writes it at its first use.  Returns 0 if memory runs out. */
static uint32_t heaptrack_text_of(struct heaptrack_stacks *stacks, struct step_bytes text)
{
    bool is_new;
    uint32_t number = name_index_put(&stacks->texts, 0, text, &is_new);
    if (number != 0 && is_new)
        heaptrack_put_text(stacks->out, 's', text);
    return number;
}

static struct step_bytes heaptrack_cut(struct step_bytes text, size_t from, size_t to)
{
    return (struct step_bytes){text.data + from, to - from};
}

/* Returns the position of the file in "function file.c", or the text's length if there is none. */
static size_t file_at(struct step_bytes text)
{
    for (size_t i = text.length; i-- > 1;)
        if (text.data[i - 1] == ' ')
            return i;
    return text.length;
}

/* Returns the position of the offset in "library.so+0x1234", or 0 if the text is something else. */
static size_t offset_at(struct step_bytes text)
{
    for (size_t i = text.length; i-- > 3;)
        if (text.data[i - 2] == '+' && text.data[i - 1] == '0' && text.data[i] == 'x')
            return i - 2;
    return 0;
}

static uint32_t java_function(struct heaptrack_stacks *stacks, uint32_t method_id,
                              const struct trace_method *method)
{
    static const struct step_bytes nothing = {(const uint8_t *) "", 0};
    char text[HEAP_SITE_TEXT];
    bool is_new;
    uint32_t number = name_index_put(&stacks->texts, (uint64_t) method_id + 1, nothing, &is_new);
    if (number == 0 || !is_new)
        return number;
    struct step_bytes owner = trace_class_of(stacks->sites->names, method->class_id)->name;
    int length =
        snprintf(text, sizeof text, "%.*s.%.*s", (int) owner.length, (const char *) owner.data,
                 (int) method->name.length, (const char *) method->name.data);
    size_t used = (size_t) length < sizeof text ? (size_t) length : sizeof text - 1;
    heaptrack_put_text(stacks->out, 's', (struct step_bytes){(const uint8_t *) text, used});
    return number;
}

/* ---- frames ---- */

struct frame {
    uint32_t module, function, file, line; /* the first three are texts; 0: none */
};

static uint32_t heaptrack_put_frame(struct heaptrack_stacks *stacks, const struct frame *frame)
{
    const uint64_t numbers[] = {++stacks->frame_count, frame->module, frame->function, frame->file,
                                frame->line};
    heaptrack_put_numbers(stacks->out, 'i', numbers, frame->file != 0 ? 5 : 3);
    return stacks->frame_count;
}

/* Where the trace does not have a Java method's source file, its class is used.  Returns false if
 * memory runs out. */
static bool java_frame(struct heaptrack_stacks *stacks, const struct heap_site *place,
                       const struct trace_method *method, struct frame *frame)
{
    frame->module = heaptrack_text_of(stacks, step_text("java"));
    frame->function = java_function(stacks, place->method_id, method);
    char path[FRAME_TEXT];
    struct step_bytes file = trace_class_of(stacks->sites->names, method->class_id)->name;
    struct frame_place at = heap_site_place(stacks->sites, place);
    if (at.file.length > 0) {
        size_t length =
            trace_source_path(stacks->sites->names, method->class_id, &at, path, sizeof path);
        file = (struct step_bytes){(const uint8_t *) path, length};
    }
    frame->line = (uint32_t) at.line;
    if (place->line != 0)
        frame->file = heaptrack_text_of(stacks, file);
    return frame->module != 0 && frame->function != 0 && (frame->file != 0 || place->line == 0);
}

/* Parses "function file.c" with a line, "library.so+0x1234", or "function".  Returns false if
 * memory runs out. */
static bool native_frame(struct heaptrack_stacks *stacks, const struct heap_site *place,
                         const struct trace_method *method, struct frame *frame)
{
    struct step_bytes name = method->name;
    size_t file = place->line != 0 ? file_at(name) : name.length;
    size_t offset = offset_at(name);
    bool has_file = file < name.length;
    if (offset != 0)
        frame->module = heaptrack_text_of(stacks, heaptrack_cut(name, 0, offset));
    frame->function = heaptrack_text_of(stacks, has_file ? heaptrack_cut(name, 0, file - 1) : name);
    if (has_file) {
        frame->file = heaptrack_text_of(stacks, heaptrack_cut(name, file, name.length));
        frame->line = place->line;
    }
    return frame->function != 0 && (frame->module != 0 || offset == 0) &&
           (frame->file != 0 || !has_file);
}

/* Returns the frame of a site, independent of its callers, or 0 if memory runs out. */
static uint32_t heaptrack_frame_of(struct heaptrack_stacks *stacks, const struct heap_site *site)
{
    struct frame frame = {0};
    uint32_t number = heap_sites_put_place(&stacks->places, site);
    uint32_t *known = number != 0 ? id_table_get(&stacks->place_frames, number) : NULL;
    if (known == NULL)
        return 0;
    if (*known != 0)
        return *known;
    const struct trace_method *method = trace_method_of(stacks->sites->names, site->method_id);
    bool ok = method->class_id == 0 ? native_frame(stacks, site, method, &frame)
                                    : java_frame(stacks, site, method, &frame);
    return ok ? *known = heaptrack_put_frame(stacks, &frame) : 0;
}

static uint32_t frame_of_class(struct heaptrack_stacks *stacks, uint32_t class_id)
{
    uint32_t *known = id_table_get(&stacks->class_frames, class_id);
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    const struct frame frame = {
        .module = heaptrack_text_of(stacks, step_text("class")),
        .function = heaptrack_text_of(stacks, trace_class_of(stacks->sites->names, class_id)->name),
    };
    return frame.module != 0 && frame.function != 0 ? *known = heaptrack_put_frame(stacks, &frame)
                                                    : 0;
}

/* ---- stacks ---- */

static uint32_t heaptrack_put_stack(struct heaptrack_stacks *stacks, uint32_t parent,
                                    uint32_t frame)
{
    size_t before = stacks->stacks.count;
    if (frame == 0)
        return 0;
    uint32_t number =
        heap_sites_put(&stacks->stacks, &(struct heap_site){.parent = parent, .method_id = frame});
    if (number != 0 && number >= before)
        heaptrack_put_numbers(stacks->out, 't', (const uint64_t[]){frame, parent}, 2);
    return number;
}

/* Collects in `chain` the sites from this one out to the first that has a stack.  Returns false if
 * memory runs out. */
static bool gather_sites(struct heaptrack_stacks *stacks, uint32_t site, uint32_t *stack,
                         size_t *count)
{
    *stack = 0;
    for (*count = 0; site != 0; site = stacks->sites->items[site].parent) {
        const uint32_t *known = id_table_find(&stacks->site_stacks, site);
        if (known != NULL && (*stack = *known) != 0)
            return true;
        if (!STEP_MAKE_ROOM(stacks->chain, stacks->chain_capacity, *count + 1))
            return false;
        stacks->chain[(*count)++] = site;
    }
    return true;
}

/* Returns 0 if memory runs out. */
static uint32_t stack_of_site(struct heaptrack_stacks *stacks, uint32_t site)
{
    uint32_t stack;
    size_t count;
    if (!gather_sites(stacks, site, &stack, &count))
        return 0;
    while (count-- > 0) {
        site = stacks->chain[count];
        uint32_t *known = id_table_get(&stacks->site_stacks, site);
        stack = heaptrack_put_stack(stacks, stack,
                                    heaptrack_frame_of(stacks, &stacks->sites->items[site]));
        if (known == NULL || stack == 0)
            return 0;
        *known = stack;
    }
    return stack;
}

static bool is_java(const struct heap_sites *sites, uint32_t site)
{
    return trace_method_of(sites->names, sites->items[site].method_id)->class_id != 0;
}

/* Returns the stack of a site.  The class is its innermost frame if the site is a Java method's or
 * there is none.  Returns 0 if memory runs out. */
static uint32_t heaptrack_stack_of(struct heaptrack_stacks *stacks, uint32_t site,
                                   uint32_t class_id)
{
    uint32_t stack = site != 0 ? stack_of_site(stacks, site) : 0;
    if ((site != 0 && stack == 0) || (site != 0 && !is_java(stacks->sites, site)))
        return stack;
    return heaptrack_put_stack(stacks, stack, frame_of_class(stacks, class_id));
}

enum { PAIR_BITS = 19, PAIR_PLACES = 1 << PAIR_BITS };
#define NS_PER_MS UINT64_C(1000000)

struct pair {
    uint64_t size;
    uint32_t site, class_id;
    uint32_t number; /* 0: unused */
};

struct heaptrack_sink {
    struct trace_sink base;
    struct heap_sites sites;
    struct heaptrack_stacks stacks;
    struct object_table live; /* class_id is the number of the pair */
    struct pair *pairs;       /* by hash */
    uint32_t pair_count;      /* pairs written; the first number is never used */
    bool has_begun;
    uint64_t start_ns, now_ns; /* times of the first event and of the last */
    uint64_t written_ms;
};

/* Number 0 stays unused: heaptrack interprets a free of it after another free as that of a
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
        heaptrack_put_numbers(sink->base.stream.file, 'a', (const uint64_t[]){pair->size, stack},
                              2);
    sink->pair_count += sink->pair_count == 0 ? 2 : 1;
    pair->number = sink->pair_count - 1;
    return STEP_STATUS_OK;
}

static struct pair *heaptrack_place_of(const struct heaptrack_sink *sink, uint64_t size,
                                       uint32_t site, uint32_t class_id)
{
    uint64_t hash = step_hash_join(step_hash_join(size, site), class_id);
    return &sink->pairs[step_hash(hash) >> (64 - PAIR_BITS)];
}

/* A line before an allocation or a free has its time. */
static void put_time(struct heaptrack_sink *sink)
{
    uint64_t now_ms = (sink->now_ns - sink->start_ns) / NS_PER_MS;
    if (now_ms > sink->written_ms)
        heaptrack_put_numbers(sink->base.stream.file, 'c', &now_ms, 1);
    sink->written_ms = now_ms > sink->written_ms ? now_ms : sink->written_ms;
}

static void heaptrack_put_free(struct heaptrack_sink *sink, uint64_t object)
{
    struct live_object born;
    if (!object_table_take(&sink->live, object, &born))
        return;
    put_time(sink);
    heaptrack_put_numbers(sink->base.stream.file, '-', (const uint64_t[]){born.class_id}, 1);
}

static enum step_status heaptrack_put_alloc(struct heaptrack_sink *sink,
                                            const struct trace_event *event,
                                            struct step_error *error)
{
    uint32_t site = heap_sites_of_frame(&sink->sites, event->stack_id);
    struct pair *pair = heaptrack_place_of(sink, event->size, site, event->class_id);
    enum step_status status = STEP_STATUS_OK;
    if (event->object == 0)
        return status;
    heaptrack_put_free(sink, event->object); /* the id is reused and its free was lost */
    if (pair->number == 0 || pair->size != event->size || pair->site != site ||
        pair->class_id != event->class_id) {
        *pair = (struct pair){event->size, site, event->class_id, 0};
        status = write_pair(sink, pair, error);
    }
    if (status != STEP_STATUS_OK)
        return status;
    put_time(sink);
    heaptrack_put_numbers(sink->base.stream.file, '+', (const uint64_t[]){pair->number}, 1);
    const struct live_object object = {.object = event->object, .class_id = pair->number};
    return object_table_put(&sink->live, &object) ? status : no_memory(error);
}

static enum step_status heaptrack_put_event(struct heaptrack_sink *sink,
                                            const struct trace_event *event,
                                            struct step_error *error)
{
    if (!sink->has_begun)
        sink->start_ns = sink->now_ns = event->time_ns;
    sink->has_begun = true;
    if (event->time_ns > sink->now_ns)
        sink->now_ns = event->time_ns;
    if (event->kind == EVENT_OBJECT_ALLOC)
        return heaptrack_put_alloc(sink, event, error);
    if (event->kind == EVENT_OBJECT_FREE)
        heaptrack_put_free(sink, event->object);
    return STEP_STATUS_OK;
}

static enum step_status heaptrack_put(struct trace_sink *base, const struct trace_event *events,
                                      size_t count, struct step_error *error)
{
    struct heaptrack_sink *sink = (struct heaptrack_sink *) base;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = heaptrack_put_event(sink, &events[i], error);
    return status;
}

static enum step_status heaptrack_close(struct trace_sink *base, struct step_error *error)
{
    struct heaptrack_sink *sink = (struct heaptrack_sink *) base;
    (void) error;
    put_time(sink);
    fprintf(base->stream.file, "# strings: %zu\n# ips: %u\n", sink->stacks.texts.count,
            sink->stacks.frame_count);
    return STEP_STATUS_OK;
}

static void heaptrack_reset(struct trace_sink *base)
{
    struct heaptrack_sink *sink = (struct heaptrack_sink *) base;
    heaptrack_stacks_reset(&sink->stacks);
    heap_sites_reset(&sink->sites);
    object_table_reset(&sink->live);
    free(sink->pairs);
}

/* Version 2 of the format is that of heaptrack 1.1; all later versions read it.  The trace does not
 * have the size of the machine's memory. */
static void write_head(struct heaptrack_sink *sink, const struct event_source *source)
{
    static const char *const keys[] = {"java-command", "command-line"};
    struct trace_text command = {NULL};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && !trace_text_is_there(command); i++)
        command = event_source_property(source, keys[i]);
    fputs("v 10100 2\n", sink->base.stream.file);
    heaptrack_put_text(sink->base.stream.file, 'X',
                       trace_text_bytes(trace_text_or(command, source->path)));
    fputs("I 1000 0\n", sink->base.stream.file);
}

static enum step_status heaptrack_open(struct trace_sink *base, const struct format_output *to,
                                       struct step_error *error)
{
    struct heaptrack_sink *sink = (struct heaptrack_sink *) base;
    sink->pairs = calloc(PAIR_PLACES, sizeof *sink->pairs);
    bool ok = heap_sites_init(&sink->sites, &to->source->names);
    ok = heaptrack_stacks_init(&sink->stacks, base->stream.file, &sink->sites) && ok;
    if (!ok || sink->pairs == NULL)
        return no_memory(error);
    write_head(sink, to->source);
    return STEP_STATUS_OK;
}

static const struct trace_sink_operations operations = {
    .size_bytes = sizeof(struct heaptrack_sink),
    .prints = true,
    .open = heaptrack_open,
    .put = heaptrack_put,
    .close = heaptrack_close,
    .reset = heaptrack_reset,
};

const struct trace_format format_heaptrack = {
    .name = "heaptrack",
    .ending = ".heaptrack",
    .help = "heaptrack",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_ALLOCATIONS,
    .follows_objects = true,
    .shows_stacks = true,
    .sink = &operations,
};
