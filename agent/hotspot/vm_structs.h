/* SPDX-License-Identifier: Apache-2.0 */
/* HotSpot's description of itself: the tables of fields, types and constants that libjvm.so exports
 * for debuggers. frame_walk.c, code_cache.c and others read the JVM's memory with these offsets. */
#ifndef AGENT_HOTSPOT_VM_STRUCTS_H
#define AGENT_HOTSPOT_VM_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in bytes; those of frames in words. */
struct vm_structs {
    size_t thread_anchor, thread_continuation; /* thread_continuation 0: not exported, or there is
                                                * none */
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
    /* addresses of the JVM's variables */
    const uintptr_t *heaps, *call_stub_return, *interpreter;
};

/* Call when the JVM has initialised itself. Returns NULL if something is not found; `*missing`
 * names it. */
const struct vm_structs *vm_structs_get(const char **missing);

/* The mapping of the class data archive, and offsets in it, in bytes. */
struct vm_archive {
    uintptr_t base, top;    /* all of it */
    uintptr_t header;       /* of the archive's file */
    uintptr_t object_class; /* java.lang.Object */
    size_t header_regions, region_size, region_base, region_used;
    uintptr_t vtables; /* list of virtual method tables: see archived_classes.c */
    size_t class_name, symbol_length, symbol_body;
};

/* Returns false if the JVM uses no archive, or does not export it. */
bool vm_archive_get(struct vm_archive *vm);

/* Returns a performance counter of the JVM by name, such as java.cls.unloadedClasses, or NULL. */
const volatile int64_t *vm_counter(const char *name);

/* Returns the address of a symbol that libjvm.so exports, or NULL. */
void *vm_exported(const char *symbol);

/* Returns the address of a JVM flag's value by name, such as UseG1GC, or NULL. */
const void *vm_flag(const char *name);

/* Returns true if this word is among the JVM's arguments, wherever they come from. */
bool vm_argument_given(const char *argument);

/* Look up the offset of a field, the address of a static one, and constants, by the JVM's own
 * names. Return false if the JVM does not export it. */
bool vm_field_offset(const char *type, const char *field, size_t *out);
bool vm_static_field(const char *type, const char *field, const uintptr_t **out);
bool vm_int_constant(const char *name, int64_t *out);
bool vm_long_constant(const char *name, uint64_t *out);

/* Read a word, or 32 bits, of the JVM's memory. */
static inline uintptr_t vm_word(uintptr_t base, size_t offset)
{
    return __atomic_load_n((const uintptr_t *) (base + offset), __ATOMIC_RELAXED);
}

static inline uint32_t vm_half(uintptr_t base, size_t offset)
{
    return __atomic_load_n((const uint32_t *) (base + offset), __ATOMIC_RELAXED);
}

#endif
