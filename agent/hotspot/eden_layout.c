/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the layout of eden. What a JVM does not export under one of the known names is a reason
 * not to walk it. */
#include "agent/hotspot/eden_layout.h"

#include <string.h>

#include "agent/base/exceptions.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/headers.h"
#include "agent/hotspot/vm_structs.h"

#define WORD sizeof(uint64_t)
/* Of an instance field's id, the bits that are not the offset. */
#define FIELD_ID_BITS (tracer.java_major >= JAVA_VALUE_CLASSES ? 3u : 2u)
#define FIELD_MOST 512u /* a Thread's and a StackChunk's own fields are within that */

struct eden_layout eden_layout;

static bool flag_is_set(const char *name)
{
    const unsigned char *flag = vm_flag(name);
    return flag != NULL && *flag == 1;
}

/* A field under the first of two names of its type; types were renamed in JDK 21 to 25. */
static bool field_of(const char *type, const char *other, const char *field, size_t *out)
{
    return vm_field_offset(type, field, out) || vm_field_offset(other, field, out);
}

static bool find_serial(struct eden_layout *out)
{
    size_t young, old;
    if (!field_of("SerialHeap", "GenCollectedHeap", "_young_gen", &young) ||
        !field_of("SerialHeap", "GenCollectedHeap", "_old_gen", &old) ||
        !vm_field_offset("DefNewGeneration", "_eden_space", &out->young_eden) ||
        !vm_field_offset("DefNewGeneration", "_from_space", &out->young_from) ||
        !vm_field_offset("TenuredGeneration", "_the_space", &out->old_space) ||
        !field_of("ContiguousSpace", "Space", "_bottom", &out->space_bottom) ||
        !vm_field_offset("ContiguousSpace", "_top", &out->space_top))
        return false;
    out->young = vm_word(eden_heap(), young);
    out->old = vm_word(eden_heap(), old);
    return out->young != 0 && out->old != 0;
}

/* A static field before JDK 27. */
static uintptr_t parallel_part(const char *field)
{
    const uintptr_t *variable;
    size_t offset = 0;
    if (vm_static_field("ParallelScavengeHeap", field, &variable))
        return *variable;
    return vm_field_offset("ParallelScavengeHeap", field, &offset) ? vm_word(eden_heap(), offset)
                                                                   : 0;
}

static bool find_parallel(struct eden_layout *out)
{
    if (!vm_field_offset("PSYoungGen", "_eden_space", &out->young_eden) ||
        !vm_field_offset("PSYoungGen", "_from_space", &out->young_from) ||
        !vm_field_offset("PSOldGen", "_object_space", &out->old_space) ||
        !vm_field_offset("MutableSpace", "_bottom", &out->space_bottom) ||
        !vm_field_offset("MutableSpace", "_top", &out->space_top))
        return false;
    out->young = parallel_part("_young_gen");
    out->old = parallel_part("_old_gen");
    return out->young != 0 && out->old != 0;
}

/* A constant by its name, or without the "G1" that it begins with, as older JVMs call it. */
static bool constant_of(const char *name, int64_t *out)
{
    return vm_int_constant(name, out) || vm_int_constant(name + strlen("G1"), out);
}

static bool find_g1(struct eden_layout *out)
{
    size_t manager, table, base, length, type, tag;
    if (!vm_field_offset("G1CollectedHeap", "_hrm", &manager) ||
        !field_of("G1HeapRegionManager", "HeapRegionManager", "_regions", &table) ||
        !vm_field_offset("G1HeapRegionTable", "_base", &base) ||
        !vm_field_offset("G1HeapRegionTable", "_length", &length) ||
        !field_of("G1HeapRegion", "HeapRegion", "_bottom", &out->region_bottom) ||
        !field_of("G1HeapRegion", "HeapRegion", "_top", &out->region_top) ||
        !field_of("G1HeapRegion", "HeapRegion", "_end", &out->region_end) ||
        !field_of("G1HeapRegion", "HeapRegion", "_type", &type) ||
        !field_of("G1HeapRegionType", "HeapRegionType", "_tag", &tag))
        return false;
    out->table_base = manager + table + base;
    out->table_length = manager + table + length;
    out->region_tag = type + tag;
    return constant_of("G1HeapRegionType::EdenTag", &out->eden_tag) &&
           constant_of("G1HeapRegionType::StartsHumongousTag", &out->humongous_tag) &&
           constant_of("G1HeapRegionType::SurvTag", &out->survivor_tag) &&
           constant_of("G1HeapRegionType::FreeTag", &out->free_tag) &&
           constant_of("G1HeapRegionType::OldMask", &out->old_mask);
}

