/* SPDX-License-Identifier: Apache-2.0 */
/* The weak references of engine=bytecode: one for each live object that a probe has reported, with
 * the object's id.
 *
 * A thread appends to its own page without a lock. Full pages, and those of ended threads, are
 * handed to the reaper, which alone removes entries and moves survivors together. A live object
 * thus costs 16 bytes here and one slot in the JVM, however many objects died around it. */
#ifndef AGENT_DEATHS_WEAK_TABLE_H
#define AGENT_DEATHS_WEAK_TABLE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Ids have 40 bits. The bits above are from the object's identity hash (identity.h). */
#define WEAK_ID_BITS 40u
#define WEAK_ID_MASK ((UINT64_C(1) << WEAK_ID_BITS) - 1)

struct weak_entry {
    uint64_t id;     /* and the key above it */
    jweak reference; /* NULL: found dead */
};

struct weak_page {
    struct weak_page *next;
    struct weak_page *next_active; /* used by the reaper: list of one pass */
    bool collected;                /* used by the reaper: it owns the page */
    uint32_t capacity;
    _Atomic uint32_t used; /* published by the owner */
    struct weak_entry entries[];
};

struct weak_table {
    _Atomic(struct weak_page *) handed_over; /* by threads; newest first */
    _Atomic uint64_t pages;                  /* number of pages handed over since the process
                                              * began */
    struct weak_page *first, *last;          /* used by the reaper, in the order of arrival */
};

/* Hands over the full page, if any, and returns a new one, or NULL if out of memory. */
struct weak_page *weak_table_turn_page(struct weak_table *table, struct weak_page *full);
/* Hands over a page that its owner no longer uses. */
void weak_table_hand_over(struct weak_table *table, struct weak_page *page);
/* Moves the pages that were handed over to the reaper's list. */
void weak_table_collect(struct weak_table *table);
void weak_table_free_page(struct weak_page *page);
/* Frees the collected pages, not the references. */
void weak_table_reset(struct weak_table *table);

/* Appends to the owner's page *slot. Returns false if out of memory. */
static inline bool weak_table_add(struct weak_table *table, _Atomic(struct weak_page *) *slot,
                                  uint64_t id, jweak reference)
{
    struct weak_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t used = page != NULL ? atomic_load_explicit(&page->used, memory_order_relaxed) : 0;
    if (__builtin_expect(page == NULL || used == page->capacity, 0)) {
        struct weak_page *next = weak_table_turn_page(table, page);
        atomic_store_explicit(slot, next, memory_order_release);
        if (next == NULL)
            return false;
        page = next;
        used = 0;
    }
    page->entries[used] = (struct weak_entry){id, reference};
    atomic_store_explicit(&page->used, used + 1, memory_order_release);
    return true;
}

/* Returns true if the owner's page has its first entry only. */
static inline bool weak_page_is_fresh(_Atomic(struct weak_page *) *slot)
{
    const struct weak_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    return page != NULL && atomic_load_explicit(&page->used, memory_order_relaxed) == 1;
}

#endif
