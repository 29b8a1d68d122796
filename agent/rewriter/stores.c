/* SPDX-License-Identifier: Apache-2.0 */
/* Selects instructions and calls that store references, and writes the code around them. */
#include "agent/rewriter/stores.h"

#define ICONST_0 0x03
#define ALOAD_0 0x2A
#define AASTORE 0x53
#define DUP 0x59
#define DUP2 0x5C
#define GETFIELD 0xB4
#define PUTSTATIC 0xB3
#define PUTFIELD 0xB5
#define INVOKEVIRTUAL 0xB6
#define INVOKESTATIC 0xB8
#define CALL_BYTES 3u

#define UNSAFE "jdk/internal/misc/Unsafe"
#define METHOD_HANDLES "java/lang/invoke/MethodHandleNatives"
#define TRACE_ELEMENT "java/lang/StackTraceElement"

enum { ZERO = -1 }; /* in place of an argument */

/* Kinds of arguments that are saved: a reference, an int, a long; and the probe's arguments. */
static const struct store_call {
    const char *owner, *name, *descriptor; /* name NULL: any */
    uint8_t opcode;
    const char *arguments; /* including the receiver */
    enum probe probe;
    bool result; /* the result is the probe's first argument */
    int8_t passed[5];
    uint8_t passed_count;
} calls[] = {
    {"java/lang/System",
     "arraycopy",
     "(Ljava/lang/Object;ILjava/lang/Object;II)V",
     INVOKESTATIC,
     "aiaii",
     PROBE_COPIED,
     false,
     {0, 1, 2, 3, 4},
     5},
    {"java/util/Arrays",
     "copyOf",
     "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
     INVOKESTATIC,
     "aia",
     PROBE_STORE_COPY,
     true,
     {0, ZERO},
     2},
    {"java/util/Arrays",
     "copyOfRange",
     "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;",
     INVOKESTATIC,
     "aiia",
     PROBE_STORE_COPY,
     true,
     {0, 1},
     2},
    /* put..., getAndSet..., (weak)compareAndSet..., compareAndExchange... */
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Object;)V",
     INVOKEVIRTUAL,
     "aala",
     PROBE_STORE_OFFSET,
     false,
     {1, 2, 3},
     3},
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL,
     "aala",
     PROBE_STORE_OFFSET,
     false,
     {1, 2, 3},
     3},
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;)Z",
     INVOKEVIRTUAL,
     "aalaa",
     PROBE_STORE_SET,
     true,
     {1, 2, 4},
     3},
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL,
     "aalaa",
     PROBE_STORE_EXCHANGED,
     true,
     {3, 1, 2, 4},
     4},
    /* the same of fields that value classes may have (JDK 28), with the field's class */
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL,
     "aalaa",
     PROBE_STORE_OFFSET,
     false,
     {1, 2, 4},
     3},
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;Ljava/lang/Object;)Z",
     INVOKEVIRTUAL,
     "aalaaa",
     PROBE_STORE_SET,
     true,
     {1, 2, 5},
     3},
    {UNSAFE,
     NULL,
     "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL,
     "aalaaa",
     PROBE_STORE_EXCHANGED,
     true,
     {4, 1, 2, 5},
     4},
    /* native methods of the JVM that store into what they are given */
    {METHOD_HANDLES,
     "init",
     "(Ljava/lang/invoke/MemberName;Ljava/lang/Object;)V",
     INVOKESTATIC,
     "aa",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {METHOD_HANDLES,
     "expand",
     "(Ljava/lang/invoke/MemberName;)V",
     INVOKESTATIC,
     "a",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {METHOD_HANDLES,
     "resolve",
     "(Ljava/lang/invoke/MemberName;Ljava/lang/Class;IZ)Ljava/lang/invoke/MemberName;",
     INVOKESTATIC,
     "aaii",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {METHOD_HANDLES,
     NULL,
     "(Ljava/lang/invoke/CallSite;Ljava/lang/invoke/MethodHandle;)V",
     INVOKESTATIC,
     "aa",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {METHOD_HANDLES,
     "copyOutBootstrapArguments",
     "(Ljava/lang/Class;[III[Ljava/lang/Object;IZLjava/lang/Object;)V",
     INVOKESTATIC,
     "aaiiaiia",
     PROBE_STORES_OF,
     false,
     {4},
     1},
    {TRACE_ELEMENT,
     "initStackTraceElements",
     "([Ljava/lang/StackTraceElement;Ljava/lang/Throwable;)V",
     INVOKESTATIC,
     "aa",
     PROBE_STORES_OF_ELEMENTS,
     false,
     {0},
     1},
    {TRACE_ELEMENT,
     "initStackTraceElements",
     "([Ljava/lang/StackTraceElement;Ljava/lang/Object;I)V",
     INVOKESTATIC,
     "aai",
     PROBE_STORES_OF_ELEMENTS,
     false,
     {0},
     1},
    {TRACE_ELEMENT,
     "initStackTraceElement",
     "(Ljava/lang/StackTraceElement;Ljava/lang/StackFrameInfo;)V",
     INVOKESTATIC,
     "aa",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {"java/lang/Class",
     "initClassName",
     "()Ljava/lang/String;",
     INVOKEVIRTUAL,
     "a",
     PROBE_STORES_OF,
     false,
     {0},
     1},
    {"jdk/internal/misc/CDS",
     "initializeFromArchive",
     "(Ljava/lang/Class;)V",
     INVOKESTATIC,
     "a",
     PROBE_STORES_OF_STATICS,
     false,
     {0},
     1},
};

/* Kind of a member constant; unknown until it is looked up. */
enum { NOT_LOOKED_AT, NO_STORE, A_STORE };

static uint32_t operand(const struct method_code *method, uint32_t offset)
{
    return load_u2(method->code + offset + 1);
}

static struct store_site *site_of(const struct method_code *method, uint32_t offset)
{
    return &method->file->stores[operand(method, offset)];
}

static uint32_t opcode_at(const struct method_code *method, uint32_t offset)
{
    return method->code[offset];
}

static bool look_at_field(struct method_code *method, uint32_t index, bool is_static,
                          struct store_site *site)
{
    struct class_file *file = method->file;
    struct class_callee field;
    if (!pool_field(file, index, &field))
        return false;
    site->kind = NO_STORE;
    if (field.descriptor.length == 0 ||
        (field.descriptor.bytes[0] != 'L' && field.descriptor.bytes[0] != '['))
        return true;
    const struct rewrite_request *request = file->request;
    char *names[3] = {class_text_copy(file, field.owner), class_text_copy(file, field.name),
                      class_text_copy(file, field.descriptor)};
    if (names[0] == NULL || names[1] == NULL || names[2] == NULL)
        return method_no_memory(method);
    uint32_t number =
        request->field_number != NULL
            ? request->field_number(request->context, names[0], names[1], names[2], is_static)
            : 0;
    site->kind = A_STORE;
    return pool_push(file, number, &site->push);
}

static bool sites(struct method_code *method)
{
    struct class_file *file = method->file;
    if (file->stores != NULL)
        return true;
    size_t bytes = file->constant_count * sizeof *file->stores;
    file->stores = arena_take(&file->arena, bytes);
    if (file->stores == NULL)
        return method_no_memory(method);
    memset(file->stores, 0, bytes);
    return true;
}

static bool mark_field(struct method_code *method, uint32_t offset)
{
    uint32_t index = operand(method, offset);
    if (index >= method->file->constant_count)
        return method_malformed(method, offset, "an index of a member is none");
    struct store_site *site = &method->file->stores[index];
    if (site->kind == NOT_LOOKED_AT &&
        !look_at_field(method, index, opcode_at(method, offset) == PUTSTATIC, site))
        return false;
    if (site->kind == A_STORE)
        method->marks[offset] |= MARK_STORE;
    method->stores_fields |= site->kind == A_STORE && opcode_at(method, offset) == PUTFIELD;
    return true;
}

/* Returns the index in the table plus one; 0: the call does not store. */
static uint8_t call_of(const struct class_callee *callee)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (text_is(callee->descriptor, calls[i].descriptor) &&
            text_is(callee->owner, calls[i].owner) &&
            (calls[i].name == NULL || text_is(callee->name, calls[i].name)))
            return (uint8_t) (i + 1);
    return 0;
}

/* Unsafe's own methods call each other, and C2 substitutes its own code for them: their callers
 * report the store. */
static bool mark_call(struct method_code *method, uint32_t offset)
{
    struct class_file *file = method->file;
    struct class_callee callee;
    uint32_t index = operand(method, offset);
    if (index >= file->constant_count || !pool_callee(file, index, &callee))
        return method_malformed(method, offset, "a call of what is no method");
    struct store_site *site = &file->stores[index];
    if (site->kind == NOT_LOOKED_AT) {
        site->call = text_is(file->name, UNSAFE) ? 0 : call_of(&callee);
        site->kind = site->call != 0 ? A_STORE : NO_STORE;
    }
    if (site->kind == A_STORE && calls[site->call - 1].opcode == opcode_at(method, offset))
        method->marks[offset] |= MARK_STORE_CALL;
    return true;
}

static uint32_t argument_slots(const char *arguments, uint32_t count)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; i++)
        slots += arguments[i] == 'l' ? 2 : 1;
    return slots;
}

static const struct store_call *call_at(const struct method_code *method, uint32_t offset)
{
    return &calls[site_of(method, offset)->call - 1];
}

static bool want_locals(struct method_code *method, uint32_t count)
{
    if (count > method->more_locals)
        method->more_locals = count;
    return method->max_locals + count <= 0xFFFF ||
           method_leave(method, "it would have more than 65535 local variables");
}

bool store_mark(struct method_code *method, uint32_t offset)
{
    uint32_t opcode = opcode_at(method, offset);
    if (!sites(method))
        return false;
    if (opcode == AASTORE) {
        method->marks[offset] |= MARK_STORE;
        return want_locals(method, 1);
    }
    if (opcode == PUTFIELD || opcode == PUTSTATIC)
        return mark_field(method, offset);
    if (opcode != INVOKEVIRTUAL && opcode != INVOKESTATIC)
        return true;
    if (!mark_call(method, offset))
        return false;
    if ((method->marks[offset] & MARK_STORE_CALL) == 0)
        return true;
    const char *arguments = call_at(method, offset)->arguments;
    return want_locals(method, argument_slots(arguments, (uint32_t) strlen(arguments)));
}

bool store_is_early(struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_STORE) == 0)
        return true;
    method->marks[offset] &= ~(uint32_t) MARK_STORE;
    uint32_t index = operand(method, offset);
    for (const struct early_store *known = method->early; known != NULL; known = known->next)
        if (known->index == index)
            return true;
    struct early_store *early = arena_take(&method->file->arena, sizeof *early);
    if (early == NULL)
        return method_no_memory(method);
    *early = (struct early_store){method->early, index};
    method->early = early;
    return true;
}

