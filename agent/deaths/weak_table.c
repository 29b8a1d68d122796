/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of weak references: allocation and hand-over. */
#include "agent/deaths/weak_table.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/memory.h"
#include "agent/deaths/reference_blocks.h"

/* A thread's first page is small: most threads allocate few objects. */
#define FIRST_WORDS 122u
#define LATER_WORDS ((REFERENCE_BLOCK_BYTES - sizeof(struct weak_page)) / sizeof(uint64_t))

/* A stack without a lock: any thread pushes, and the reaper takes the whole list, so no element is
 * ever removed alone (no ABA). The exchange in weak_table_collect() acquires all words of the
 * pages. */
void weak_table_hand_over(struct weak_table *table, struct weak_page *page)
{
    struct weak_page *head = atomic_load(&table->handed_over);
    do
        page->next = head;
    while (!atomic_compare_exchange_weak(&table->handed_over, &head, page));
    atomic_fetch_add_explicit(&table->pages, 1, memory_order_relaxed);
}

static struct weak_page *new_page(uint32_t capacity)
{
    if (capacity == LATER_WORDS)
        return reference_block_take();
    size_t bytes = sizeof(struct weak_page) + capacity * sizeof(uint64_t);
    return memory_counted(MEMORY_REFERENCES, malloc(bytes));
}

void weak_table_free_page(struct weak_page *page)
{
    if (page->capacity == LATER_WORDS)
        reference_block_give(page);
    else
        memory_free(MEMORY_REFERENCES, page);
}

struct weak_page *weak_table_turn_page(struct weak_table *table, struct weak_page *full)
{
    uint32_t capacity = full == NULL ? FIRST_WORDS : LATER_WORDS;
    if (full != NULL)
        weak_table_hand_over(table, full);
    struct weak_page *page = new_page(capacity);
    if (page == NULL)
        return NULL;
    page->next = NULL;
    page->collected = false;
    page->capacity = capacity;
    page->next_id = 0; /* which no object has */
    atomic_init(&page->used, 0);
    return page;
}

void weak_table_collect(struct weak_table *table)
{
    struct weak_page *newest = atomic_exchange(&table->handed_over, NULL), *oldest = NULL;
    while (newest != NULL) {
        struct weak_page *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        struct weak_page *next = oldest->next;
        oldest->next = NULL;
        oldest->collected = true;
        if (table->last != NULL)
            table->last->next = oldest;
        else
            table->first = oldest;
        table->last = oldest;
        oldest = next;
    }
}

/* Removes the dead from a collected page. Reads and writes in one page: the writing index never
 * overtakes the reading one. A survivor needs an id word if the object before it has died, and then
 * that object's word, at least, is free; if there was an id word before, it is written again. So no
 * survivor ever needs more room than it had with its dead neighbours. */
static void squeeze(struct weak_page *page)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_relaxed), kept = 0;
    uint64_t id, next = 0;
    page->next_id = 0;
    /* there is room: an id is written where there was one, or a dead object */
    for (uint32_t i = 0; i < used; i++) {
        jweak reference = weak_page_read(page->words[i], &id, &next);
        if (reference != NULL)
            kept = weak_page_put(page, kept, id, reference);
    }
    atomic_store_explicit(&page->used, kept, memory_order_relaxed);
}

/* Copies all of a collected page to the end of another.  Returns false if there is no room. */
static bool weak_table_join(struct weak_page *to, const struct weak_page *page)
{
    uint32_t used = atomic_load_explicit(&page->used, memory_order_relaxed);
    uint32_t there = atomic_load_explicit(&to->used, memory_order_relaxed);
    if (used > to->capacity - there)
        return false;
    memcpy(&to->words[there], page->words, used * sizeof page->words[0]);
    atomic_store_explicit(&to->used, there + used, memory_order_relaxed);
    return true;
}

/* A page is joined to the one before it if it fits. Pages of survivors would otherwise stay nearly
 * empty for as long as one of their objects lives. Order is kept, so the ids of a page rise and
 * need few id words; ids that a join makes adjacent still have their word, which costs no
 * correctness. */
void weak_table_pass(struct weak_table *table, void (*look)(void *context, struct weak_page *page),
                     void *context)
{
    struct weak_page *before = NULL, **link = &table->first;
    while (*link != NULL) {
        struct weak_page *page = *link;
        look(context, page);
        squeeze(page);
        if (before != NULL && weak_table_join(before, page)) {
            *link = page->next;
            weak_table_free_page(page);
            continue;
        }
        before = page;
        link = &page->next;
    }
    table->last = before;
}

static void free_pages(struct weak_page *page)
{
    while (page != NULL) {
        struct weak_page *next = page->next;
        weak_table_free_page(page);
        page = next;
    }
}

void weak_table_reset(struct weak_table *table)
{
    free_pages(table->first);
    table->first = table->last = NULL;
}
