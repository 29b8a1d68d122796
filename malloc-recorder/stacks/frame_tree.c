/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers call stacks: a table of frames under a lock, and a cache of whole stacks by hash before
 * it.  It is mapped memory without step_index, because the recorder may not call malloc(). */
#include "malloc-recorder/stacks/frame_tree.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define KNOWN 65536u
#define LEAST ((size_t) 4096)

struct known {
    _Atomic uint64_t proof; /* hash of the stack xor the frame */
    _Atomic uint64_t frame;
};

struct node {
    uint64_t frame; /* 0: free */
    uint64_t parent;
    uintptr_t address;
};

static struct known known[KNOWN];
pthread_mutex_t frame_tree_lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes;
static size_t capacity, count;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9fb21c651e98df25);
    return hash ^ hash >> 32;
}

static struct node *frame_tree_place_of(struct node *table, size_t size, uint64_t parent,
                                        uintptr_t address)
{
    size_t at = (size_t) mix(mix(0, parent), address) & (size - 1);
    while (table[at].frame != 0 && (table[at].parent != parent || table[at].address != address))
        at = (at + 1) & (size - 1);
    return &table[at];
}

static bool frame_tree_make_room(void)
{
    if (2 * count < capacity)
        return true;
    size_t wanted = capacity != 0 ? 2 * capacity : LEAST;
    struct node *grown = mmap(NULL, wanted * sizeof *grown, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED)
        return false;
    for (size_t i = 0; i < capacity; i++)
        if (nodes[i].frame != 0)
            *frame_tree_place_of(grown, wanted, nodes[i].parent, nodes[i].address) = nodes[i];
    if (nodes != NULL)
        munmap(nodes, capacity * sizeof *nodes);
    nodes = grown;
    capacity = wanted;
    return true;
}

static uint64_t put_slowly(const uintptr_t *addresses, unsigned depth, frame_define define,
                           void *user)
{
    uint64_t frame = 0;
    pthread_mutex_lock(&frame_tree_lock);
    for (unsigned i = depth; i-- > 0;) {
        if (!frame_tree_make_room()) {
            frame = 0;
            break;
        }
        struct node *node = frame_tree_place_of(nodes, capacity, frame, addresses[i]);
        if (node->frame == 0) {
            if (define(user, count + 1, frame, addresses[i]) == 0) {
                frame = 0;
                break;
            }
            *node = (struct node){++count, frame, addresses[i]};
        }
        frame = node->frame;
    }
    pthread_mutex_unlock(&frame_tree_lock);
    return frame;
}

uint64_t frame_tree_put(const uintptr_t *addresses, unsigned depth, frame_define define, void *user)
{
    uint64_t hash = depth;
    for (unsigned i = 0; i < depth; i++)
        hash = mix(hash, addresses[i]);
    struct known *entry = &known[hash & (KNOWN - 1)];
    uint64_t frame = atomic_load_explicit(&entry->frame, memory_order_acquire);
    if (frame != 0 && (atomic_load_explicit(&entry->proof, memory_order_relaxed) ^ frame) == hash)
        return frame;
    frame = put_slowly(addresses, depth, define, user);
    if (frame != 0) {
        atomic_store_explicit(&entry->proof, hash ^ frame, memory_order_relaxed);
        atomic_store_explicit(&entry->frame, frame, memory_order_release);
    }
    return frame;
}

void frame_tree_reset(void)
{
    pthread_mutex_init(&frame_tree_lock, NULL);
    memset(known, 0, sizeof known);
    nodes = NULL;
    capacity = count = 0;
}