/* Returns the variable in which argument number i is saved. */
static uint32_t argument_variable(const struct method_code *method, const struct store_call *call,
                                  uint32_t i)
{
    return method->max_locals + argument_slots(call->arguments, i);
}

static void put_argument(struct method_code *method, const struct store_call *call, uint32_t i,
                         bool load)
{
    uint32_t kind = call->arguments[i] == 'a' ? 4 : call->arguments[i] == 'l' ? 1 : 0;
    code_put_variable(&method->file->output, (load ? 0x15u : 0x36u) + kind,
                      (load ? 0x1Au : 0x3Bu) + 4 * kind, argument_variable(method, call, i));
}

static uint32_t call_bytes_before(const struct method_code *method, const struct store_call *call)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; call->arguments[i] != '\0'; i++)
        bytes += 2 * variable_bytes(argument_variable(method, call, i));
    return bytes;
}

static uint32_t call_bytes_after(const struct method_code *method, const struct store_call *call)
{
    uint32_t bytes = CALL_BYTES + call->result;
    for (uint32_t i = 0; i < call->passed_count; i++)
        bytes += call->passed[i] == ZERO
                     ? 1
                     : variable_bytes(argument_variable(method, call, (uint32_t) call->passed[i]));
    return bytes;
}

uint32_t store_bytes_before(const struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_STORE_CALL) != 0)
        return call_bytes_before(method, call_at(method, offset));
    if ((method->marks[offset] & MARK_STORE) == 0)
        return 0;
    return opcode_at(method, offset) == AASTORE ? 1 + 2 * variable_bytes(method->max_locals) : 1;
}

