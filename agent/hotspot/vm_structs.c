/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the tables that libjvm.so exports for debuggers (gHotSpotVMStructs and others). */
#include "agent/hotspot/vm_structs.h"

#include <dlfcn.h>
#include <string.h>

#define TABLE_END SIZE_MAX

/* An exported table: entries of `stride` bytes, whose members are at exported offsets. */
struct vm_table {
    const char *entries;
    uint64_t stride;
};

static void *libjvm;

static uint64_t exported(const char *name)
{
    const uint64_t *value = dlsym(libjvm, name);
    return value != NULL ? *value : TABLE_END;
}

static const char *vm_structs_text_at(const char *entry, uint64_t offset)
{
    const char *text;
    memcpy(&text, entry + offset, sizeof text);
    return text;
}

/* Returns the entry with these names; the second may be NULL. Not even the layout of an entry is
 * assumed: libjvm.so exports the size of entries and the places of their members, too. What a table
 * does not have is reported by name, and the technique that needs it is refused; nothing is guessed
 * from version numbers. */
static const char *vm_structs_find_entry(const char *table, const char *stride_name,
                                         const char *first_name, const char *first,
                                         const char *second_name, const char *second)
{
    const char *const *entries = dlsym(libjvm, table);
    uint64_t stride = exported(stride_name), at = exported(first_name);
    uint64_t second_at = second != NULL ? exported(second_name) : 0;
    if (entries == NULL || stride == TABLE_END || at == TABLE_END || second_at == TABLE_END)
        return NULL;
    for (const char *entry = *entries; entry != NULL && vm_structs_text_at(entry, at) != NULL;
         entry += stride)
        if (strcmp(vm_structs_text_at(entry, at), first) == 0 &&
            (second == NULL || strcmp(vm_structs_text_at(entry, second_at), second) == 0))
            return entry;
    return NULL;
}

static const char *vm_structs_find_field(const char *type, const char *field)
{
    return vm_structs_find_entry("gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
                                 "gHotSpotVMStructEntryTypeNameOffset", type,
                                 "gHotSpotVMStructEntryFieldNameOffset", field);
}

/* Reads the member of an entry that is at an exported offset. */
static bool read_member(const char *entry, const char *offset_name, void *out, size_t size)
{
    uint64_t offset = exported(offset_name);
    if (entry == NULL || offset == TABLE_END)
        return false;
    memcpy(out, entry + offset, size);
    return true;
}

static bool field_offset(const char *type, const char *field, size_t *out)
{
    return read_member(vm_structs_find_field(type, field), "gHotSpotVMStructEntryOffsetOffset", out,
                       sizeof *out) &&
           *out < 1 << 16;
}

static bool static_field(const char *type, const char *field, const uintptr_t **out)
{
    return read_member(vm_structs_find_field(type, field), "gHotSpotVMStructEntryAddressOffset",
                       out, sizeof *out) &&
           *out != NULL;
}

static bool type_size(const char *type, size_t *out)
{
    const char *entry =
        vm_structs_find_entry("gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
                              "gHotSpotVMTypeEntryTypeNameOffset", type, NULL, NULL);
    return read_member(entry, "gHotSpotVMTypeEntrySizeOffset", out, sizeof *out);
}

static bool int_constant(const char *name, int64_t *out)
{
    int32_t value = 0;
    const char *entry =
        vm_structs_find_entry("gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
                              "gHotSpotVMIntConstantEntryNameOffset", name, NULL, NULL);
    bool read = read_member(entry, "gHotSpotVMIntConstantEntryValueOffset", &value, sizeof value);
    *out = value;
    return read;
}

static bool long_constant(const char *name, uint64_t *out)
{
    const char *entry =
        vm_structs_find_entry("gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
                              "gHotSpotVMLongConstantEntryNameOffset", name, NULL, NULL);
    return read_member(entry, "gHotSpotVMLongConstantEntryValueOffset", out, sizeof *out);
}

