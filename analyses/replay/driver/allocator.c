/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the functions of the preloaded allocator, with heaps if it supports them, or of a dummy
 * allocator. */
#include "analyses/replay/driver/driver_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static char empty_block[64];

static void *empty_malloc(size_t size)
{
    (void) size;
    return empty_block;
}

static void *empty_realloc(void *block, size_t size)
{
    (void) size;
    return block != NULL ? block : empty_block;
}

static void empty_free(void *block)
{
    (void) block;
}

static void *empty_create(void)
{
    return empty_block;
}

static void *empty_heap_malloc(void *heap, size_t size)
{
    (void) size;
    return heap;
}

static const struct allocator empty_allocator = {empty_malloc, empty_realloc, empty_free,
                                                 empty_create, empty_free,    empty_heap_malloc};

/* mimalloc supports heaps directly; jemalloc has arenas. */
static int (*je_mallctl)(const char *, void *, size_t *, void *, size_t);
static void *(*je_mallocx)(size_t, int);

static void *arena_create(void)
{
    unsigned arena = 0;
    size_t length = sizeof arena;
    if (je_mallctl("arenas.create", &arena, &length, NULL, 0) != 0)
        return NULL;
    return (void *) ((uintptr_t) arena + 1);
}

static void arena_destroy(void *heap)
{
    char name[64];
    snprintf(name, sizeof name, "arena.%u.destroy", (unsigned) ((uintptr_t) heap - 1));
    je_mallctl(name, NULL, NULL, NULL, 0);
}

/* MALLOCX_ARENA and MALLOCX_TCACHE_NONE, as jemalloc's header defines them. */
static void *arena_malloc(void *heap, size_t size)
{
    int arena = (int) (((uintptr_t) heap - 1 + 1) << 20);
    return je_mallocx(size != 0 ? size : 1, arena | 1 << 8);
}

static void find_heaps(struct allocator *allocator)
{
    *(void **) &allocator->heap_create = dlsym(RTLD_DEFAULT, "mi_heap_new");
    *(void **) &allocator->heap_destroy = dlsym(RTLD_DEFAULT, "mi_heap_destroy");
    *(void **) &allocator->heap_malloc = dlsym(RTLD_DEFAULT, "mi_heap_malloc");
    if (allocator->heap_create != NULL && allocator->heap_destroy != NULL &&
        allocator->heap_malloc != NULL)
        return;
    allocator->heap_create = NULL;
    *(void **) &je_mallctl = dlsym(RTLD_DEFAULT, "mallctl");
    *(void **) &je_mallocx = dlsym(RTLD_DEFAULT, "mallocx");
    if (je_mallctl == NULL || je_mallocx == NULL)
        return;
    allocator->heap_create = arena_create;
    allocator->heap_destroy = arena_destroy;
    allocator->heap_malloc = arena_malloc;
}

void allocator_choose(struct replay_control *control, struct allocator *allocator)
{
    Dl_info info;
    if (control->is_empty) {
        *allocator = empty_allocator;
        snprintf(control->allocator, sizeof control->allocator, "none");
    } else {
        *allocator = (struct allocator){malloc, realloc, free, NULL, NULL, NULL};
        find_heaps(allocator);
        void *(*function)(size_t) = malloc;
        if (dladdr(*(void **) &function, &info) != 0 && info.dli_fname != NULL)
            snprintf(control->allocator, sizeof control->allocator, "%s", info.dli_fname);
    }
    control->has_heaps = allocator->heap_create != NULL;
}
