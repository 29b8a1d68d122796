/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_requests THREADS REQUESTS: threads that serve requests, each in a heap of its own where the
 * allocator has heaps.  A request reads words of a text that is made from a seed, counts them in a
 * table, joins the frequent ones, and puts some into a cache that all threads share and that lives
 * in the common heap.
 *
 *   cc heap_requests.c -pthread                            malloc alone
 *   cc -DHEAPS=1 heap_requests.c -pthread -ljemalloc       arenas of jemalloc, one a thread
 *   cc -DHEAPS=2 heap_requests.c -pthread -lmimalloc       heaps of mimalloc, one a request
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef HEAPS
#define HEAPS 0
#endif
#if HEAPS == 1
#include <jemalloc/jemalloc.h>
#elif HEAPS == 2
#include <mimalloc.h>
#endif

enum { BUCKETS = 128, WORDS = 400, VOCABULARY = 3000, CACHE = 4096, THREADS_MOST = 64 };

struct word {
    struct word *next;
    char *text;
    unsigned count;
};

struct heap {
#if HEAPS == 1
    int flags;
#elif HEAPS == 2
    mi_heap_t *heap;
#else
    int unused;
#endif
};

static unsigned requests;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static char *cache[CACHE];

/* ---- heaps ---- */

#if HEAPS == 1
static void heap_make(struct heap *heap)
{
    unsigned arena = 0;
    size_t size = sizeof arena;
    mallctl("arenas.create", &arena, &size, NULL, 0);
    heap->flags = MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE;
}

static void *heap_take(struct heap *heap, size_t size)
{
    return mallocx(size, heap->flags);
}

static void heap_give(struct heap *heap, void *block)
{
    if (block != NULL)
        dallocx(block, heap->flags);
}

static void request_begin(struct heap *heap)
{
    (void) heap;
}

static void request_end(struct heap *heap)
{
    (void) heap;
}
#elif HEAPS == 2
static void heap_make(struct heap *heap)
{
    heap->heap = NULL;
}

static void *heap_take(struct heap *heap, size_t size)
{
    return mi_heap_malloc(heap->heap, size);
}

static void heap_give(struct heap *heap, void *block)
{
    (void) heap;
    mi_free(block);
}

static void request_begin(struct heap *heap)
{
    heap->heap = mi_heap_new();
}

static void request_end(struct heap *heap)
{
    mi_heap_destroy(heap->heap);
}
#else
static void heap_make(struct heap *heap)
{
    heap->unused = 0;
}

static void *heap_take(struct heap *heap, size_t size)
{
    (void) heap;
    return malloc(size);
}

static void heap_give(struct heap *heap, void *block)
{
    (void) heap;
    free(block);
}

static void request_begin(struct heap *heap)
{
    (void) heap;
}

static void request_end(struct heap *heap)
{
    (void) heap;
}
#endif

/* ---- a request ---- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) (*state >> 33);
}

/* Few words are frequent; each has a length of its own. */
static size_t make_word(uint64_t *state, char *out)
{
    double share = next_random(state) / 2147483648.0;
    uint32_t number = (uint32_t) (share * share * share * VOCABULARY);
    size_t length = 2 + number * 2654435761u % 23;
    for (size_t i = 0; i < length; i++)
        out[i] = (char) ('a' + (number * 31 + i * 7) % 26);
    out[length] = '\0';
    return length;
}

static void count_word(struct heap *heap, struct word **table, const char *text, size_t length)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char) text[i];
    struct word **place = &table[hash % BUCKETS];
    while (*place != NULL && strcmp((*place)->text, text) != 0)
        place = &(*place)->next;
    if (*place == NULL) {
        *place = heap_take(heap, sizeof **place);
        **place = (struct word){.text = heap_take(heap, length + 1)};
        memcpy((*place)->text, text, length + 1);
    }
    (*place)->count++;
}

/* Joined in a buffer that grows. */
static char *join(struct heap *heap, struct word *const *table)
{
    size_t used = 0, capacity = 64;
    char *out = heap_take(heap, capacity);
    for (int i = 0; i < BUCKETS; i++)
        for (const struct word *word = table[i]; word != NULL; word = word->next) {
            size_t length = strlen(word->text);
            if (word->count < 3)
                continue;
            if (used + length + 2 > capacity) {
                char *grown = heap_take(heap, capacity * 2 + length);
                memcpy(grown, out, used);
                heap_give(heap, out);
                out = grown;
                capacity = capacity * 2 + length;
            }
            memcpy(out + used, word->text, length);
            used += length;
            out[used++] = ' ';
        }
    out[used] = '\0';
    return out;
}

static void remember(const char *text, uint32_t at)
{
    char *copy = strdup(text);
    pthread_mutex_lock(&cache_lock);
    char *old = cache[at % CACHE];
    cache[at % CACHE] = copy;
    pthread_mutex_unlock(&cache_lock);
    free(old);
}

static void serve(struct heap *heap, uint64_t *state)
{
    char text[64];
    request_begin(heap);
    struct word **table = heap_take(heap, BUCKETS * sizeof *table);
    memset(table, 0, BUCKETS * sizeof *table);
    uint32_t words = WORDS / 4 + next_random(state) % WORDS;
    for (uint32_t i = 0; i < words; i++)
        count_word(heap, table, text, make_word(state, text));
    char *joined = join(heap, table);
    if (next_random(state) % 4 == 0)
        remember(joined, next_random(state));
    heap_give(heap, joined);
    for (int i = 0; i < BUCKETS; i++)
        for (struct word *word = table[i], *next; word != NULL && HEAPS != 2; word = next) {
            next = word->next;
            heap_give(heap, word->text);
            heap_give(heap, word);
        }
    if (HEAPS != 2)
        heap_give(heap, table);
    request_end(heap);
}

static void *run(void *number)
{
    uint64_t state = (uint64_t) (uintptr_t) number * 7919 + 20000509;
    struct heap heap;
    heap_make(&heap);
    for (unsigned i = 0; i < requests; i++)
        serve(&heap, &state);
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS_MOST];
    unsigned thread_count = count > 1 ? (unsigned) atoi(words[1]) : 4;
    requests = count > 2 ? (unsigned) atoi(words[2]) : 1000;
    if (thread_count > THREADS_MOST)
        return 2;
    for (uintptr_t i = 0; i < thread_count; i++)
        pthread_create(&threads[i], NULL, run, (void *) i);
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CACHE; i++)
        free(cache[i]);
    return 0;
}
