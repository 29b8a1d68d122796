/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what the agent's tables take of memory, by part.  Any thread. */
#ifndef AGENT_BASE_MEMORY_H
#define AGENT_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Parts of the agent's memory, and their names in properties (memory-NAME, bytes). The first three
 * are counted here; the drain thread measures the others. */
#define MEMORY_PARTS(X)                                                                            \
    X(REFERENCES, "weak-references") /* with recycled ones; not the JVM's slots, 8 bytes each */   \
    X(TABLES, "tables")              /* of objects by identity, methods and threads */             \
    X(STACKS, "stacks")              /* the tree of call stacks and what is known of them */       \
    X(RINGS, "rings")                                                                              \
    X(DRAIN, "drain") /* records that wait for their block */

enum memory_part {
#define MEMORY_PART(name, text) MEMORY_##name,
    MEMORY_PARTS(MEMORY_PART)
#undef MEMORY_PART
        MEMORY_COUNT
};

/* Counts a block of malloc() and returns it; NULL is no block. */
void *memory_counted(enum memory_part part, void *block);
/* Frees a block that was counted; NULL is no block. */
void memory_free(enum memory_part part, void *block);
void memory_add(enum memory_part part, size_t bytes);
void memory_subtract(enum memory_part part, size_t bytes);
/* Returns bytes. */
uint64_t memory_of(enum memory_part part);
/* Gives free pages of all of malloc's arenas back to the system, where the C library can. */
void memory_trim(void);

#endif