/* Reads the fields that have one name in all supported JDKs. */
static bool read_offsets(struct vm_structs *vm, const char **missing)
{
    const struct {
        const char *type, *field;
        size_t *out;
    } fields[] = {
        {"JavaThread", "_anchor", &vm->thread_anchor},
        {"JavaFrameAnchor", "_last_Java_sp", &vm->anchor_sp},
        {"JavaFrameAnchor", "_last_Java_pc", &vm->anchor_pc},
        {"JavaFrameAnchor", "_last_Java_fp", &vm->anchor_fp},
        {"JavaCallWrapper", "_anchor", &vm->wrapper_anchor},
        {"CodeHeap", "_memory", &vm->heap_memory},
        {"CodeHeap", "_segmap", &vm->heap_segments},
        {"CodeHeap", "_log2_segment_size", &vm->heap_log2_segment},
        {"VirtualSpace", "_low", &vm->space_low},
        {"VirtualSpace", "_high", &vm->space_high},
        {"HeapBlock::Header", "_used", &vm->block_used},
        {"GrowableArrayBase", "_len", &vm->array_length},
        {"GrowableArray<int>", "_data", &vm->array_data},
        {"CodeBlob", "_name", &vm->blob_name},
        {"CodeBlob", "_frame_size", &vm->blob_frame_words},
        {"CodeBlob", "_size", &vm->blob_size},
        {"nmethod", "_stub_offset", &vm->nmethod_stub},
        {"nmethod", "_compile_id", &vm->nmethod_compile_id},
        {"nmethod", "_scopes_pcs_offset", &vm->nmethod_pcs},
        {"PcDesc", "_pc_offset", &vm->pc_offset},
        {"PcDesc", "_scope_decode_offset", &vm->pc_scope},
        {"StubQueue", "_stub_buffer", &vm->queue_buffer},
        {"StubQueue", "_buffer_limit", &vm->queue_limit},
        {"Method", "_constMethod", &vm->method_const},
        {"ConstMethod", "_constants", &vm->const_constants},
        {"ConstMethod", "_method_idnum", &vm->const_idnum},
        {"ConstMethod", "_code_size", &vm->const_code_size},
        {"ConstantPool", "_pool_holder", &vm->pool_holder},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        *missing = fields[i].field;
        if (!field_offset(fields[i].type, fields[i].field, fields[i].out))
            return false;
    }
    return true;
}

/* Debugging information inside the nmethod, as in JDK 17. */
static bool read_inner_scopes(struct vm_structs *vm)
{
    return field_offset("CompiledMethod", "_method", &vm->nmethod_method) &&
           field_offset("CompiledMethod", "_scopes_data_begin", &vm->nmethod_scopes) &&
           field_offset("nmethod", "_dependencies_offset", &vm->nmethod_pcs_end) &&
           field_offset("nmethod", "_metadata_offset", &vm->nmethod_metadata) &&
           field_offset("CodeBlob", "_code_begin", &vm->blob_code_begin);
}

/* Debugging information outside the nmethod, as in JDK 25. */
static bool read_outer_scopes(struct vm_structs *vm)
{
    return field_offset("nmethod", "_method", &vm->nmethod_method) &&
           field_offset("nmethod", "_immutable_data", &vm->nmethod_immutable) &&
           field_offset("nmethod", "_immutable_data_size", &vm->nmethod_immutable_size) &&
           field_offset("nmethod", "_scopes_data_offset", &vm->nmethod_scopes) &&
           field_offset("CodeBlob", "_mutable_data", &vm->blob_mutable) &&
           field_offset("CodeBlob", "_mutable_data_size", &vm->blob_mutable_size) &&
           field_offset("CodeBlob", "_relocation_size", &vm->blob_relocation_size) &&
           field_offset("CodeBlob", "_code_offset", &vm->blob_code_offset);
}

static bool read_variants(struct vm_structs *vm, const char **missing)
{
    *missing = "debugging information of compiled code";
    if (!read_inner_scopes(vm) && !read_outer_scopes(vm))
        return false;
    if (!field_offset("JavaThread", "_cont_entry", &vm->thread_continuation))
        vm->thread_continuation = 0;
    return true;
}

static bool read_rest(struct vm_structs *vm, const char **missing)
{
    *missing = "a static field";
    if (!static_field("CodeCache", "_heaps", &vm->heaps) ||
        !static_field("StubRoutines", "_call_stub_return_address", &vm->call_stub_return) ||
        !static_field("AbstractInterpreter", "_code", &vm->interpreter))
        return false;
    *missing = "a size or a constant";
    return type_size("HeapBlock", &vm->block_size) && type_size("PcDesc", &vm->pc_size) &&
           type_size("ConstMethod", &vm->const_size) &&
           int_constant("frame::entry_frame_call_wrapper_offset", &vm->entry_wrapper) &&
           int_constant("frame::interpreter_frame_sender_sp_offset", &vm->interpreted_sender);
}

static bool open_libjvm(void)
{
    if (libjvm == NULL)
        libjvm = dlopen("libjvm.so", RTLD_LAZY | RTLD_NOLOAD);
    return libjvm != NULL;
}

const struct vm_structs *vm_structs_get(const char **missing)
{
    static struct vm_structs vm;
    static bool complete;
    if (complete)
        return &vm;
    *missing = "libjvm.so";
    if (!open_libjvm())
        return NULL;
    complete = read_offsets(&vm, missing) && read_variants(&vm, missing) && read_rest(&vm, missing);
    return complete ? &vm : NULL;
}

/* Reads fields of the archive's header, which exists if the JVM uses an archive. */
static bool vm_structs_read_header(struct vm_archive *vm, uintptr_t info)
{
    size_t header, vtables;
    if (info == 0 || !field_offset("FileMapInfo", "_header", &header) ||
        (!field_offset("FileMapHeader", "_cloned_vtables_offset", &vtables) &&
         !field_offset("FileMapHeader", "_cloned_vtables", &vtables)) ||
        (!field_offset("FileMapHeader", "_regions[0]", &vm->header_regions) &&
         !field_offset("FileMapHeader", "_space[0]", &vm->header_regions)))
        return false;
    vm->header = vm_word(info, header);
    if (vm->header != 0)
        vm->vtables = vm_word(vm->header, vtables);
    return vm->header != 0;
}