uint32_t store_bytes_after(const struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_STORE_CALL) != 0)
        return call_bytes_after(method, call_at(method, offset));
    if ((method->marks[offset] & MARK_STORE) == 0)
        return 0;
    return CALL_BYTES + (opcode_at(method, offset) == AASTORE ? variable_bytes(method->max_locals)
                                                              : site_of(method, offset)->push.size);
}

void store_put_before(struct method_code *method, uint32_t offset)
{
    struct class_output *output = &method->file->output;
    if ((method->marks[offset] & MARK_STORE_CALL) != 0) {
        const struct store_call *call = call_at(method, offset);
        for (uint32_t i = (uint32_t) strlen(call->arguments); i-- > 0;)
            put_argument(method, call, i, false);
        for (uint32_t i = 0; call->arguments[i] != '\0'; i++)
            put_argument(method, call, i, true);
    } else if ((method->marks[offset] & MARK_STORE) != 0 && opcode_at(method, offset) == AASTORE) {
        code_put_variable(output, 0x3A, 0x4B, method->max_locals);
        put_u1(output, DUP2);
        code_put_variable(output, 0x19, ALOAD_0, method->max_locals);
    } else if ((method->marks[offset] & MARK_STORE) != 0) {
        put_u1(output, opcode_at(method, offset) == PUTSTATIC ? DUP : DUP2);
    }
}

