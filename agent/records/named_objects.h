/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of classes and class loaders by the index in their tags. An unloaded class's entry is
 * reused, but only after a whole session: until then the JVM may report the death of the class by
 * that tag. */
#ifndef AGENT_RECORDS_NAMED_OBJECTS_H
#define AGENT_RECORDS_NAMED_OBJECTS_H

#include "agent/base/tracer.h"

#define NAMED_PAGE_ENTRIES 1024u
#define NAMED_PAGES 65536u /* 64 Mi entries */

enum named_state { NAMED_USED, NAMED_GONE, NAMED_EMPTY };

/* A class or a class loader. */
struct named_object {
    char *name; /* class: as in a class file, standard UTF-8 */
    uint32_t name_length;
    enum named_state state;
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
    uint64_t empty;  /* first of the entries that the last named_empty_gone() emptied */
};

/* Returns NULL if there is no such entry. */
struct named_object *named_at(struct named_table *table, uint64_t index);

/* The following functions are called with the table's lock held. Returns an entry for an object; 0:
 * out of memory. */
uint64_t named_add(struct named_table *table);

/* Call these while no thread is in a probe. named_reuse() lets entries that were emptied the last
 * time be reused. named_find_gone() finds those of classes unloaded since then (false: none), and
 * named_empty_gone() empties them. */
void named_reuse(struct named_table *table);
bool named_find_gone(struct named_table *table, JNIEnv *jni);
bool named_is_gone(struct named_table *table, uint64_t index);
void named_empty_gone(struct named_table *table, JNIEnv *jni);

#endif
