/* SPDX-License-Identifier: Apache-2.0 */
/* Selects instructions and calls that store references, and writes the code around them. */
#include "agent/rewriter/method_code.h"

#define UNSAFE "jdk/internal/misc/Unsafe"
#define METHOD_HANDLES "java/lang/invoke/MethodHandleNatives"
#define TRACE_ELEMENT "java/lang/StackTraceElement"

/* `passed` has the probe's arguments: the number of an argument of the call, of which the receiver
 * is the first, r: the result, z: 0. */
static const struct store_call {
    const char *owner, *name, *descriptor; /* name NULL: any */
    uint8_t opcode;
    enum probe probe;
    const char *passed;
} calls[] = {
    {"java/lang/System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V", INVOKESTATIC,
     PROBE_COPIED, "01234"},
    {"java/util/Arrays", "copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
     INVOKESTATIC, PROBE_STORE_COPY, "r0z"},
    {"java/util/Arrays", "copyOfRange",
     "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;", INVOKESTATIC, PROBE_STORE_COPY,
     "r01"},
    /* put..., getAndSet..., (weak)compareAndSet..., compareAndExchange... */
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Object;)V", INVOKEVIRTUAL, PROBE_STORE_OFFSET,
     "123"},
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Object;)Ljava/lang/Object;", INVOKEVIRTUAL,
     PROBE_STORE_OFFSET, "123"},
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;)Z", INVOKEVIRTUAL,
     PROBE_STORE_SET, "r124"},
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL, PROBE_STORE_EXCHANGED, "r3124"},
    /* the same of fields that value classes may have (JDK 28), with the field's class */
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL, PROBE_STORE_OFFSET, "124"},
    {UNSAFE, NULL, "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;Ljava/lang/Object;)Z",
     INVOKEVIRTUAL, PROBE_STORE_SET, "r125"},
    {UNSAFE, NULL,
     "(Ljava/lang/Object;JLjava/lang/Class;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
     INVOKEVIRTUAL, PROBE_STORE_EXCHANGED, "r4125"},
    /* native methods of the JVM that store into what they are given */
    {METHOD_HANDLES, "init", "(Ljava/lang/invoke/MemberName;Ljava/lang/Object;)V", INVOKESTATIC,
     PROBE_STORES_OF, "0"},
    {METHOD_HANDLES, "expand", "(Ljava/lang/invoke/MemberName;)V", INVOKESTATIC, PROBE_STORES_OF,
     "0"},
    {METHOD_HANDLES, "resolve",
     "(Ljava/lang/invoke/MemberName;Ljava/lang/Class;IZ)Ljava/lang/invoke/MemberName;",
     INVOKESTATIC, PROBE_STORES_OF, "0"},
    {METHOD_HANDLES, NULL, "(Ljava/lang/invoke/CallSite;Ljava/lang/invoke/MethodHandle;)V",
     INVOKESTATIC, PROBE_STORES_OF, "0"},
    {METHOD_HANDLES, "copyOutBootstrapArguments",
     "(Ljava/lang/Class;[III[Ljava/lang/Object;IZLjava/lang/Object;)V", INVOKESTATIC,
     PROBE_STORES_OF, "4"},
    {TRACE_ELEMENT, "initStackTraceElements",
     "([Ljava/lang/StackTraceElement;Ljava/lang/Throwable;)V", INVOKESTATIC,
     PROBE_STORES_OF_ELEMENTS, "0"},
    {TRACE_ELEMENT, "initStackTraceElements",
     "([Ljava/lang/StackTraceElement;Ljava/lang/Object;I)V", INVOKESTATIC, PROBE_STORES_OF_ELEMENTS,
     "0"},
    {TRACE_ELEMENT, "initStackTraceElement",
     "(Ljava/lang/StackTraceElement;Ljava/lang/StackFrameInfo;)V", INVOKESTATIC, PROBE_STORES_OF,
     "0"},
    {"java/lang/Class", "initClassName", "()Ljava/lang/String;", INVOKEVIRTUAL, PROBE_STORES_OF,
     "0"},
    {"jdk/internal/misc/CDS", "initializeFromArchive", "(Ljava/lang/Class;)V", INVOKESTATIC,
     PROBE_STORES_OF_STATICS, "0"},
};

/* Kind of a member constant; unknown until it is looked up. */
enum { NOT_LOOKED_AT, NO_STORE, A_STORE };

static uint32_t operand(const struct method_code *method, uint32_t offset)
{
    return load_u2(method->code + offset + 1);
}

static struct store_site *stores_site_of(const struct method_code *method, uint32_t offset)
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
    char *names[3];
    if (!callee_texts(file, &field, names))
        return false;
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
    file->stores = step_arena_zeroed(&file->arena, file->constant_count * sizeof *file->stores);
    return file->stores != NULL || method_no_memory(method);
}

static bool mark_field(struct method_code *method, uint32_t offset)
{
    uint32_t index = operand(method, offset);
    if (index >= method->file->constant_count)
        return method_malformed(method, offset, "an invalid index of a member");
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
        return method_no_callee(method, offset);
    struct store_site *site = &file->stores[index];
    if (site->kind == NOT_LOOKED_AT) {
        site->call = text_is(file->name, UNSAFE) ? 0 : call_of(&callee);
        site->kind = site->call != 0 ? A_STORE : NO_STORE;
    }
    if (site->kind == A_STORE && calls[site->call - 1].opcode == opcode_at(method, offset))
        method->marks[offset] |= MARK_STORE_CALL;
    return true;
}

