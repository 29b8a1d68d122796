/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain_replay TRACE.simple.bin: the plainest replay there is, to compare `steptrace replay` with.
 * It reads four 8-byte numbers a record (tag, size, address, new address), looks each address up in
 * a table of its own, calls malloc, realloc and free, and writes a byte to each new block.  What a
 * realloc did itself is passed over.  Prints calls, the CPU nanoseconds of all, those of the same
 * loop without an allocator, and the peak of resident memory in bytes.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>

enum { ALLOC, FREE, REALLOC_NO_ALLOC, REALLOC_ALLOC_FREE, REALLOC_ALLOC, REALLOC_FREE, FIELDS = 4 };
#define SLOTS (UINT64_C(1) << 24)

struct slot {
    uint64_t address; /* of the trace, plus 1; 0: empty, 1: was taken */
    void *block;
};

static struct slot *slots;
static bool is_empty;
static uint64_t calls;
static char nothing[16];

static uint64_t number(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return __builtin_bswap64(value);
}

/* The address's slot, or where it would stand. */
static struct slot *find(uint64_t address)
{
    uint64_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (SLOTS - 1);
    while (slots[at].address != 0 && slots[at].address != address + 1)
        at = (at + 1) & (SLOTS - 1);
    return &slots[at];
}

/* Linear probing without gaps: what stands behind moves up. */
static void take_out(struct slot *slot)
{
    uint64_t hole = (uint64_t) (slot - slots);
    for (uint64_t at = (hole + 1) & (SLOTS - 1); slots[at].address != 0;
         at = (at + 1) & (SLOTS - 1)) {
        uint64_t home = (slots[at].address - 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40 & (SLOTS - 1);
        if (((at - home) & (SLOTS - 1)) >= ((at - hole) & (SLOTS - 1))) {
            slots[hole] = slots[at];
            hole = at;
        }
    }
    slots[hole].address = 0;
}

static void put(uint64_t address, void *block)
{
    struct slot *slot = find(address);
    *slot = (struct slot){address + 1, block};
    if (block != NULL && !is_empty)
        *(volatile char *) block = 1;
}

static void replay(const uint8_t *at, const uint8_t *end)
{
    uint64_t own_alloc = 0, own_free = 0; /* addresses, plus 1 */
    for (; at + 8 * FIELDS <= end; at += 8 * FIELDS) {
        uint64_t tag = number(at), size = number(at + 8);
        uint64_t address = number(at + 16), new_address = number(at + 24);
        struct slot *slot;
        if (tag == ALLOC && address + 1 == own_alloc) {
            own_alloc = 0;
        } else if (tag == FREE && address + 1 == own_free) {
            own_free = 0;
        } else if (tag == ALLOC) {
            calls++;
            put(address, is_empty ? nothing : malloc(size));
        } else if (tag == FREE && (slot = find(address))->address != 0) {
            calls++;
            if (!is_empty)
                free(slot->block);
            take_out(slot);
        } else if (tag >= REALLOC_NO_ALLOC && tag <= REALLOC_FREE) {
            slot = find(address);
            void *old = tag == REALLOC_ALLOC || slot->address == 0 ? NULL : slot->block;
            calls++;
            void *block = is_empty ? nothing : realloc(old, size);
            if (old != NULL && !(tag == REALLOC_NO_ALLOC && new_address == 0))
                take_out(slot);
            if (tag != REALLOC_FREE && new_address != 0)
                put(new_address, block);
            own_alloc = tag == REALLOC_ALLOC_FREE || tag == REALLOC_ALLOC ? new_address + 1 : 0;
            own_free = tag == REALLOC_ALLOC_FREE || tag == REALLOC_FREE ? address + 1 : 0;
        }
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

static uint64_t run(const uint8_t *trace, size_t length, bool empty)
{
    memset(slots, 0, SLOTS * sizeof *slots);
    is_empty = empty;
    calls = 0;
    uint64_t start = cpu_ns();
    replay(trace, trace + length);
    return cpu_ns() - start;
}

int main(int argc, char **argv)
{
    struct stat facts;
    int file = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (file < 0 || fstat(file, &facts) != 0) {
        fprintf(stderr, "usage: plain_replay TRACE.simple.bin\n");
        return 2;
    }
    size_t length = (size_t) facts.st_size;
    const uint8_t *trace = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    slots = mmap(NULL, SLOTS * sizeof *slots, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (trace == MAP_FAILED || slots == MAP_FAILED)
        return 1;
    uint64_t empty = run(trace, length, true);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uint64_t all = run(trace, length, false);
    getrusage(RUSAGE_SELF, &after);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %ld\n", calls, all, empty,
           (after.ru_maxrss - before.ru_maxrss) * 1024);
    return 0;
}
