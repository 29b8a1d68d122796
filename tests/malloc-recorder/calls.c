/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every function of the allocator, and writes what it did in the lines of .hatf.txt (without
 * time) to descriptor 3: from a constructor, main, a thread, a signal handler, an exit function and
 * a destructor. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A handler allocates here, which is what it is there for.
 * NOLINTBEGIN(bugprone-signal-handler) */
static void tell(const char *format, ...)
{
    char line[200];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (write(3, line, (size_t) length) != length)
        _exit(9);
}

static void *reported_alloc(void *block, size_t size)
{
    tell("alloc %llu %zu\n", (unsigned long long) (uintptr_t) block, size);
    return block;
}

static void reported_free(void *block)
{
    if (block != NULL)
        tell("free %llu\n", (unsigned long long) (uintptr_t) block);
    free(block);
}
/* NOLINTEND(bugprone-signal-handler) */

static void *reported_realloc(void *block, size_t size)
{
    unsigned long long before = (uintptr_t) block;
    void *moved = realloc(block, size);
    unsigned long long after = (uintptr_t) moved;
    if (before == 0)
        tell("realloc/alloc 0 %zu %llu\nalloc %llu %zu\n", size, after, after, size);
    else if (after == 0 && size == 0)
        tell("realloc/free %llu 0 0\nfree %llu\n", before, before);
    else if (after == before)
        tell("realloc/none %llu %zu %llu\n", before, size, after);
    else if (after != 0)
        tell("realloc/both %llu %zu %llu\nfree %llu\nalloc %llu %zu\n", before, size, after, before,
             after, size);
    return moved;
}

static void every_function(size_t size)
{
    void *out = NULL, *blocks[8];
    blocks[0] = reported_alloc(malloc(size), size);
    blocks[1] = reported_alloc(calloc(3, size), 3 * size);
    blocks[2] = reported_alloc(aligned_alloc(64, size / 64 * 64), size / 64 * 64);
    blocks[3] = reported_alloc(memalign(256, size), size);
    blocks[4] = reported_alloc(valloc(size), size);
    blocks[5] = reported_alloc(pvalloc(size), size);
    blocks[6] = posix_memalign(&out, 128, size) == 0 ? reported_alloc(out, size) : NULL;
    blocks[7] = reported_realloc(NULL, size);
    if ((uintptr_t) blocks[2] % 64 != 0 || (uintptr_t) blocks[6] % 128 != 0 ||
        malloc_usable_size(blocks[0]) < size)
        _exit(8);
    for (int i = 0; i < 8; i++)
        reported_free(blocks[i]);
    reported_free(NULL);
}

static void every_realloc(void)
{
    char *block = reported_realloc(NULL, 100);
    void *fence = reported_alloc(malloc(100), 100);
    block[99] = 'x';
    block = reported_realloc(block, 50);
    block = reported_realloc(block, 5000);
    if (realloc(block, PTRDIFF_MAX) != NULL || errno != ENOMEM)
        _exit(7);
    block = reported_realloc(block, 500000);
    block = reported_realloc(block, 5000000);
    block = reported_realloc(block, 0);
    reported_free(fence);
    if (reallocarray(NULL, SIZE_MAX / 2, 3) != NULL || malloc(PTRDIFF_MAX) != NULL)
        _exit(6);
}

static void *in_thread(void *unused)
{
    every_function(333);
    return unused;
}

static void handler(int number)
{
    reported_free(reported_alloc(malloc(4321), 4321)); // NOLINT(bugprone-signal-handler)
}

static void at_the_end(void)
{
    reported_free(reported_alloc(malloc(2222), 2222));
}

__attribute__((constructor)) static void before_main(void)
{
    reported_free(reported_alloc(malloc(1111), 1111));
}

__attribute__((destructor)) static void after_main(void)
{
    reported_free(reported_alloc(malloc(3333), 3333));
}

int main(void)
{
    pthread_t thread;
    atexit(at_the_end);
    every_function(1000);
    every_function(200000);
    every_realloc();
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    printf("done\n");
    return 5;
}