static bool put_call_after(struct method_code *method, const struct store_call *call)
{
    if (call->result)
        put_u1(&method->file->output, DUP);
    for (uint32_t i = 0; i < call->passed_count; i++) {
        if (call->passed[i] == ZERO)
            put_u1(&method->file->output, ICONST_0);
        else
            put_argument(method, call, (uint32_t) call->passed[i], true);
    }
    return code_put_call(method, call->probe);
}

bool store_put_after(struct method_code *method, uint32_t offset)
{
    struct class_output *output = &method->file->output;
    if ((method->marks[offset] & MARK_STORE_CALL) != 0)
        return put_call_after(method, call_at(method, offset));
    if ((method->marks[offset] & MARK_STORE) == 0)
        return true;
    if (opcode_at(method, offset) == AASTORE) {
        code_put_variable(output, 0x19, ALOAD_0, method->max_locals);
        return code_put_call(method, PROBE_STORE_ELEMENT);
    }
    const struct code_push *push = &site_of(method, offset)->push;
    put_bytes(output, push->bytes, push->size);
    return code_put_call(method, opcode_at(method, offset) == PUTSTATIC ? PROBE_STORE_STATIC
                                                                        : PROBE_STORE_FIELD);
}

/* aload_0; dup; getfield; push n; storeField */
uint32_t store_early_bytes(const struct method_code *method)
{
    uint32_t bytes = 0;
    for (const struct early_store *early = method->early; early != NULL; early = early->next)
        bytes += 5 + method->file->stores[early->index].push.size + CALL_BYTES;
    return bytes;
}

bool store_put_early(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    for (const struct early_store *early = method->early; early != NULL; early = early->next) {
        const struct code_push *push = &method->file->stores[early->index].push;
        put_u1(output, ALOAD_0);
        put_u1(output, DUP);
        put_u1(output, GETFIELD);
        put_u2(output, early->index);
        put_bytes(output, push->bytes, push->size);
        if (!code_put_call(method, PROBE_STORE_FIELD))
            return false;
    }
    return true;
}
