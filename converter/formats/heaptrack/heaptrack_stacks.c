/* SPDX-License-Identifier: Apache-2.0 */
/* Texts (s), frames (i: an instruction pointer there) and stacks (t: a node and its parent). */
#include "converter/formats/heaptrack/heaptrack_stacks.h"

#include <stdlib.h>

#include "converter/formats/heaptrack/heaptrack_lines.h"
#include "format/core/grow.h"

bool heaptrack_stacks_init(struct heaptrack_stacks *stacks, FILE *out,
                           const struct heap_sites *sites)
{
    *stacks = (struct heaptrack_stacks){.out = out, .sites = sites};
    id_table_init(&stacks->class_frames, sizeof(uint32_t));
    id_table_init(&stacks->site_stacks, sizeof(uint32_t));
    id_table_init(&stacks->place_frames, sizeof(uint32_t));
    bool ok = name_index_init(&stacks->texts);
    ok = heap_sites_init(&stacks->places, sites->names) && ok;
    return heap_sites_init(&stacks->stacks, sites->names) && ok;
}

void heaptrack_stacks_reset(struct heaptrack_stacks *stacks)
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

/* The number of a text that lives on, written at its first use.  0: out of memory. */
static uint32_t text_of(struct heaptrack_stacks *stacks, struct step_bytes text)
{
    bool is_new;
    uint32_t number = name_index_put(&stacks->texts, 0, text, &is_new);
    if (number != 0 && is_new)
        heaptrack_put_text(stacks->out, 's', text);
    return number;
}

static struct step_bytes cut(struct step_bytes text, size_t from, size_t to)
{
    return (struct step_bytes){text.data + from, to - from};
}

/* Where the file begins in "function file.c"; the text's length: there is none. */
static size_t file_at(struct step_bytes text)
{
    for (size_t i = text.length; i-- > 1;)
        if (text.data[i - 1] == ' ')
            return i;
    return text.length;
}

/* Where the offset begins in "library.so+0x1234"; 0: it is something else. */
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

static uint32_t put_frame(struct heaptrack_stacks *stacks, const struct frame *frame)
{
    const uint64_t numbers[] = {++stacks->frame_count, frame->module, frame->function, frame->file,
                                frame->line};
    heaptrack_put_numbers(stacks->out, 'i', numbers, frame->file != 0 ? 5 : 3);
    return stacks->frame_count;
}

/* A Java method's file is not in the trace: its class stands for it.  False: out of memory. */
static bool java_frame(struct heaptrack_stacks *stacks, const struct heap_site *place,
                       const struct trace_method *method, struct frame *frame)
{
    frame->module = text_of(stacks, step_text("java"));
    frame->function = java_function(stacks, place->method_id, method);
    frame->line = place->line;
    if (place->line != 0)
        frame->file = text_of(stacks, trace_class_of(stacks->sites->names, method->class_id)->name);
    return frame->module != 0 && frame->function != 0 && (frame->file != 0 || place->line == 0);
}

/* "function file.c" and a line, "library.so+0x1234", or "function".  False: out of memory. */
static bool native_frame(struct heaptrack_stacks *stacks, const struct heap_site *place,
                         const struct trace_method *method, struct frame *frame)
{
    struct step_bytes name = method->name;
    size_t file = place->line != 0 ? file_at(name) : name.length;
    size_t offset = offset_at(name);
    bool has_file = file < name.length;
    if (offset != 0)
        frame->module = text_of(stacks, cut(name, 0, offset));
    frame->function = text_of(stacks, has_file ? cut(name, 0, file - 1) : name);
    if (has_file) {
        frame->file = text_of(stacks, cut(name, file, name.length));
        frame->line = place->line;
    }
    return frame->function != 0 && (frame->module != 0 || offset == 0) &&
           (frame->file != 0 || !has_file);
}

/* The frame of a site, whatever called it.  0: out of memory. */
static uint32_t frame_of(struct heaptrack_stacks *stacks, const struct heap_site *site)
{
    struct heap_site place = *site;
    struct frame frame = {0};
    place.parent = 0;
    uint32_t number = heap_sites_put(&stacks->places, &place);
    uint32_t *known = number != 0 ? id_table_get(&stacks->place_frames, number) : NULL;
    if (known == NULL)
        return 0;
    if (*known != 0)
        return *known;
    const struct trace_method *method = trace_method_of(stacks->sites->names, place.method_id);
    bool ok = method->class_id == 0 ? native_frame(stacks, &place, method, &frame)
                                    : java_frame(stacks, &place, method, &frame);
    return ok ? *known = put_frame(stacks, &frame) : 0;
}

static uint32_t frame_of_class(struct heaptrack_stacks *stacks, uint32_t class_id)
{
    uint32_t *known = id_table_get(&stacks->class_frames, class_id);
    if (known == NULL || *known != 0)
        return known != NULL ? *known : 0;
    const struct frame frame = {
        .module = text_of(stacks, step_text("class")),
        .function = text_of(stacks, trace_class_of(stacks->sites->names, class_id)->name),
    };
    return frame.module != 0 && frame.function != 0 ? *known = put_frame(stacks, &frame) : 0;
}

/* ---- stacks ---- */

static uint32_t put_stack(struct heaptrack_stacks *stacks, uint32_t parent, uint32_t frame)
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

/* The sites from this one out to the first that has a stack, in `chain`; false: out of memory. */
static bool gather_sites(struct heaptrack_stacks *stacks, uint32_t site, uint32_t *stack,
                         size_t *count)
{
    *stack = 0;
    for (*count = 0; site != 0; site = stacks->sites->items[site].parent) {
        const uint32_t *known = id_table_find(&stacks->site_stacks, site);
        if (known != NULL && (*stack = *known) != 0)
            return true;
        if (*count == stacks->chain_capacity) {
            uint32_t *grown =
                step_grown(stacks->chain, &stacks->chain_capacity, *count + 1, sizeof *grown);
            if (grown == NULL)
                return false;
            stacks->chain = grown;
        }
        stacks->chain[(*count)++] = site;
    }
    return true;
}

/* 0: out of memory. */
static uint32_t stack_of_site(struct heaptrack_stacks *stacks, uint32_t site)
{
    uint32_t stack;
    size_t count;
    if (!gather_sites(stacks, site, &stack, &count))
        return 0;
    while (count-- > 0) {
        site = stacks->chain[count];
        uint32_t *known = id_table_get(&stacks->site_stacks, site);
        stack = put_stack(stacks, stack, frame_of(stacks, &stacks->sites->items[site]));
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

uint32_t heaptrack_stack_of(struct heaptrack_stacks *stacks, uint32_t site, uint32_t class_id)
{
    uint32_t stack = site != 0 ? stack_of_site(stacks, site) : 0;
    if ((site != 0 && stack == 0) || (site != 0 && !is_java(stacks->sites, site)))
        return stack;
    return put_stack(stacks, stack, frame_of_class(stacks, class_id));
}
