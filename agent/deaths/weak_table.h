/* SPDX-License-Identifier: Apache-2.0 */
/* The weak references of engine=bytecode: one for each live object that a probe has reported, with
 * the object's id.
 *
 * A thread appends to its own page without a lock. Full pages, and those of ended threads, are
 * handed to the reaper, which alone removes entries and moves survivors together. Most objects'
 * ids follow each other, and are not stored. A live object thus costs 8 bytes here, 16 if its
 * neighbours died, and one slot in the JVM, however many objects died around it. */
#ifndef AGENT_DEATHS_WEAK_TABLE_H
#define AGENT_DEATHS_WEAK_TABLE_H

#include <jni.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Ids have 40 bits. The bits above are from the object's identity hash (identity.h). */
#define WEAK_ID_BITS 40u
#define WEAK_ID_MASK ((UINT64_C(1) << WEAK_ID_BITS) - 1)
/* A word with this bit, which no address has, is no reference, but the id, and the key above it, of
 * the object whose reference comes next. */
#define WEAK_ID_WORD (UINT64_C(1) << 63)

struct weak_page {
    struct weak_page *next;
    struct weak_page *next_active; /* used by the reaper: list of one pass */
    bool collected;                /* used by the reaper: it owns the page */
    uint32_t capacity;             /* words */
    _Atomic uint32_t used;         /* published by the owner */
    uint64_t next_id;              /* with key: of the next object, unless a word says otherwise */
    uint64_t words[];              /* references (0: found dead) and ids */
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
/* Lets `look` set words of the dead to 0 in each collected page, and moves survivors together. */
void weak_table_pass(struct weak_table *table, void (*look)(void *context, struct weak_page *page),
                     void *context);
/* Frees the collected pages, not the references. */
void weak_table_reset(struct weak_table *table);

/* Puts an object behind `used` words. Returns their new number. The id is written in any case, and
 * overwritten by the reference if it is the expected one, which takes no branch. So there must
 * always be room for two words (weak_page_has_room()). Nothing is visible to the reaper before the
 * caller publishes `used`. */
static inline uint32_t weak_page_put(struct weak_page *page, uint32_t used, uint64_t id,
                                     jweak reference)
{
    page->words[used] = WEAK_ID_WORD | id; /* overwritten if the id follows */
    used += page->next_id != id;
    page->words[used] = (uintptr_t) reference;
    page->next_id = id + 1;
    return used + 1;
}

/* Reads a page word by word: returns the word's reference and its object's `*id`; NULL if it has
 * none. `*next` is the next object's id; 0 at first. */
static inline jweak weak_page_read(uint64_t word, uint64_t *id, uint64_t *next)
{
    if ((word & WEAK_ID_WORD) != 0) {
        *next = word & ~WEAK_ID_WORD;
        return NULL;
    }
    *id = (*next)++;
    return (jweak) (uintptr_t) word;
}

/* Returns true if the page takes one more object. */
static inline bool weak_page_has_room(const struct weak_page *page, uint32_t used)
{
    return used + 1 < page->capacity;
}

/* Appends to the owner's page *slot; `id` has the key above it. Returns false if out of memory. */
static inline bool weak_table_add(struct weak_table *table, _Atomic(struct weak_page *) *slot,
                                  uint64_t id, jweak reference)
{
    struct weak_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    uint32_t used = page != NULL ? atomic_load_explicit(&page->used, memory_order_relaxed) : 0;
    if (__builtin_expect(page == NULL || !weak_page_has_room(page, used), 0)) {
        struct weak_page *next = weak_table_turn_page(table, page);
        atomic_store_explicit(slot, next, memory_order_release);
        if (next == NULL)
            return false;
        page = next;
        used = 0;
    }
    atomic_store_explicit(&page->used, weak_page_put(page, used, id, reference),
                          memory_order_release);
    return true;
}

/* Returns true if the owner's page has its first object only. */
static inline bool weak_page_is_fresh(_Atomic(struct weak_page *) *slot)
{
    const struct weak_page *page = atomic_load_explicit(slot, memory_order_relaxed);
    return page != NULL && atomic_load_explicit(&page->used, memory_order_relaxed) == 2;
}

#endif
