/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's description of itself: the tables of fields, types and constants that libjvm.so exports
 * for debuggers.  What frame_walk.c and code_cache.c read of the JVM's memory, they read with these
 * offsets.
 */
#ifndef AGENT_HOTSPOT_VM_STRUCTS_H
#define AGENT_HOTSPOT_VM_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in bytes; those of frames in words. */
struct vm_structs {
    size_t thread_anchor, thread_continuation; /* the latter 0: it is not shown, or there is none */
    size_t anchor_sp, anchor_pc, anchor_fp;
    size_t wrapper_anchor;
    size_t heap_memory, heap_segments, heap_log2_segment;
    size_t space_low, space_high;
    size_t block_used, block_size;
    size_t array_length, array_data;
    size_t blob_name, blob_frame_words, blob_size, blob_code_begin, blob_code_offset;
    size_t nmethod_stub, nmethod_compile_id, nmethod_method;
    /* the debugging information of compiled code: descriptions of return addresses, in the method
       or in memory of their own (`nmethod_immutable` is not 0) */
    size_t nmethod_pcs, nmethod_pcs_end, nmethod_scopes, nmethod_metadata;
    size_t nmethod_immutable, nmethod_immutable_size;
    size_t blob_mutable, blob_mutable_size, blob_relocation_size;
    size_t pc_offset, pc_scope, pc_size;
    size_t queue_buffer, queue_limit;
    size_t method_const, const_constants, const_idnum, const_size, const_code_size, pool_holder;
    int64_t entry_wrapper, interpreted_sender;
    /* where the JVM keeps them */
    const uintptr_t *heaps, *call_stub_return, *interpreter;
};

/* Once the JVM has initialised itself.  NULL: something is not as it should be; `*missing` names
 * it. */
const struct vm_structs *vm_structs_get(const char **missing);

/* Where the class data archive is mapped, and what is where in it; offsets in bytes. */
struct vm_archive {
    uintptr_t base, top;    /* all of it */
    uintptr_t header;       /* that of the file */
    uintptr_t object_class; /* java.lang.Object */
    size_t header_regions, region_size, region_base, region_used;
    uintptr_t vtables; /* a list of tables of virtual methods: see archive_scan.c */
    size_t class_name, symbol_length, symbol_body;
};

/* False: the JVM uses no archive, or does not tell. */
bool vm_archive_get(struct vm_archive *vm);

/* A performance counter of the JVM by name, e.g. java.cls.unloadedClasses; NULL: there is none. */
const volatile int64_t *vm_counter(const char *name);

/* The place of a JVM flag's value by its name, e.g. UseG1GC; NULL: there is none. */
const void *vm_flag(const char *name);

/* True if this word is among the JVM's options, wherever they come from. */
bool vm_argument_given(const char *argument);

/* A word, or a half, of the JVM's memory. */
static inline uintptr_t vm_word(uintptr_t base, size_t offset)
{
    return __atomic_load_n((const uintptr_t *) (base + offset), __ATOMIC_RELAXED);
}

static inline uint32_t vm_half(uintptr_t base, size_t offset)
{
    return __atomic_load_n((const uint32_t *) (base + offset), __ATOMIC_RELAXED);
}

#endif
