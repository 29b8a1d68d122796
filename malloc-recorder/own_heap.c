/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's own heap: four size classes per octave, with free lists, in one reserved range of
 * addresses.  Callers have all signals blocked, so a thread cannot meet its own lock. */
#include "malloc-recorder/own_heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define RANGE_MOST (UINT64_C(1) << 30)
#define RANGE_LEAST (UINT64_C(1) << 20)
#define LIMITED_SHARE 16u
#define COMMIT_BYTES (UINT64_C(1) << 20)
#define GIVE_BACK_BYTES (UINT64_C(1) << 18)
#define PAGE UINT64_C(4096)
#define FIRST_CLASS_BITS 6u
#define CLASSES 160u

/* Header before each block. */
struct block_head {
    uint32_t class;
    uint32_t offset; /* of the block from the start of its space */
    uint64_t size;
};
_Static_assert(sizeof(struct block_head) == 16, "blocks stay aligned to 16");

struct free_space {
    struct free_space *next;
};

uintptr_t own_heap_start, own_heap_end;
static uintptr_t next_space, committed;
static struct free_space *free_spaces[CLASSES];
pthread_mutex_t own_heap_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the size of a space of the class: 64, 80, 96, 112, 128, 160, ... */
static uint64_t class_bytes(uint32_t class)
{
    uint32_t octave = class / 4, quarter = class % 4;
    return (UINT64_C(4) + quarter) << (octave + FIRST_CLASS_BITS - 2);
}

static uint32_t own_heap_class_of(uint64_t bytes)
{
    if (bytes <= UINT64_C(1) << FIRST_CLASS_BITS)
        return 0;
    uint32_t top = 63u - (uint32_t) __builtin_clzll(bytes - 1);
    uint32_t quarter = (uint32_t) ((bytes - 1) >> (top - 2)) & 3;
    return (top - FIRST_CLASS_BITS) * 4 + quarter + 1;
}

void *address_range_reserve(void *wanted, uint64_t most, uint64_t least, unsigned share,
                            uint64_t *bytes)
{
    struct rlimit limit;
    *bytes = most;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        while (*bytes > least && *bytes > limit.rlim_cur / share)
            *bytes /= 2;
    for (; *bytes >= least; *bytes /= 2) {
        void *base =
            mmap(wanted, *bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base != MAP_FAILED)
            return base;
    }
    return NULL;
}

static bool reserve_range(void)
{
    uint64_t bytes;
    void *base = address_range_reserve(NULL, RANGE_MOST, RANGE_LEAST, LIMITED_SHARE, &bytes);
    if (base == NULL)
        return false;
    next_space = committed = own_heap_start = (uintptr_t) base;
    own_heap_end = own_heap_start + bytes;
    return true;
}

static void *fresh_space(uint64_t bytes)
{
    if (own_heap_start == 0 && !reserve_range())
        return NULL;
    if (bytes > own_heap_end - next_space)
        return NULL;
    uintptr_t end = next_space + bytes;
    if (end > committed) {
        uint64_t more = (end - committed + COMMIT_BYTES - 1) / COMMIT_BYTES * COMMIT_BYTES;
        if (more > own_heap_end - committed)
            more = own_heap_end - committed;
        if (mprotect((void *) committed, more, PROT_READ | PROT_WRITE) != 0)
            return NULL;
        committed += more;
    }
    void *space = (void *) next_space;
    next_space = end;
    return space;
}

static struct block_head *head_of(void *block)
{
    return (struct block_head *) block - 1;
}

void *own_heap_alloc(size_t size, size_t alignment)
{
    if (alignment < sizeof(struct block_head))
        alignment = sizeof(struct block_head);
    if (size > RANGE_MOST || alignment > UINT32_MAX / 2)
        return NULL;
    uint64_t slack = alignment == sizeof(struct block_head) ? alignment : 2 * alignment;
    uint32_t class = own_heap_class_of(size + slack);
    if (class >= CLASSES)
        return NULL;
    pthread_mutex_lock(&own_heap_lock);
    struct free_space *space = free_spaces[class];
    if (space != NULL)
        free_spaces[class] = space->next;
    else
        space = fresh_space(class_bytes(class));
    pthread_mutex_unlock(&own_heap_lock);
    if (space == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    uintptr_t at = (uintptr_t) space + sizeof(struct block_head);
    at = (at + alignment - 1) / alignment * alignment;
    *head_of((void *) at) = (struct block_head){class, (uint32_t) (at - (uintptr_t) space), size};
    return (void *) at;
}

void *own_heap_calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *block = own_heap_alloc(bytes, 0);
    return block != NULL ? memset(block, 0, bytes) : NULL;
}

/* Returns whole pages of a large space to the system; its first page holds the list. */
static void give_back(struct free_space *space, uint64_t bytes)
{
    uintptr_t first = ((uintptr_t) space + sizeof *space + PAGE - 1) / PAGE * PAGE;
    uintptr_t last = ((uintptr_t) space + bytes) / PAGE * PAGE;
    if (last > first)
        madvise((void *) first, last - first, MADV_DONTNEED);
}

void own_heap_free(void *block)
{
    if (block == NULL)
        return;
    uint32_t class = head_of(block)->class;
    struct free_space *space = (void *) ((uintptr_t) block - head_of(block)->offset);
    if (class >= CLASSES)
        return;
    if (class_bytes(class) >= GIVE_BACK_BYTES)
        give_back(space, class_bytes(class));
    pthread_mutex_lock(&own_heap_lock);
    space->next = free_spaces[class];
    free_spaces[class] = space;
    pthread_mutex_unlock(&own_heap_lock);
}

void *own_heap_resize(void *block, size_t size)
{
    if (block == NULL)
        return own_heap_alloc(size, 0);
    struct block_head *head = head_of(block);
    if (size <= class_bytes(head->class) - head->offset) {
        head->size = size;
        return block;
    }
    void *moved = own_heap_alloc(size, 0);
    if (moved == NULL)
        return NULL;
    memcpy(moved, block, head->size);
    own_heap_free(block);
    return moved;
}

void own_heap_reset(void)
{
    pthread_mutex_init(&own_heap_lock, NULL);
    memset(free_spaces, 0, sizeof free_spaces);
}

size_t own_heap_size(const void *block)
{
    return ((const struct block_head *) block - 1)->size;
}
