/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of classes and of class loaders by the index that their tags have.  An entry of an
 * unloaded class is used again, but not before a whole session has passed: until then the JVM may
 * report the death of the class by that tag.
 */
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
    uint64_t loader;         /* of an entry that is empty: the next one */
    _Atomic uint64_t object; /* the tag that it would have if it were no class or loader */
    _Atomic(jweak) mirror;   /* of a class */
    /* number in the dictionary of a session: session << 40 | number */
    _Atomic uint64_t session_number;
};

struct named_table {
    _Atomic(struct named_object *) pages[NAMED_PAGES];
    uint64_t count;  /* entry 0 is not used */
    uint64_t unused; /* entries to use again: the first */
    uint64_t empty;  /* entries that the last named_empty_gone() emptied: the first */
};

/* NULL: there is no such entry. */
struct named_object *named_at(struct named_table *table, uint64_t index);

/* The rest with the table's lock held.  An entry for an object; 0: out of memory. */
uint64_t named_add(struct named_table *table);

/* While no thread is in a probe: entries that were emptied the last time may be used again; those
 * of classes that were unloaded since then are found (false: none were), and emptied. */
void named_reuse(struct named_table *table);
bool named_find_gone(struct named_table *table, JNIEnv *jni);
bool named_is_gone(struct named_table *table, uint64_t index);
void named_empty_gone(struct named_table *table, JNIEnv *jni);

#endif