/* The JVM keeps room behind a buffer for the header of the filler that closes it. Newer ones export
 * how much, in words. */
static uint64_t find_reserve(void)
{
    const uintptr_t *exported = NULL, *prefetch = NULL;
    uint64_t alignment = header_layout.alignment;
    uint64_t reserve = 2 * WORD > alignment ? 2 * WORD : 0;
    if (vm_static_field("CollectedHeap", "_lab_alignment_reserve", &exported))
        reserve = *exported * WORD;
    if (vm_static_field("ThreadLocalAllocBuffer", "_reserve_for_allocation_prefetch", &prefetch) &&
        vm_half((uintptr_t) prefetch, 0) * WORD > reserve)
        reserve = vm_half((uintptr_t) prefetch, 0) * WORD;
    return (reserve + alignment - 1) & ~(alignment - 1);
}

static bool find_buffers(struct eden_layout *out)
{
    size_t tlab, desired;
    if (!vm_field_offset("Thread", "_tlab", &tlab) ||
        !vm_field_offset("ThreadLocalAllocBuffer", "_start", &out->tlab_start) ||
        !vm_field_offset("ThreadLocalAllocBuffer", "_top", &out->tlab_top) ||
        !vm_field_offset("ThreadLocalAllocBuffer", "_end", &out->tlab_end) ||
        !vm_field_offset("ThreadLocalAllocBuffer", "_desired_size", &desired) ||
        desired != out->tlab_end + 2 * WORD)
        return false;
    out->tlab_start += tlab;
    out->tlab_top += tlab;
    out->tlab_end += tlab;
    out->tlab_last = out->tlab_end + WORD;
    if (out->fillers_are_named)
        return true;
    if (!vm_field_offset("ThreadLocalAllocBuffer", "_number_of_refills", &out->tlab_refills) ||
        !vm_field_offset("ThreadLocalAllocBuffer", "_refill_waste", &out->tlab_waste))
        return false;
    out->tlab_refills += tlab;
    out->tlab_waste += tlab;
    return true;
}

static bool find_threads(struct eden_layout *out)
{
    return vm_static_field("ThreadsSMRSupport", "_java_thread_list", &out->thread_list) &&
           vm_field_offset("ThreadsList", "_length", &out->list_length) &&
           vm_field_offset("ThreadsList", "_threads", &out->list_threads) &&
           vm_field_offset("Thread", "_allocated_bytes", &out->thread_bytes) &&
           vm_field_offset("JavaThread", "_threadObj", &out->thread_object);
}

/* Returns a static number of java.lang.Class's mirror; 0: not exported. */
static size_t mirror_offset(const char *name)
{
    const uintptr_t *variable;
    return vm_static_field("java_lang_Class", name, &variable) ? vm_half((uintptr_t) variable, 0)
                                                               : 0;
}

static bool find_class_pointers(struct eden_layout *out)
{
    const uintptr_t *base, *shift;
    out->class_base = out->class_shift = 0;
    if (!header_layout.narrow)
        return true;
    if ((!vm_static_field("CompressedKlassPointers", "_base", &base) &&
         !vm_static_field("CompressedKlassPointers", "_narrow_klass._base", &base)) ||
        (!vm_static_field("CompressedKlassPointers", "_shift", &shift) &&
         !vm_static_field("CompressedKlassPointers", "_narrow_klass._shift", &shift)))
        return false;
    out->class_base = *base;
    out->class_shift = vm_half((uintptr_t) shift, 0);
    return out->class_shift < 32;
}

