/* SPDX-License-Identifier: Apache-2.0 */
/* Table of calls whose result is a new object made by the VM, or by code that C2 substitutes for a
 * whole method. If C2 replaces a Java method, the method's own body gets no probes: it runs in the
 * interpreter and in C1's code, but the caller always reports the object. */
#include "agent/rewriter/method_code.h"

#define OBJECT "java/lang/Object"
#define UNSAFE "jdk/internal/misc/Unsafe"
#define ARRAY "java/lang/reflect/Array"
#define ARRAYS "java/util/Arrays"
#define UTF16 "java/lang/StringUTF16"
#define BIG "java/math/BigInteger"
#define THROWABLE "java/lang/Throwable"

static const struct method_row {
    const char *owner, *name, *descriptor;
    enum alloc_call kind;
    bool silent; /* neither array instructions nor calls in its own body get probes */
} rows[] = {
    {OBJECT, "clone", "()Ljava/lang/Object;", ALLOC_CALL_CLONE_OBJECT, false},
    {ARRAYS, "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
     ALLOC_CALL_FRESH, true},
    {ARRAYS, "copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;",
     ALLOC_CALL_FRESH, true},
    {ARRAY, "newInstance", "(Ljava/lang/Class;I)Ljava/lang/Object;", ALLOC_CALL_FRESH, true},
    {ARRAY, "multiNewArray", "(Ljava/lang/Class;[I)Ljava/lang/Object;", ALLOC_CALL_ARRAYS, false},
    {UNSAFE, "allocateInstance", "(Ljava/lang/Class;)Ljava/lang/Object;", ALLOC_CALL_FRESH, false},
    {UNSAFE, "allocateUninitializedArray0", "(Ljava/lang/Class;I)Ljava/lang/Object;",
     ALLOC_CALL_FRESH, true},
    {UTF16, "toBytes", "([CII)[B", ALLOC_CALL_FRESH, true},
    {UTF16, "newBytesFor", "(I)[B", ALLOC_CALL_FRESH, true},
    /* may get an array for its result from multiplyToLen(), its only caller, which may have got it,
     * too */
    {BIG, "implMultiplyToLen", "([II[II[I)[I", ALLOC_CALL_UNLESS, true},
    {"java/lang/NullPointerException", "getExtendedNPEMessage", "()Ljava/lang/String;",
     ALLOC_CALL_STRING, false},
    {THROWABLE, "fillInStackTrace", "(I)Ljava/lang/Throwable;", ALLOC_CALL_TRACE, false},
    {THROWABLE, "fillInStackTrace", "()Ljava/lang/Throwable;", ALLOC_CALL_MESSAGE, false},
    {"java/lang/StringBuilder", "toString", "()Ljava/lang/String;", ALLOC_CALL_KEEP, false},
    {"java/lang/StringBuffer", "toString", "()Ljava/lang/String;", ALLOC_CALL_KEEP, false},
    /* allocates an instance for a constructor to fill */
    {"java/lang/invoke/DirectMethodHandle", "allocateInstance",
     "(Ljava/lang/Object;)Ljava/lang/Object;", ALLOC_CALL_NONE, true},
};

const struct alloc_result alloc_results[] = {
    [ALLOC_CALL_FRESH] = {MARK_ALLOC, PROBE_ALLOC, 0},
    [ALLOC_CALL_CLONE_OBJECT] = {0, PROBE_ALLOC, 0},
    [ALLOC_CALL_CLONE_ARRAY] = {0, PROBE_ALLOC, 0},
    [ALLOC_CALL_STRING] = {MARK_ALLOC, PROBE_ALLOC_STRING, 0},
    [ALLOC_CALL_TRACE] = {MARK_ALLOC, PROBE_ALLOC_TRACE, 0},
    [ALLOC_CALL_UNLESS] = {MARK_VARIABLE, PROBE_ALLOC_UNLESS, 4},
    [ALLOC_CALL_MESSAGE] = {MARK_VARIABLE, PROBE_ALLOC_MESSAGE, 1},
    [ALLOC_CALL_ARRAYS] = {MARK_ARRAYS_CALL, PROBE_ALLOC_ARRAYS, 0},
    [ALLOC_CALL_KEEP] = {MARK_KEEP, PROBE_KEEP, 0},
};

static const struct method_row *find_row(const struct class_callee *callee)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (text_is(callee->name, rows[i].name) && text_is(callee->owner, rows[i].owner) &&
            text_is(callee->descriptor, rows[i].descriptor))
            return &rows[i];
    return NULL;
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
    const struct method_row *row = find_row(&callee);
    return row != NULL ? row->kind : clone_kind(file, &callee);
}

enum alloc_call alloc_call_of(struct class_file *file, uint32_t index)
{
    if (index >= file->constant_count)
        return ALLOC_CALL_UNKNOWN;
    if (file->callee_kinds[index] == ALLOC_CALL_UNKNOWN)
        file->callee_kinds[index] = (uint8_t) find_kind(file, index);
    return file->callee_kinds[index];
}

/* Messages are arguments of Throwable's constructors. */
bool alloc_call_fits(enum alloc_call kind, const struct method_code *method)
{
    uint32_t variable = alloc_results[kind].variable;
    if (kind == ALLOC_CALL_MESSAGE && !(text_is(method->self.owner, THROWABLE) &&
                                        text_is(method->self.descriptor, "(Ljava/lang/String;)V")))
        return false;
    return variable == 0 || method->max_locals > variable;
}

bool alloc_body_is_silent(const struct method_code *method)
{
    const struct method_row *row = find_row(&method->self);
    return row != NULL && row->silent;
}
