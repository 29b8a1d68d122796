/* SPDX-License-Identifier: Apache-2.0 */
/* Finds code by address. The cache has heaps of blocks. For each segment of a heap, a byte says how
 * far back its block begins, possibly in several steps. A block holds a blob: a method's code, or a
 * stub. */
#include "agent/hotspot/code_cache.h"

#include <string.h>

#define HEAPS_MOST 8
#define FREE_SEGMENT 0xffu

static struct {
    uintptr_t heaps[HEAPS_MOST];
    size_t count;
} cache;

bool code_cache_prepare(const struct vm_structs *vm)
{
    uintptr_t list = *vm->heaps;
    if (list == 0)
        return false;
    uint32_t count = vm_half(list, vm->array_length);
    uintptr_t data = vm_word(list, vm->array_data);
    if (count == 0 || count > HEAPS_MOST || data == 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        cache.heaps[i] = vm_word(data, i * sizeof(uintptr_t));
    cache.count = count;
    return true;
}

/* Returns the heap that contains the address, or 0. */
static uintptr_t find_heap(const struct vm_structs *vm, uintptr_t pc)
{
    for (size_t i = 0; i < cache.count; i++) {
        uintptr_t memory = cache.heaps[i] + vm->heap_memory;
        if (pc >= vm_word(memory, vm->space_low) && pc < vm_word(memory, vm->space_high))
            return cache.heaps[i];
    }
    return 0;
}

/* Returns the blob that contains the address, or 0.
 *
 * A byte of the segment map says how many segments to go back; large blocks need several steps.
 * Each step must stay within the heap, so a map that is misread, or that changes meanwhile, ends
 * the search and not the process. The block of an address on the calling thread's own stack cannot
 * be freed: the JVM keeps code while a frame returns to it. */
static uintptr_t find_blob(const struct vm_structs *vm, uintptr_t pc)
{
    uintptr_t heap = find_heap(vm, pc);
    if (heap == 0)
        return 0;
    uintptr_t low = vm_word(heap + vm->heap_memory, vm->space_low);
    uintptr_t map = vm_word(heap + vm->heap_segments, vm->space_low);
    uint32_t shift = vm_half(heap, vm->heap_log2_segment);
    if (shift > 16)
        return 0;
    size_t segment = (pc - low) >> shift;
    uint8_t back;
    while ((back = *(const volatile uint8_t *) (map + segment)) != 0) {
        if (back == FREE_SEGMENT || back > segment)
            return 0;
        segment -= back;
    }
    uintptr_t block = low + (segment << shift);
    bool used = *(const volatile uint8_t *) (block + vm->block_used) != 0;
    return used ? block + vm->block_size : 0;
}

/* Stubs that compiled code calls to allocate an object, where engine=jvmti gets its event. The
 * names are those of JDK 17, 25 and 27. */
static bool is_stub_with_frame(const char *name)
{
    static const char *const starts[] = {"_new_", "_multianewarray", "C1 Runtime ", "C2 Runtime "};
    static const char *const ends[] = {" Runtime1 stub", " (C1 runtime)", " (C2 runtime)"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length > strlen(ends[i]) && strcmp(name + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static bool is_native(const struct vm_structs *vm, uintptr_t blob)
{
    return strcmp((const char *) vm_word(blob, vm->blob_name), "native nmethod") == 0;
}

static size_t methods_at(const struct vm_structs *vm, uintptr_t nmethod, uintptr_t pc,
                         struct code_frame methods[FRAMES_INLINED_MOST])
{
    if (is_native(vm, nmethod)) {
        methods[0] = (struct code_frame){vm_word(nmethod, vm->nmethod_method), 0};
        return 1;
    }
    /* behind it is code to which the JVM lets frames return that it wants interpreted */
    return pc < nmethod + vm_half(nmethod, vm->nmethod_stub)
               ? code_scopes_read(vm, nmethod, pc, methods)
               : 0;
}

/* Describes a method's code. Its compile id changes when its memory is reused, and the block is
 * marked unused when it is freed. Both are checked by code_place_holds() at each later use; so an
 * entry that was right once cannot be taken for other code at the same address. */
static bool method_place(const struct vm_structs *vm, uintptr_t nmethod, struct code_place *place)
{
    struct code_frame methods[FRAMES_INLINED_MOST];
    place->check = nmethod + vm->nmethod_compile_id;
    place->id = vm_half(place->check, 0);
    place->used = nmethod - vm->block_size + vm->block_used;
    size_t count = methods_at(vm, nmethod, place->pc, methods);
    for (size_t i = 0; i < count; i++) {
        struct frame_hash frame = frame_hash_of(vm, methods[i].method, methods[i].index);
        frame_hash_join(&place->frames, &frame);
    }
    return count != 0;
}

size_t code_place_methods(const struct vm_structs *vm, const struct code_place *place,
                          struct code_frame methods[FRAMES_INLINED_MOST])
{
    return place->frames.count != 0 && code_place_holds(place, place->pc)
               ? methods_at(vm, place->check - vm->nmethod_compile_id, place->pc, methods)
               : 0;
}

struct code_place code_cache_find(const struct vm_structs *vm, uintptr_t pc)
{
    /* stubs are never freed */
    static const uint32_t always = 1;
    struct code_place place = {
        .pc = pc, .check = (uintptr_t) &always, .used = (uintptr_t) &always, .id = always};
    uintptr_t blob = find_blob(vm, pc);
    if (blob == 0 || vm_word(blob, vm->blob_name) == 0)
        return place;
    const char *name = (const char *) vm_word(blob, vm->blob_name);
    uint32_t words = vm_half(blob, vm->blob_frame_words);
    bool known;
    if (is_native(vm, blob) || strcmp(name, "nmethod") == 0)
        known = method_place(vm, blob, &place);
    else
        known = is_stub_with_frame(name) && pc < blob + vm_half(blob, vm->blob_size);
    if (known && words >= 2 && words <= UINT16_MAX)
        place.frame_words = (uint16_t) words;
    else
        place.pc = 0; /* look it up again: this may become a method's */
    return place;
}
