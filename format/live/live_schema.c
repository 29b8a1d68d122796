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
    const char *fields; /* with a blank behind each; `$` a text, `#` an entry of a dictionary */
};

#define EVENT "time thread# "
#define HEAP_EVENT "time thread attributes# "
#define HEAP_REALLOC HEAP_EVENT "heap size address new_address "

static const struct put_record java_records[] = {
    {JAVA_CLASS, "java.Class", "name$ loader "},
    {JAVA_METHOD, "java.Method", "class# name$ descriptor$ modifiers "},
    {JAVA_THREAD, "java.Thread", "name$ flags "},
    {JAVA_FRAME, "java.Frame", "parent# method# line bytecode "},
    {JAVA_VM_START, "java.VMStart", EVENT},
    {JAVA_VM_INIT, "java.VMInit", EVENT},
    {JAVA_VM_DEATH, "java.VMDeath", EVENT},
    {JAVA_CLASS_LOAD, "java.ClassLoad", EVENT "class# "},
    {JAVA_CLASS_EXISTING, "java.ClassExisting", EVENT "class# "},
    {JAVA_THREAD_START, "java.ThreadStart", EVENT},
    {JAVA_THREAD_EXISTING, "java.ThreadExisting", EVENT},
    {JAVA_THREAD_END, "java.ThreadEnd", EVENT},
    {JAVA_OBJECT_ALLOC, "java.ObjectAlloc", EVENT "class# size object "},
    {JAVA_OBJECT_EXISTING, "java.ObjectExisting", EVENT "class# size object "},
    {JAVA_OBJECT_ALLOC_AT, "java.ObjectAllocAt", EVENT "class# size object stack# "},
    {JAVA_OBJECT_FREE, "java.ObjectFree", EVENT "object "},
    {JAVA_METHOD_ENTRY, "java.MethodEntry", EVENT "method# object "},
    {JAVA_METHOD_EXIT, "java.MethodExit", EVENT "method# "},
    {JAVA_FRAME_POP, "java.FramePop", EVENT "method# "},
    {JAVA_NOT_PROBED, "java.NotProbed", EVENT "class$ method$ descriptor$ reason$ missing "},
    {JAVA_METHOD_COUNT, "java.MethodCount", EVENT "method# calls exceptions inclusive exclusive "},
};

static const struct put_record heap_records[] = {
    {HEAP_THREAD_CREATE, "heap.ThreadCreate", HEAP_EVENT},
    {HEAP_THREAD_DESTROY, "heap.ThreadDestroy", HEAP_EVENT},
    {HEAP_ALLOC, "heap.Alloc", HEAP_EVENT "heap size address "},
    {HEAP_FREE, "heap.Free", HEAP_EVENT "heap address "},
    {HEAP_REALLOC_IN_PLACE, "heap.ReallocInPlace", HEAP_REALLOC},
    {HEAP_REALLOC_MOVE, "heap.ReallocMove", HEAP_REALLOC},
    {HEAP_REALLOC_ALLOC, "heap.ReallocAlloc", HEAP_REALLOC},
    {HEAP_REALLOC_FREE, "heap.ReallocFree", HEAP_REALLOC},
};

/* How it is encoded does not matter. */
static char kind_of(const struct step_field *field)
{
    if (field->array_depth > 0 || step_field_is_variant(field))
        return '?';
    if (step_field_is_identifier(field))
        return field->kind == STEP_TYPE_RECORD ? '#' : '?';
    return field->kind == STEP_TYPE_INT ? ' ' : field->kind == STEP_TYPE_STRING ? '$' : '?';
}

static bool has_fields(const struct step_record *record, const char *fields)
{
    size_t i = 0;
    for (; i < record->field_count && *fields != '\0'; i++) {
        size_t length = strcspn(fields, " #$");
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
        return all_fit(heap_records, sizeof heap_records / sizeof heap_records[0], theirs);
    default:
        return false;
    }
}
