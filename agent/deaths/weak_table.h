/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weak references of engine=bytecode: one for each live object that a probe has reported, with
 * the object's id.
 *
 * A thread appends to a page of its own without a lock; full pages, and those of ended threads, go
 * to the reaper, which alone takes entries out.  Survivors move together, so that a live object
 * costs 16 bytes here (and one slot in the JVM) however many died around it.
 */
#ifndef AGENT_DEATHS_WEAK_TABLE_H
#define AGENT_DEATHS_WEAK_TABLE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Ids have 40 bits; above them stand bits of the object's identity hash (identity.h). */
#define WEAK_ID_BITS 40u
#define WEAK_ID_MASK ((UINT64_C(1) << WEAK_ID_BITS) - 1)

struct weak_entry {
    uint64_t id;     /* and the key */
    jweak reference; /* NULL: found dead */
};

struct weak_page {
    struct weak_page *next;
    struct weak_page *next_active; /* the reaper's: in the list of one pass */
    bool collected;                /* the reaper's: it has the page for good */
    uint32_t capacity;
    _Atomic uint32_t used; /* published by the owner */
    struct weak_entry entries[];
};

struct weak_table {
    _Atomic(struct weak_page *) handed_over; /* by threads; newest first */
    _Atomic uint64_t pages;                  /* how many that were since the process began */
    struct weak_page *first, *last;          /* the reaper's, in the order they came */
};

/* A full page goes to the table; gives a new one, NULL when there is no memory. */
struct weak_page *weak_table_turn_page(struct weak_table *table, struct weak_page *full);
/* The page's owner is gone. */
void weak_table_hand_over(struct weak_table *table, struct weak_page *page);
/* What was handed over joins the reaper's pages. */
void weak_table_collect(struct weak_table *table);
/* Frees the collected pages, not the references. */
void weak_table_reset(struct weak_table *table);

/* Appends to the owner's page *page; false: out of memory. */
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

/* Has the owner's page its first entry only? */
static inline bool weak_page_is_fresh(_Atomic(struct weak_page *) *slot)
{
    const struct weak_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    return page != NULL && atomic_load_explicit(&page->used, memory_order_relaxed) == 1;
}

#endif