static bool find_classes(struct eden_layout *out)
{
    const uintptr_t *class_class;
    if (!vm_static_field("vmClasses", "_klasses[static_cast<int>(vmClassID::Class_klass_knum)]",
                         &class_class))
        return false;
    out->class_class = *class_class;
    out->mirror_class = mirror_offset("_klass_offset");
    out->mirror_words = mirror_offset("_oop_size_offset");
    return find_class_pointers(out) && out->mirror_class != 0 && out->mirror_words != 0 &&
           vm_field_offset("Klass", "_layout_helper", &out->class_layout) &&
           vm_field_offset("Klass", "_name", &out->class_name) &&
           vm_field_offset("Klass", "_java_mirror", &out->class_mirror) &&
           vm_field_offset("ObjArrayKlass", "_bottom_klass", &out->array_bottom) &&
           vm_field_offset("Symbol", "_length", &out->symbol_length) &&
           vm_field_offset("Symbol", "_body[0]", &out->symbol_body);
}

/* Returns the offset of an instance field by its identifier; 0: there is no such field. What is
 * read there is checked in the proof of the walk. */
static size_t java_field(JNIEnv *jni, const char *class_name, const char *name, const char *type)
{
    jthrowable of_program = exception_set_aside(jni);
    jclass class = (*jni)->FindClass(jni, class_name);
    jfieldID field = class != NULL ? (*jni)->GetFieldID(jni, class, name, type) : NULL;
    size_t offset = (uintptr_t) field >> FIELD_ID_BITS;
    exception_restore(jni, of_program, field == NULL, THROWN_BY_LOOKUP);
    (*jni)->DeleteLocalRef(jni, class);
    return offset < FIELD_MOST ? offset : 0;
}

/* A StackChunk has its stack behind its fields, one of which says how many words that is. */
static bool find_java_fields(JNIEnv *jni, struct eden_layout *out)
{
    if (tracer.java_major >= JAVA_CONTINUATIONS)
        out->chunk_words = java_field(jni, "jdk/internal/vm/StackChunk", "size", "I");
    out->java_id = java_field(jni, "java/lang/Thread", "tid", "J");
    return out->java_id != 0;
}

static bool find_heap(struct eden_layout *out)
{
    return vm_static_field("Universe", "_collectedHeap", &out->collected_heap) &&
           eden_heap() != 0 &&
           vm_field_offset("CollectedHeap", "_total_collections", &out->collections) &&
           (out->heap == EDEN_SERIAL     ? find_serial(out)
            : out->heap == EDEN_PARALLEL ? find_parallel(out)
                                         : find_g1(out));
}

const char *eden_layout_find(JNIEnv *jni)
{
    struct eden_layout *out = &eden_layout;
    *out = (struct eden_layout){.fillers_are_named = tracer.java_major >= JAVA_NAMES_FILLERS};
    if (flag_is_set("UseSerialGC"))
        out->heap = EDEN_SERIAL;
    else if (flag_is_set("UseParallelGC"))
        out->heap = EDEN_PARALLEL;
    else if (flag_is_set("UseG1GC"))
        out->heap = EDEN_G1;
    else
        return "this JVM's collector has no eden that can be walked: G1, Serial and Parallel have";
    if (out->heap == EDEN_PARALLEL && flag_is_set("UseNUMA"))
        return "with -XX:+UseNUMA, Parallel divides eden in a way that is not known";
    if (!find_heap(out))
        return "the JVM does not publish where its eden is";
    if (!find_classes(out))
        return "the JVM does not publish how classes are laid out";
    if (!find_buffers(out) || !find_threads(out))
        return "the JVM does not publish its threads' allocation buffers";
    if (!find_java_fields(jni, out))
        return "java.lang.Thread has no number";
    out->reserve_bytes = find_reserve();
    /* Without room for a filler, a full buffer has none. With ZeroTLAB buffers are closed in all
     * pauses, which no statistics say. */
    out->counts_fillers =
        header_layout.narrow && out->reserve_bytes != 0 && !flag_is_set("ZeroTLAB");
    return NULL;
}
