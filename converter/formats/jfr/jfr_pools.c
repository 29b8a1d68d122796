/* SPDX-License-Identifier: Apache-2.0 */
/* Puts classes, methods, stacks and threads into the pools of a chunk. */
#include "converter/formats/jfr/jfr_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A symbol's number is made of its owner's and of what it is of the owner. */
enum symbol { CLASS_NAME, PACKAGE_NAME, LOADER_NAME, METHOD_NAME, DESCRIPTOR, SYMBOL_KINDS };

/* An int of the kind that says -1 if it is not known. */
#define UNKNOWN_INT UINT32_MAX

/* Whether a frame was interpreted or compiled is not known. */
enum frame_type { FRAME_UNKNOWN = 1 };

void jfr_pools_init(struct jfr_pools *pools, const struct heap_sites *sites)
{
    *pools = (struct jfr_pools){.sites = sites};
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        id_table_init(&pools->known[i], sizeof(uint32_t));
    jfr_pools_begin(pools);
}

void jfr_pools_reset(struct jfr_pools *pools)
{
    for (size_t i = 0; i < JFR_POOL_COUNT; i++) {
        bytes_reset(&pools->pools[i]);
        id_table_reset(&pools->known[i]);
    }
}

/* Begins a constant, and returns where its fields go. */
static struct byte_output *begin(struct jfr_pools *pools, enum jfr_type type, uint64_t number)
{
    struct byte_output *pool = &pools->pools[type - JFR_FIRST_POOL];
    pools->counts[type - JFR_FIRST_POOL]++;
    jfr_put_number(pool, number);
    return pool;
}

void jfr_pools_begin(struct jfr_pools *pools)
{
    pools->chunk++;
    for (size_t i = 0; i < JFR_POOL_COUNT; i++) {
        bytes_clear(&pools->pools[i]);
        pools->counts[i] = 0;
    }
    jfr_put_optional_text(begin(pools, JFR_FRAME_TYPE, FRAME_UNKNOWN), "Unknown");
    jfr_put_optional_text(begin(pools, JFR_GC_WHEN, JFR_BEFORE_GC), "Before GC");
    jfr_put_optional_text(begin(pools, JFR_GC_WHEN, JFR_AFTER_GC), "After GC");
}

size_t jfr_pools_size(const struct jfr_pools *pools)
{
    size_t size = 0;
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        size += pools->pools[i].bytes.length;
    return size;
}

void jfr_pools_put(struct jfr_pools *pools, struct byte_output *out)
{
    struct byte_output body = {.failed = pools->failed};
    unsigned used = 0;
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        used += pools->counts[i] > 0;
    jfr_put_number(&body, JFR_CHECKPOINT_EVENT);
    jfr_put_number(&body, 0);      /* start */
    jfr_put_number(&body, 0);      /* duration */
    jfr_put_number(&body, 0);      /* there is no other checkpoint before it */
    bytes_put_little(&body, 0, 1); /* of no special kind */
    jfr_put_number(&body, used);
    for (size_t i = 0; i < JFR_POOL_COUNT; i++)
        if (pools->counts[i] > 0) {
            jfr_put_number(&body, JFR_FIRST_POOL + i);
            jfr_put_number(&body, pools->counts[i]);
            bytes_put_part(&body, &pools->pools[i]);
        }
    jfr_put_event(out, &body);
    bytes_reset(&body);
}

/* Returns whether the chunk has it, and notes that it now does. */
static bool has(struct jfr_pools *pools, enum jfr_type type, uint32_t id)
{
    uint32_t *chunk = id_table_get(&pools->known[type - JFR_FIRST_POOL], id);
    if (chunk == NULL) {
        pools->failed = true;
        return true;
    }
    bool known = *chunk == pools->chunk;
    *chunk = pools->chunk;
    return known;
}

static uint64_t put_symbol(struct jfr_pools *pools, enum symbol what, uint64_t owner,
                           struct step_bytes text)
{
    uint64_t number = 1 + owner * SYMBOL_KINDS + what;
    jfr_put_text(begin(pools, JFR_SYMBOL, number), text);
    return number;
}

/* Returns the byte after the type that begins at `at`; NULL: it is no type of a class file. */
static const uint8_t *after_type(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at == '[')
        at++;
    if (at == end || strchr("BCDFIJSZL", *at) == NULL || *at == '\0')
        return NULL;
    if (*at == 'L')
        at = memchr(at, ';', (size_t) (end - at));
    return at != NULL ? at + 1 : NULL;
}

/* Readers take descriptors apart, and fail at those that are none. */
static bool is_descriptor(struct step_bytes text)
{
    if (text.length < 3 || text.data[0] != '(')
        return false;
    const uint8_t *at = text.data + 1, *end = text.data + text.length;
    while (at != NULL && at < end && *at != ')')
        at = after_type(at, end);
    if (at == NULL || end - at < 2)
        return false;
    return (at[1] == 'V' && end - at == 2) || after_type(at + 1, end) == end;
}

static uint64_t loader(struct jfr_pools *pools, uint64_t number)
{
    char name[32];
    if (number >= UINT32_MAX) /* no agent writes it */
        return 0;
    if (has(pools, JFR_CLASS_LOADER, (uint32_t) number))
        return number + 1;
    snprintf(name, sizeof name, number == 0 ? "bootstrap" : "loader %" PRIu64, number);
    uint64_t symbol = put_symbol(pools, LOADER_NAME, number, step_text(name));
    struct byte_output *out = begin(pools, JFR_CLASS_LOADER, number + 1);
    jfr_put_number(out, 0); /* its class is not known */
    jfr_put_number(out, symbol);
    return number + 1;
}