/* Returns the first letter of argument number i's type, 0 if there are fewer, and sets the number
 * of slots before it. */
static uint32_t argument(const struct store_call *call, uint32_t i, uint32_t *slots)
{
    struct class_text text = {(const uint8_t *) call->descriptor, strlen(call->descriptor)};
    bool is_receiver = call->opcode == INVOKEVIRTUAL;
    size_t at = 1;
    for (*slots = 0;; i--, is_receiver = false) {
        uint32_t type = is_receiver ? 'L' : text.bytes[at] == ')' ? 0 : type_next(text, &at);
        if (type == 0 || i == 0)
            return type;
        *slots += type == 'J' ? 2 : 1;
    }
}

static const struct store_call *call_at(const struct method_code *method, uint32_t offset)
{
    return &calls[stores_site_of(method, offset)->call - 1];
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
    uint32_t slots;
    argument(call_at(method, offset), UINT32_MAX, &slots);
    return want_locals(method, slots);
}

/* Moves the probe of a store into the uninitialised `this` behind super(). The field is read there,
 * not the stored value: it has the last of several stores, and needs no variable that would have to
 * be in all frames. A store that super() itself overwrites is not seen. */
bool store_is_early(struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_STORE) == 0)
        return true;
    method->marks[offset] &= ~(uint32_t) MARK_STORE;
    uint32_t index = operand(method, offset);
    for (const struct early_store *known = method->early; known != NULL; known = known->next)
        if (known->index == index)
            return true;
    struct early_store *early = step_arena_take(&method->file->arena, 1, sizeof *early);
    if (early == NULL)
        return method_no_memory(method);
    *early = (struct early_store){method->early, index};
    method->early = early;
    return true;
}

/* Loads or stores the variable of argument number i. Returns false if there are fewer. */
static bool put_argument(struct method_code *method, const struct store_call *call, uint32_t i,
                         bool load)
{
    uint32_t slots, type = argument(call, i, &slots);
    uint32_t kind = type == 'L' || type == '[' ? 4 : type == 'J' ? 1 : 0;
    if (type != 0)
        code_put_variable(method->output, (load ? ILOAD : ISTORE) + kind,
                          (load ? ILOAD_0 : ISTORE_0) + 4 * kind, method->max_locals + slots);
    return type != 0;
}

/* Pops the arguments into new variables, last one first, and loads them again. The call then finds
 * the stack as it was, and the probe after it has the arguments, which the call has consumed. */
static void save_arguments(struct method_code *method, const struct store_call *call)
{
    uint32_t slots, count = 0;
    while (argument(call, count, &slots) != 0)
        count++;
    for (uint32_t i = count; i-- > 0;)
        put_argument(method, call, i, false);
    for (uint32_t i = 0; i < count; i++)
        put_argument(method, call, i, true);
}

void store_put_before(struct method_code *method, uint32_t offset)
{
    struct class_output *output = method->output;
    uint32_t marks = method->marks[offset], opcode = opcode_at(method, offset);
    if ((marks & MARK_STORE_CALL) != 0) {
        save_arguments(method, call_at(method, offset));
    } else if ((marks & MARK_STORE) != 0 && opcode == AASTORE) {
        code_put_variable(output, ASTORE, ASTORE_0, method->max_locals);
        put_u1(output, DUP2);
        code_put_variable(output, ALOAD, ALOAD_0, method->max_locals);
    } else if ((marks & MARK_STORE) != 0) {
        put_u1(output, opcode == PUTSTATIC ? DUP : DUP2);
    }
}

static void put_call_after(struct method_code *method, const struct store_call *call)
{
    for (const char *passed = call->passed; *passed != '\0'; passed++) {
        if (*passed == 'r')
            put_u1(method->output, DUP);
        else if (*passed == 'z')
            put_u1(method->output, ICONST_0);
        else
            put_argument(method, call, (uint32_t) (*passed - '0'), true);
    }
    code_put_call(method, call->probe);
}

static void put_push(struct class_output *output, const struct store_site *site)
{
    put_bytes(output, site->push.bytes, site->push.size);
}

void store_put_after(struct method_code *method, uint32_t offset)
{
    struct class_output *output = method->output;
    uint32_t marks = method->marks[offset], opcode = opcode_at(method, offset);
    if ((marks & MARK_STORE_CALL) != 0) {
        put_call_after(method, call_at(method, offset));
    } else if ((marks & MARK_STORE) != 0 && opcode == AASTORE) {
        code_put_variable(output, ALOAD, ALOAD_0, method->max_locals);
        code_put_call(method, PROBE_STORE_ELEMENT);
    } else if ((marks & MARK_STORE) != 0) {
        put_push(output, stores_site_of(method, offset));
        code_put_call(method, opcode == PUTSTATIC ? PROBE_STORE_STATIC : PROBE_STORE_FIELD);
    }
}

void store_put_early(struct method_code *method)
{
    struct class_output *output = method->output;
    for (const struct early_store *early = method->early; early != NULL; early = early->next) {
        put_u1(output, ALOAD_0);
        put_u1(output, DUP);
        put_u1(output, GETFIELD);
        put_u2(output, early->index);
        put_push(output, &method->file->stores[early->index]);
        code_put_call(method, PROBE_STORE_FIELD);
    }
}
