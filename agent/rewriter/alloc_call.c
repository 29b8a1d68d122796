/* SPDX-License-Identifier: Apache-2.0 */
/* Table of calls whose result is a new object made by the VM, or by code that C2 substitutes for a
 * whole method. If C2 replaces a Java method, the method's own body gets no probes: it runs in the
 * interpreter and in C1's code, but the caller always reports the object. */
#include "agent/rewriter/alloc_call.h"

#define OBJECT "java/lang/Object"
#define UNSAFE "jdk/internal/misc/Unsafe"
#define ARRAY "java/lang/reflect/Array"
#define ARRAYS "java/util/Arrays"
#define UTF16 "java/lang/StringUTF16"
#define BIG "java/math/BigInteger"
#define THROWABLE "java/lang/Throwable"

struct method_row {
    const char *owner, *name, *descriptor;
    enum alloc_call kind;
};

static const struct method_row calls[] = {
    {OBJECT, "clone", "()Ljava/lang/Object;", ALLOC_CALL_CLONE_OBJECT},
    {ARRAYS, "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
     ALLOC_CALL_FRESH},
    {ARRAYS, "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;",
     ALLOC_CALL_FRESH},
    {ARRAY, "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", ALLOC_CALL_FRESH},
    {ARRAY, "multiNewArray", "(Ljava/lang/Class;[I)Ljava/lang/Object;", ALLOC_CALL_ARRAYS},
    {UNSAFE, "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", ALLOC_CALL_FRESH},
    {UNSAFE, "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;",
     ALLOC_CALL_FRESH},
    {UTF16, "toBytes", "([CII)[B", ALLOC_CALL_FRESH},
    {UTF16, "newBytesFor", "(I)[B", ALLOC_CALL_FRESH},
    /* may get an array for its result from multiplyToLen(), its only caller, which may have got it,
     * too */
    {BIG, "implMultiplyToLen", "([II[II[I)[I", ALLOC_CALL_UNLESS},
    {"java/lang/NullPointerException", "getExtendedNPEMessage", "()Ljava/lang/String;",
     ALLOC_CALL_STRING},
    {THROWABLE, "fillInStackTrace", "(I)Ljava/lang/Throwable;", ALLOC_CALL_TRACE},
    {THROWABLE, "fillInStackTrace", "()Ljava/lang/Throwable;", ALLOC_CALL_MESSAGE},
    {"java/lang/StringBuilder", "toString", "()Ljava/lang/String;", ALLOC_CALL_KEEP},
    {"java/lang/StringBuffer", "toString", "()Ljava/lang/String;", ALLOC_CALL_KEEP},
};

/* Bodies in which neither array instructions nor calls get probes. */
static const struct method_row silent[] = {
    {ARRAYS, "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;", 0},
    {ARRAYS, "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", 0},
    {ARRAY, "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", 0},
    {UNSAFE, "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;", 0},
    {UTF16, "toBytes", "([CII)[B", 0},
    {UTF16, "newBytesFor", "(I)[B", 0},
    {BIG, "implMultiplyToLen", "([II[II[I)[I", 0},
    /* these allocate an instance for a constructor to fill */
    {"java/lang/invoke/DirectMethodHandle", "allocateInstance",
     "(Ljava/lang/Object;)Ljava/lang/Object;", 0},
};

static bool row_is(const struct method_row *row, struct class_text owner, struct class_text name,
                   struct class_text descriptor)
{
    return text_is(name, row->name) && text_is(owner, row->owner) &&
           text_is(descriptor, row->descriptor);
}

/* clone() of any class: arrays have no such method; for other classes only the JVM knows. */
static enum alloc_call clone_kind(const struct class_file *file, const struct class_callee *callee)
{
    if (!text_is(callee->name, "clone") || !text_is(callee->descriptor, "()Ljava/lang/Object;"))
        return ALLOC_CALL_NONE;
    bool array = callee->owner.length > 0 && callee->owner.bytes[0] == '[';
    bool own = callee->owner.length == file->name.length &&
               memcmp(callee->owner.bytes, file->name.bytes, file->name.length) == 0;
    return array ? ALLOC_CALL_CLONE_ARRAY : own ? ALLOC_CALL_CLONE_OWN : ALLOC_CALL_CLONE;
}

static enum alloc_call find_kind(struct class_file *file, uint32_t index)
{
    struct class_callee callee;
    if (!pool_callee(file, index, &callee))
        return ALLOC_CALL_UNKNOWN;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (row_is(&calls[i], callee.owner, callee.name, callee.descriptor))
            return calls[i].kind;
    }
    return clone_kind(file, &callee);
}

enum alloc_call alloc_call_of(struct class_file *file, uint32_t index)
{
    if (index >= file->constant_count)
        return ALLOC_CALL_UNKNOWN;
    if (file->callee_kinds[index] == ALLOC_CALL_UNKNOWN)
        file->callee_kinds[index] = (uint8_t) find_kind(file, index);
    return file->callee_kinds[index];
}

enum probe alloc_call_probe(enum alloc_call kind)
{
    switch (kind) {
    case ALLOC_CALL_STRING:
        return PROBE_ALLOC_STRING;
    case ALLOC_CALL_TRACE:
        return PROBE_ALLOC_TRACE;
    case ALLOC_CALL_UNLESS:
        return PROBE_ALLOC_UNLESS;
    case ALLOC_CALL_MESSAGE:
        return PROBE_ALLOC_MESSAGE;
    default:
        return PROBE_ALLOC;
    }
}

uint32_t alloc_call_variable(enum alloc_call kind)
{
    return kind == ALLOC_CALL_UNLESS ? 4 : kind == ALLOC_CALL_MESSAGE ? 1 : 0;
}

/* Messages are arguments of Throwable's constructors. */
bool alloc_call_fits(enum alloc_call kind, const struct class_file *file,
                     struct class_text descriptor, uint32_t max_locals)
{
    uint32_t variable = alloc_call_variable(kind);
    if (kind == ALLOC_CALL_MESSAGE &&
        !(text_is(file->name, THROWABLE) && text_is(descriptor, "(Ljava/lang/String;)V")))
        return false;
    return variable == 0 || max_locals > variable;
}

bool alloc_body_is_silent(const struct class_file *file, struct class_text name,
                          struct class_text descriptor)
{
    for (size_t i = 0; i < sizeof silent / sizeof silent[0]; i++) {
        if (row_is(&silent[i], file->name, name, descriptor))
            return true;
    }
    return false;
}
