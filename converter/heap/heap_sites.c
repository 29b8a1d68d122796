/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array of call sites with a hash index.
 *
 * Equal stacks are one site, whatever they come from: frames of the trace, or an imported dump.  As
 * a parent's number is lower than its children's, sums over subtrees need one pass from the end and
 * no recursion (heap_dump.c).
 */
#include "converter/heap/heap_sites.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/hash.h"

bool heap_sites_init(struct heap_sites *sites, const struct trace_names *names)
{
    *sites = (struct heap_sites){.names = names};
    id_table_init(&sites->frames, sizeof(uint32_t));
    if (!STEP_MAKE_ROOM(sites->items, sites->capacity, 1))
        return false;
    sites->items[sites->count++] = (struct heap_site){.parent = 0};
    return true;
}

void heap_sites_reset(struct heap_sites *sites)
{
    id_table_reset(&sites->frames);
    free(sites->items);
    step_index_reset(&sites->index);
    free(sites->chain);
    *sites = (struct heap_sites){.names = NULL};
}

static uint32_t heap_sites_hash_of(const struct heap_site *site)
{
    uint64_t hash = step_hash_join((uint64_t) site->parent << 32, site->method_id);
    return (uint32_t) step_hash_join(hash, (uint64_t) site->bytecode << 32 | site->line);
}

/* The depth is no part of what makes a site, as it follows from the parent; it is the last member,
 * and the comparison ends before it.  A new site is put at the end, after its parent: that is the
 * order of numbers on which sums over subtrees rely. */
uint32_t heap_sites_put(struct heap_sites *sites, const struct heap_site *site)
{
    uint32_t hash = heap_sites_hash_of(site), number;
    STEP_INDEX_EACH (&sites->index, hash, number)
        if (memcmp(&sites->items[number], site, offsetof(struct heap_site, depth)) == 0)
            return number;
    number = (uint32_t) sites->count;
    if (sites->count > UINT32_MAX / 4 ||
        !STEP_MAKE_ROOM(sites->items, sites->capacity, sites->count + 1) ||
        !step_index_add(&sites->index, hash, number))
        return 0;
    sites->items[sites->count] = *site;
    sites->items[sites->count++].depth = sites->items[site->parent].depth + 1;
    return number;
}

/* Collects the frames from `frame` outwards up to the first whose site is known, and sets
 * `*known` to that site; 0 if it reached the root. */
static bool gather_frames(struct heap_sites *sites, uint32_t frame, uint32_t *known, size_t *count)
{
    *count = 0;
    for (*known = 0; frame != 0; frame = trace_frame_of(sites->names, frame)->parent) {
        const uint32_t *site = id_table_find(&sites->frames, frame);
        if (site != NULL && (*known = *site) != 0)
            break;
        if (!STEP_MAKE_ROOM(sites->chain, sites->chain_capacity, *count + 1))
            return false;
        sites->chain[(*count)++] = frame;
    }
    return true;
}

/* Walks outwards to a known frame, then adds sites inwards: a site needs its parent's number.  Each
 * frame is walked once in the life of the table. */
uint32_t heap_sites_of_frame_slowly(struct heap_sites *sites, uint32_t frame)
{
    uint32_t site;
    size_t count;
    if (!gather_frames(sites, frame, &site, &count))
        return 0;
    while (count-- > 0) {
        const struct trace_frame *named = trace_frame_of(sites->names, sites->chain[count]);
        uint32_t *known = id_table_get(&sites->frames, sites->chain[count]);
        site = heap_sites_put(
            sites, &(struct heap_site){site, named->method_id, named->line, named->bytecode, 0});
        if (known == NULL || site == 0)
            return 0;
        *known = site;
    }
    return site;
}

uint32_t heap_sites_put_place(struct heap_sites *places, const struct heap_site *site)
{
    struct heap_site place = *site;
    place.parent = 0;
    return heap_sites_put(places, &place);
}

struct frame_place heap_site_place(const struct heap_sites *sites, const struct heap_site *site)
{
    return trace_place(sites->names, site->method_id, site->line, site->bytecode);
}

size_t heap_site_print(const struct heap_sites *sites, uint32_t site, char *out, size_t out_size)
{
    const struct heap_site *item = &sites->items[site];
    const struct trace_method *method = trace_method_of(sites->names, item->method_id);
    struct step_bytes class_name = {NULL, 0};
    if (site == 0)
        return frame_text(class_name, step_text("(no stack)"), heap_site_place(sites, item), out,
                          out_size);
    if (method->class_id != 0)
        class_name = trace_class_of(sites->names, method->class_id)->name;
    return frame_text(class_name, method->name, heap_site_place(sites, item), out, out_size);
}

static struct step_bytes heap_sites_frame_of(const void *frames, uint64_t *frame,
                                             char room[FRAME_TEXT])
{
    const struct heap_sites *sites = frames;
    size_t length = heap_site_print(sites, (uint32_t) *frame, room, FRAME_TEXT);
    *frame = sites->items[*frame].parent;
    return (struct step_bytes){(const uint8_t *) room, length};
}

struct stack_text heap_site_stack(const struct heap_sites *sites, uint32_t site, uint64_t depth)
{
    return (struct stack_text){heap_sites_frame_of, sites, site, depth};
}

bool profile_function_name(const struct trace_names *names, uint32_t method_id,
                           struct step_buffer *out)
{
    const struct trace_method *method = trace_method_of(names, method_id);
    struct step_bytes class_name = trace_class_of(names, method->class_id)->name;
    out->length = 0;
    if (method->class_id != 0 && (!step_buffer_append(out, class_name.data, class_name.length) ||
                                  !step_buffer_append(out, ".", 1)))
        return false;
    return step_buffer_append(out, method->name.data, method->name.length);
}

bool profile_place_path(const struct trace_names *names, uint32_t method_id,
                        const struct frame_place *place, char path[HEAP_SITE_TEXT])
{
    uint32_t class_id = trace_method_of(names, method_id)->class_id;
    const struct frame_place of_class = {.file = trace_class_of(names, class_id)->file};
    char path_of_class[HEAP_SITE_TEXT];
    trace_source_path(names, class_id, place, path, HEAP_SITE_TEXT);
    trace_source_path(names, class_id, &of_class, path_of_class, sizeof path_of_class);
    return strcmp(path, path_of_class) != 0;
}
