/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that ends the program when it is handed what it did not give, or gave back already;
 * how often it was called stands in the file that COUNTS names.  malloc() of SLOW_SIZE waits. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LIVE 0x6c69766562656e64u
#define DEAD 0x64656164656e6421u
#define SLOW_SIZE 60606u
#define SLOW_US 60000u
#define ARENA (UINT64_C(1) << 34)

struct head {
    uint64_t state, size;
};

static struct {
    uint64_t mallocs, frees, reallocs, moved, failed, callocs, aligned;
} none, *counts = &none;
static char *arena, *next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void begin(void)
{
    const char *path = getenv("COUNTS");
    int file = path != NULL ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (file >= 0 && ftruncate(file, 4096) == 0) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        counts = page != MAP_FAILED ? page : counts;
    }
    arena = next = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void *take_aligned(size_t size, size_t alignment)
{
    pthread_mutex_lock(&lock);
    if (arena == NULL)
        begin();
    void *block = NULL;
    if (size < ARENA / 2 && next + size + 2 * alignment + 48 < arena + ARENA) {
        uintptr_t at = (uintptr_t) next + sizeof(struct head);
        next = (char *) ((at + alignment - 1) / alignment * alignment - sizeof(struct head));
        struct head *head = (struct head *) next;
        *head = (struct head){LIVE, size};
        next += (sizeof *head + size + 15) / 16 * 16;
        block = head + 1;
    } else {
        counts->failed++;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void *take(size_t size)
{
    return take_aligned(size, 16);
}

static void give_back(void *block)
{
    struct head *head = (struct head *) block - 1;
    pthread_mutex_lock(&lock);
    if ((char *) block < arena || (char *) block >= next || head->state != LIVE)
        abort();
    head->state = DEAD;
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t size)
{
    void *block = take(size);
    if (size == SLOW_SIZE)
        usleep(SLOW_US);
    __sync_fetch_and_add(&counts->mallocs, 1);
    return block;
}

void *calloc(size_t count, size_t size)
{
    __sync_fetch_and_add(&counts->callocs, 1);
    return take(count * size); /* fresh memory is zero */
}

void free(void *block)
{
    if (block == NULL)
        return;
    give_back(block);
    __sync_fetch_and_add(&counts->frees, 1);
}

void *realloc(void *block, size_t size)
{
    __sync_fetch_and_add(&counts->reallocs, 1);
    void *moved = size != 0 ? take(size) : NULL;
    if (block != NULL && moved != NULL) {
        size_t old = ((struct head *) block - 1)->size;
        memcpy(moved, block, old < size ? old : size);
    }
    if (block != NULL && (moved != NULL || size == 0))
        give_back(block);
    return moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    __sync_fetch_and_add(&counts->mallocs, 1);
    __sync_fetch_and_add(&counts->aligned, 1);
    return take_aligned(size, alignment < 16 ? 16 : alignment);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = aligned_alloc(alignment, size);
    return *out != NULL ? 0 : ENOMEM;
}
