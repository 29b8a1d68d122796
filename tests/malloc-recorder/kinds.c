/* SPDX-License-Identifier: Apache-2.0 */
/* Each way to get a block, ROUNDS times, and to give it back: C's, C++'s (called by their names),
 * and where the allocator is jemalloc or mimalloc, theirs, with heaps of the program's own. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 50

void *_Znwm(size_t);
void *_Znam(size_t);
void *_ZnwmRKSt9nothrow_t(size_t, const void *);
void *_ZnwmSt11align_val_t(size_t, size_t);
void _ZdlPv(void *);
void _ZdaPv(void *);
void _ZdlPvm(void *, size_t);
void _ZdlPvSt11align_val_t(void *, size_t);
extern const char _ZSt7nothrow;

extern void *mallocx(size_t, int) __attribute__((weak));
extern void *rallocx(void *, size_t, int) __attribute__((weak));
extern void dallocx(void *, int) __attribute__((weak));
extern void sdallocx(void *, size_t, int) __attribute__((weak));
extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));
extern void *mi_heap_new(void) __attribute__((weak));
extern void mi_heap_destroy(void *) __attribute__((weak));
extern void *mi_heap_malloc(void *, size_t) __attribute__((weak));
extern void *mi_heap_calloc(void *, size_t, size_t) __attribute__((weak));
extern void mi_free(void *) __attribute__((weak));

static void c_and_cxx(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        void *block = NULL;
        free(malloc(1001));
        free(calloc(3, 1002));
        free(aligned_alloc(64, 1024));
        if (posix_memalign(&block, 128, 1003) == 0)
            free(block);
        free(memalign(32, 1004));
        _ZdlPv(_Znwm(1005));
        _ZdaPv(_Znam(1006));
        _ZdlPvm(_Znwm(1007), 1007);
        _ZdlPv(_ZnwmRKSt9nothrow_t(1008, &_ZSt7nothrow));
        _ZdlPvSt11align_val_t(_ZnwmSt11align_val_t(1009, 256), 256);
    }
}

/* MALLOCX_ARENA and MALLOCX_TCACHE_NONE, as jemalloc's header has them; the last is destroyed with
 * what lives in it. */
static void arenas(void)
{
    unsigned arena;
    size_t size = sizeof arena;
    char destroy[40];
    mallctl("arenas.create", &arena, &size, NULL, 0);
    int flags = (int) (arena + 1) << 20 | 1 << 8;
    for (int i = 0; i < ROUNDS; i++) {
        void *block = rallocx(mallocx(2001, flags), 9001, flags);
        if (i % 3 == 0)
            free(block);
        else if (i % 3 == 1)
            sdallocx(block, 9001, 1 << 8);
        dallocx(mallocx(2002, 6), 0);
    }
    snprintf(destroy, sizeof destroy, "arena.%u.destroy", arena);
    mallctl(destroy, NULL, NULL, NULL, 0);
}

static void mi_heaps(void)
{
    void *heap = mi_heap_new();
    for (int i = 0; i < ROUNDS; i++) {
        mi_free(mi_heap_malloc(heap, 2001));
        free(mi_heap_calloc(heap, 2, 2002));
        mi_heap_malloc(heap, 9001);
    }
    mi_heap_destroy(heap);
}

/* One after the other, at whatever address; a block of each outlives the next one's making. */
static void many_heaps(int count)
{
    void *heap = mi_heap_new();
    for (int i = 0; i < count; i++) {
        void *next = mi_heap_new();
        mi_heap_malloc(heap, 2001);
        mi_free(mi_heap_malloc(next, 2002));
        mi_heap_destroy(heap);
        heap = next;
    }
    mi_heap_destroy(heap);
}

/* A heap that the child of a fork has, too, and ends. */
static int forked_heap(void)
{
    void *heap = mi_heap_new(), *block = mi_heap_malloc(heap, 2001);
    mi_heap_malloc(heap, 2002);
    pid_t child = fork();
    mi_free(block);
    mi_heap_malloc(heap, 2003);
    mi_heap_destroy(heap);
    return child != 0 && waitpid(child, NULL, 0) != child;
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "fork") == 0)
        return forked_heap();
    if (count > 1 && atoi(words[1]) > 0) {
        many_heaps(atoi(words[1]));
        return 0;
    }
    if (count > 1) {
        void *library = dlopen(words[1], RTLD_NOW | RTLD_DEEPBIND);
        void (*work)(void) = library != NULL ? (void (*)(void)) dlsym(library, "work") : NULL;
        if (work == NULL)
            return 1;
        work();
        return dlclose(library);
    }
    if (mallocx == NULL && mi_heap_new == NULL)
        printf("plain\n");
    c_and_cxx();
    if (mallocx != NULL)
        arenas();
    if (mi_heap_new != NULL)
        mi_heaps();
    return 0;
}
