/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records that the decoders put, as the definition of a trace must have them.  (That of this
 * program is not asked: who links the library with code of their own for java.step has another.)
 */
#include "format/live/live_schema.h"

#include <string.h>

#include "steptrace/hatf_trace.h"
#include "steptrace/java_trace.h"

struct put_record {
    uint32_t number;
    const char *name;
    const char *fields; /* with a blank behind each; `$` a text, `*` bytes, `#` an entry of a
                         * dictionary */
};

#define EVENT "time thread# "
#define STEP_HEAP_EVENT "time thread attributes# "
#define STEP_HEAP_REALLOC STEP_HEAP_EVENT "heap size address new_address "

static const struct put_record java_records[] = {
    {STEP_JAVA_CLASS, "java.Class", "name$ loader "},
    {STEP_JAVA_METHOD, "java.Method", "class# name$ descriptor$ modifiers "},
    {STEP_JAVA_THREAD, "java.Thread", "name$ flags "},
    {STEP_JAVA_FRAME, "java.Frame", "parent# method# line bytecode "},
    {STEP_JAVA_VM_START, "java.VMStart", EVENT},
    {STEP_JAVA_VM_INIT, "java.VMInit", EVENT},
    {STEP_JAVA_VM_DEATH, "java.VMDeath", EVENT},
    {STEP_JAVA_CLASS_LOAD, "java.ClassLoad", EVENT "class# "},
    {STEP_JAVA_CLASS_EXISTING, "java.ClassExisting", EVENT "class# "},
    {STEP_JAVA_THREAD_START, "java.ThreadStart", EVENT},
    {STEP_JAVA_THREAD_EXISTING, "java.ThreadExisting", EVENT},
    {STEP_JAVA_THREAD_END, "java.ThreadEnd", EVENT},
    {STEP_JAVA_OBJECT_ALLOC, "java.ObjectAlloc", EVENT "class# size object "},
    {STEP_JAVA_OBJECT_EXISTING, "java.ObjectExisting", EVENT "class# size object "},
    {STEP_JAVA_OBJECT_ALLOC_AT, "java.ObjectAllocAt", EVENT "class# size object stack# "},
    {STEP_JAVA_OBJECT_FREE, "java.ObjectFree", EVENT "object "},
    {STEP_JAVA_METHOD_ENTRY, "java.MethodEntry", EVENT "method# object "},
    {STEP_JAVA_METHOD_EXIT, "java.MethodExit", EVENT "method# "},
    {STEP_JAVA_FRAME_POP, "java.FramePop", EVENT "method# "},
    {STEP_JAVA_NOT_PROBED, "java.NotProbed", EVENT "class$ method$ descriptor$ reason$ missing "},
    {STEP_JAVA_METHOD_COUNT, "java.MethodCount",
     EVENT "method# calls exceptions inclusive exclusive "},
    {STEP_JAVA_FIELD, "java.Field", "class# name$ descriptor$ modifiers "},
    {STEP_JAVA_FIELD_STORE, "java.FieldStore", EVENT "holder target field# "},
    {STEP_JAVA_ELEMENT_STORE, "java.ElementStore", EVENT "holder target index "},
    {STEP_JAVA_RANGE_STORE, "java.RangeStore", EVENT "source source_index holder index length "},
    {STEP_JAVA_CLONE_STORE, "java.CloneStore", EVENT "source holder "},
    {STEP_JAVA_SNAPSHOT, "java.Snapshot", EVENT "number reason$ "},
    {STEP_JAVA_ROOT, "java.Root", EVENT "target kind owner# method# depth "},
    {STEP_JAVA_FIELD_REFERENCE, "java.FieldReference", EVENT "holder target field# "},
    {STEP_JAVA_ELEMENT_REFERENCE, "java.ElementReference", EVENT "holder target index "},
    {STEP_JAVA_OTHER_REFERENCE, "java.OtherReference", EVENT "holder target kind "},
    {STEP_JAVA_SNAPSHOT_END, "java.SnapshotEnd", EVENT "number objects references roots unknown "},
};

static const struct put_record alloc_records[] = {
    {STEP_HEAP_ATTRIBUTES, "heap.Attributes", "value* "},
    {STEP_HEAP_THREAD_CREATE, "heap.ThreadCreate", STEP_HEAP_EVENT},
    {STEP_HEAP_THREAD_DESTROY, "heap.ThreadDestroy", STEP_HEAP_EVENT},
    {STEP_HEAP_HEAP_CREATE, "heap.HeapCreate", STEP_HEAP_EVENT "heap "},
    {STEP_HEAP_HEAP_DESTROY, "heap.HeapDestroy", STEP_HEAP_EVENT "heap "},
    {STEP_HEAP_ALLOC, "heap.Alloc", STEP_HEAP_EVENT "heap size address "},
    {STEP_HEAP_FREE, "heap.Free", STEP_HEAP_EVENT "heap address "},
    {STEP_HEAP_REALLOC_IN_PLACE, "heap.ReallocInPlace", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_MOVE, "heap.ReallocMove", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_ALLOC, "heap.ReallocAlloc", STEP_HEAP_REALLOC},
    {STEP_HEAP_REALLOC_FREE, "heap.ReallocFree", STEP_HEAP_REALLOC},
};

/* How it is encoded does not matter. */
static char kind_of(const struct step_field *field)
{
    if (field->array_depth > 0 || step_field_is_variant(field))
        return '?';
    if (step_field_is_identifier(field))
        return field->kind == STEP_TYPE_RECORD ? '#' : '?';
    static const char kinds[] = {[STEP_TYPE_INT] = ' ',
                                 [STEP_TYPE_STRING] = '$',
                                 [STEP_TYPE_DATA] = '*',
                                 [STEP_TYPE_RECORD] = '?'};
    return kinds[field->kind];
}

static bool has_fields(const struct step_record *record, const char *fields)
{
    size_t i = 0;
    for (; i < record->field_count && *fields != '\0'; i++) {
        size_t length = strcspn(fields, " #$*");
        const struct step_field *field = &record->fields[i];
        if (strlen(field->name) != length || memcmp(field->name, fields, length) != 0 ||
            kind_of(field) != fields[length])
            return false;
        fields += length + (fields[length] != ' ') + 1;
    }
    return i == record->field_count && *fields == '\0';
}

static bool all_fit(const struct put_record *rows, size_t count,
                    const struct step_definition *theirs)
{
    bool fits = true;
    for (size_t i = 0; fits && i < count; i++) {
        if (rows[i].number >= theirs->record_count)
            continue; /* an older one: the writer refuses such records */
        const struct step_record *record = &theirs->records[rows[i].number];
        fits = strcmp(record->name, rows[i].name) == 0 && has_fields(record, rows[i].fields);
    }
    return fits;
}

bool live_schema_fits(uint64_t kind, const struct step_definition *theirs)
{
    switch (kind) {
    case STEP_LIVE_DEFINITION_JAVA:
        return all_fit(java_records, sizeof java_records / sizeof java_records[0], theirs);
    case STEP_LIVE_DEFINITION_HEAP:
        return all_fit(alloc_records, sizeof alloc_records / sizeof alloc_records[0], theirs);
    default:
        return false;
    }
}
