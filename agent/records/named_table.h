/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of classes and class loaders, by the index in their tags. An unloaded class's entry is
 * reused, but only after a whole session: until then the JVM may report the death of the class by
 * that tag. */
#ifndef AGENT_RECORDS_NAMED_TABLE_H
#define AGENT_RECORDS_NAMED_TABLE_H

#include "agent/records/classes.h"

#define NAMED_PAGE_ENTRIES 1024u
#define NAMED_PAGES 65536u /* 64 Mi entries */

/* A class or a class loader. */
struct named_object {
    char *name; /* class: as in a class file, standard UTF-8 */
    uint32_t name_length;
    uint32_t untagged_hash;  /* of a class that has no tag yet: classes.c */
    bool is_untagged;        /* it is such a class */
    uint64_t loader;         /* in an empty entry: index of the next one */
    _Atomic uint64_t object; /* the tag that it would have if it were not a class or loader */
    _Atomic(jweak) mirror;   /* of a class */
    /* number in the dictionary of a session: session << 40 | number */
    _Atomic uint64_t session_number;
};

struct named_table {
    _Atomic(struct named_object *) pages[NAMED_PAGES];
    uint64_t count;  /* entry 0 is not used */
    uint64_t unused; /* first of the entries to reuse */
    uint64_t empty;  /* first of the entries of classes that are gone since the last session */
};

extern struct named_table named_classes, named_loaders;
/* Held while a class gets its tag; no callback that holds a lock of the VM takes it. */
extern pthread_mutex_t class_lock;

/* Returns NULL if there is no such entry. */
static inline struct named_object *named_at(struct named_table *table, uint64_t index)
{
    if (index == 0 || index >= (uint64_t) NAMED_PAGES * NAMED_PAGE_ENTRIES)
        return NULL;
    struct named_object *page =
        atomic_load_explicit(&table->pages[index / NAMED_PAGE_ENTRIES], memory_order_acquire);
    return page != NULL ? &page[index % NAMED_PAGE_ENTRIES] : NULL;
}

/* Returns the class or loader that has this tag, or NULL. */
static inline struct named_object *named_of_tag(jlong tag)
{
    if ((tag & TAG_CLASS) != 0)
        return named_at(&named_classes, (uint64_t) (tag & ~TAG_MARKS));
    if ((tag & TAG_LOADER) != 0)
        return named_at(&named_loaders, (uint64_t) (tag & ~TAG_MARKS));
    return NULL;
}

/* Returns an entry for an object; 0: out of memory. Call with the class lock held. */
uint64_t named_add(struct named_table *table);
/* Lets entries be reused that classes_forget_unloaded() emptied the last time. Call with the class
 * lock held, while no thread is in a probe. */
void named_reuse(struct named_table *table);

#endif
