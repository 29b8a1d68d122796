/* SPDX-License-Identifier: Apache-2.0 */
/* Where the JVM keeps what a walk of eden needs: the spaces in which programs allocate, the buffers
 * and counters of threads, and sizes in classes. All by the names that libjvm.so exports. */
#ifndef AGENT_HOTSPOT_EDEN_LAYOUT_H
#define AGENT_HOTSPOT_EDEN_LAYOUT_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hotspot/vm_structs.h"

/* Offsets in bytes, unless something else is said. */
struct eden_layout {
    enum { EDEN_SERIAL, EDEN_PARALLEL, EDEN_G1 } heap;
    const uintptr_t *collected_heap; /* where the JVM has its heap's address */
    size_t collections;              /* in the heap: how many it has made */
    /* Serial, Parallel: addresses of the generations, and the spaces in them */
    uintptr_t young, old;
    size_t young_eden, young_from, old_space, space_bottom, space_top;
    /* G1: the table of regions, in the heap */
    size_t table_base, table_length;
    size_t region_bottom, region_top, region_end, region_tag;
    int64_t eden_tag, humongous_tag, survivor_tag, free_tag, old_mask;
    /* threads */
    const uintptr_t *thread_list;
    size_t list_length, list_threads;
    size_t tlab_start, tlab_top, tlab_end, tlab_last; /* in the thread; tlab_last: the buffer's end
                                                       * where tlab_end is a sampling point */
    size_t tlab_refills, tlab_waste;                  /* JDK 17 to 19; 0: not there */
    size_t thread_bytes, thread_object, java_id; /* java_id: in a java.lang.Thread, its number */
    uint64_t reserve_bytes;                      /* behind a buffer's end, for its filler */
    /* classes */
    uintptr_t class_base, class_class; /* class_class: of java.lang.Class */
    unsigned class_shift;
    size_t class_layout, class_name, class_mirror, array_bottom;
    size_t mirror_class, mirror_words; /* in a mirror: its class, its size in words */
    size_t chunk_words;                /* in a StackChunk: the words of its stack; 0: not known */
    size_t symbol_length, symbol_body;
    bool fillers_are_named; /* classes of their own; else they are int[], or Object */
    bool counts_fillers;    /* in the threads' statistics of their buffers */
};

extern struct eden_layout eden_layout;

/* Fills the layout. Returns why eden cannot be walked in this JVM, or NULL. Call when header_layout
 * is known. */
const char *eden_layout_find(JNIEnv *jni);

/* The JVM's heap, and how many collections it has made. */
static inline uintptr_t eden_heap(void)
{
    return *eden_layout.collected_heap;
}

static inline uint32_t eden_collections(void)
{
    return vm_half(eden_heap(), eden_layout.collections);
}

/* ---- Serial and Parallel ---- */

enum eden_space { SPACE_EDEN, SPACE_FROM, SPACE_OLD, EDEN_SPACES };

static inline uintptr_t eden_space_at(enum eden_space space)
{
    return space == SPACE_EDEN   ? vm_word(eden_layout.young, eden_layout.young_eden)
           : space == SPACE_FROM ? vm_word(eden_layout.young, eden_layout.young_from)
                                 : vm_word(eden_layout.old, eden_layout.old_space);
}

/* ---- G1 ---- */

static inline size_t eden_region_count(void)
{
    return vm_word(eden_heap(), eden_layout.table_length);
}

/* Returns 0 if there never was such a region. */
static inline uintptr_t eden_region_at(size_t i)
{
    return vm_word(vm_word(eden_heap(), eden_layout.table_base), i * sizeof(uintptr_t));
}

static inline int64_t eden_region_tag(size_t i)
{
    uintptr_t region = eden_region_at(i);
    return region != 0 ? (int64_t) vm_half(region, eden_layout.region_tag) : -1;
}

#endif
