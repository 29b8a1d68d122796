/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates 1000 blocks and returns 5; with OWN_MALLOC, from an allocator of its own; with an
 * argument, only a block of as many MiB, which it fills. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef OWN_MALLOC
#define HEAP ((size_t) 8 << 20)
static size_t used;
#ifdef MAPPED
static char *heap;

/* Its symbols are stripped, and its memory is the system's, as that of a static jemalloc. */
static void prepare(void)
{
    if (heap == NULL)
        heap = memset(mmap(NULL, HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                      1, HEAP);
}
#else
static _Alignas(16) char heap[HEAP];
#define prepare()
#endif

void *malloc(size_t size)
{
    prepare();
    size_t *block = (size_t *) (heap + used);
    used += (size + 31) / 16 * 16;
    if (used > HEAP)
        abort();
    *block = size;
    return block + 2;
}

void free(void *block)
{
    (void) block;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *block, size_t size)
{
    void *moved = malloc(size);
    if (block != NULL)
        memcpy(moved, block, size < ((size_t *) block)[-2] ? size : ((size_t *) block)[-2]);
    return moved;
}
#endif

int main(int count, char **words)
{
    static void *blocks[1000];
    if (count > 1) {
        size_t size = (size_t) atol(words[1]) << 20;
        void *block = malloc(size);
        return block != NULL && memset(block, 1, size) != NULL ? 0 : 6;
    }
    void *(*volatile allocate)(size_t) = malloc; /* by its address, as tables of functions do */
    for (int i = 0; i < 1000; i++)
        blocks[i] = allocate(1237);
    puts("done");
    return blocks[999] != NULL ? 5 : 6;
}