bool vm_archive_get(struct vm_archive *vm)
{
    const uintptr_t *base, *top, *info, *object;
    if (!open_libjvm() ||
        (!static_field("MetaspaceObj", "_shared_metaspace_base", &base) &&
         !static_field("MetaspaceObj", "_aot_metaspace_base", &base)) ||
        (!static_field("MetaspaceObj", "_shared_metaspace_top", &top) &&
         !static_field("MetaspaceObj", "_aot_metaspace_top", &top)) ||
        !static_field("FileMapInfo", "_current_info", &info) ||
        !static_field("vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]",
                      &object))
        return false;
    vm->base = *base;
    vm->top = *top;
    vm->object_class = *object;
    return vm->base != 0 && vm_structs_read_header(vm, *info) &&
           type_size("CDSFileMapRegion", &vm->region_size) &&
           field_offset("CDSFileMapRegion", "_mapped_base", &vm->region_base) &&
           field_offset("CDSFileMapRegion", "_used", &vm->region_used) &&
           field_offset("Klass", "_name", &vm->class_name) &&
           field_offset("Symbol", "_length", &vm->symbol_length) &&
           field_offset("Symbol", "_body[0]", &vm->symbol_body);
}

/* The memory of the performance counters, in jvmstat's version 2.0. */
struct counters_head {
    uint32_t magic;
    uint8_t byte_order, major, minor, accessible;
    int32_t used, overflow;
    int64_t changed;
    int32_t entry_offset, entry_count;
};

struct counter_head {
    int32_t length, name_offset, vector_length;
    uint8_t type, flags, units, variability;
    int32_t data_offset;
};

const volatile int64_t *vm_counter(const char *name)
{
    const uintptr_t *memory;
    struct counters_head head;
    if (!open_libjvm() || !static_field("PerfMemory", "_start", &memory) || *memory == 0)
        return NULL;
    uintptr_t start = *memory;
    memcpy(&head, (const void *) start, sizeof head);
    if (head.magic != 0xc0c0feca || head.major != 2)
        return NULL;
    uintptr_t at = start + (size_t) head.entry_offset;
    for (int32_t i = 0; i < head.entry_count; i++) {
        struct counter_head entry;
        memcpy(&entry, (const void *) at, sizeof entry);
        if (entry.length <= 0 || at + (size_t) entry.length > start + (size_t) head.used)
            return NULL;
        if (strcmp((const char *) (at + (size_t) entry.name_offset), name) == 0)
            return entry.type == 'J' && entry.vector_length == 0
                       ? (const volatile int64_t *) (at + (size_t) entry.data_offset)
                       : NULL;
        at += (size_t) entry.length;
    }
    return NULL;
}

void *vm_exported(const char *symbol)
{
    return open_libjvm() ? dlsym(libjvm, symbol) : NULL;
}

const void *vm_flag(const char *name)
{
    const uintptr_t *flags, *count;
    size_t size, name_at, address_at;
    if (!open_libjvm() || !static_field("JVMFlag", "flags", &flags) ||
        !static_field("JVMFlag", "numFlags", &count) || !type_size("JVMFlag", &size) ||
        !field_offset("JVMFlag", "_name", &name_at) ||
        !field_offset("JVMFlag", "_addr", &address_at))
        return NULL;
    for (uintptr_t i = 0; i < *count; i++) {
        uintptr_t flag = *flags + i * size;
        const char *found = (const char *) vm_word(flag, name_at);
        if (found != NULL && strcmp(found, name) == 0)
            return (const void *) vm_word(flag, address_at);
    }
    return NULL;
}

bool vm_argument_given(const char *argument)
{
    const uintptr_t *arguments, *count;
    if (!open_libjvm() || !static_field("Arguments", "_jvm_args_array", &arguments) ||
        !static_field("Arguments", "_num_jvm_args", &count))
        return false;
    for (uint32_t i = 0; *arguments != 0 && i < vm_half((uintptr_t) count, 0); i++)
        if (strcmp((const char *) vm_word(*arguments, i * sizeof(char *)), argument) == 0)
            return true;
    return false;
}

bool vm_field_offset(const char *type, const char *field, size_t *out)
{
    return open_libjvm() && field_offset(type, field, out);
}

bool vm_static_field(const char *type, const char *field, const uintptr_t **out)
{
    return open_libjvm() && static_field(type, field, out);
}

bool vm_int_constant(const char *name, int64_t *out)
{
    return open_libjvm() && int_constant(name, out);
}

bool vm_long_constant(const char *name, uint64_t *out)
{
    return open_libjvm() && long_constant(name, out);
}