/* A class in a package. */
static uint64_t package(struct jfr_pools *pools, uint32_t class_id, struct step_bytes name)
{
    const uint8_t *slash =
        name.length > 0 && name.data[0] != '[' ? memrchr(name.data, '/', name.length) : NULL;
    if (slash == NULL)
        return 0;
    const struct step_bytes text = {name.data, (size_t) (slash - name.data)};
    uint64_t symbol = put_symbol(pools, PACKAGE_NAME, class_id, text);
    jfr_put_number(begin(pools, JFR_PACKAGE, (uint64_t) class_id + 1), symbol);
    return (uint64_t) class_id + 1;
}

/* The name of an array must be a type, since readers take it apart: else it begins with a space. */
static uint64_t jfr_pools_class_name(struct jfr_pools *pools, uint32_t class_id,
                                     struct step_bytes name)
{
    struct step_buffer spaced = {NULL, 0, 0};
    if (name.length == 0 || name.data[0] != '[' ||
        after_type(name.data, name.data + name.length) == name.data + name.length)
        return put_symbol(pools, CLASS_NAME, class_id, name);
    if (!step_buffer_append(&spaced, " ", 1) ||
        !step_buffer_append(&spaced, name.data, name.length))
        pools->failed = true;
    uint64_t symbol =
        put_symbol(pools, CLASS_NAME, class_id, (struct step_bytes){spaced.data, spaced.length});
    step_buffer_reset(&spaced);
    return symbol;
}

uint64_t jfr_class(struct jfr_pools *pools, uint32_t class_id)
{
    uint64_t number = (uint64_t) class_id + 1;
    if (has(pools, JFR_CLASS, class_id))
        return number;
    const struct trace_class *class = trace_class_of(pools->sites->names, class_id);
    uint64_t loaded_by = loader(pools, class->loader);
    uint64_t name = jfr_pools_class_name(pools, class_id, class->name);
    uint64_t in_package = package(pools, class_id, class->name);
    struct byte_output *out = begin(pools, JFR_CLASS, number);
    jfr_put_number(out, loaded_by);
    jfr_put_number(out, name);
    jfr_put_number(out, in_package);
    jfr_put_number(out, UNKNOWN_INT); /* modifiers */
    return number;
}

uint64_t jfr_method(struct jfr_pools *pools, uint32_t method_id)
{
    uint64_t number = (uint64_t) method_id + 1;
    if (has(pools, JFR_METHOD, method_id))
        return number;
    const struct trace_method *method = trace_method_of(pools->sites->names, method_id);
    static const struct step_bytes no_descriptor = {(const uint8_t *) "()", 2};
    uint64_t class = jfr_class(pools, method->class_id);
    uint64_t name = put_symbol(pools, METHOD_NAME, method_id, method->name);
    uint64_t descriptor =
        put_symbol(pools, DESCRIPTOR, method_id,
                   is_descriptor(method->descriptor) ? method->descriptor : no_descriptor);
    struct byte_output *out = begin(pools, JFR_METHOD, number);
    jfr_put_number(out, class);
    jfr_put_number(out, name);
    jfr_put_number(out, descriptor);
    jfr_put_number(out, method->modifiers & 0xffff);
    bytes_put_little(out, 0, 1);
    return number;
}

/* A line or bytecode index that is not known is -1. */
static void jfr_pools_put_place(struct byte_output *out, uint64_t place, bool known)
{
    jfr_put_number(out, known && place <= INT32_MAX ? place : UNKNOWN_INT);
}

/* As many innermost frames as the JVM's own recordings have at most. */
enum { FRAMES_MOST = 2048 };

uint64_t jfr_stack(struct jfr_pools *pools, uint32_t site)
{
    if (site == 0 || has(pools, JFR_STACK_TRACE, site))
        return site;
    const struct heap_site *sites = pools->sites->items;
    size_t depth = 0;
    uint32_t at = site;
    for (; at != 0 && depth < FRAMES_MOST; at = sites[at].parent, depth++)
        jfr_method(pools, sites[at].method_id);
    struct byte_output *out = begin(pools, JFR_STACK_TRACE, site);
    bytes_put_little(out, at != 0, 1); /* it is truncated */
    jfr_put_number(out, depth);
    for (at = site; depth-- > 0; at = sites[at].parent) {
        jfr_put_number(out, (uint64_t) sites[at].method_id + 1);
        jfr_pools_put_place(out, sites[at].line, sites[at].line != 0);
        jfr_pools_put_place(out, (uint64_t) sites[at].bytecode - 1, sites[at].bytecode != 0);
        jfr_put_number(out, FRAME_UNKNOWN);
    }
    return site;
}

uint64_t jfr_thread(struct jfr_pools *pools, uint32_t thread_id)
{
    if (thread_id == 0 || has(pools, JFR_THREAD, thread_id))
        return thread_id;
    const struct trace_thread *thread = trace_thread_of(pools->sites->names, thread_id);
    struct byte_output *out = begin(pools, JFR_THREAD, thread_id);
    jfr_put_text(out, thread->name);
    jfr_put_number(out, thread->number);
    jfr_put_text(out, thread->name);
    jfr_put_number(out, thread->number);
    bytes_put_little(out, (thread->flags & TRACE_THREAD_VIRTUAL) != 0, 1);
    return thread_id;
}
