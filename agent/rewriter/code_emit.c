/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the new code: instructions with adjusted jumps, probes, trampolines, the handler. A fault
 * stays in the class file's result, and what is written after it is dropped. */
#include "agent/rewriter/method_code.h"

/* Calls a probe with the number, and perhaps another operand, which `load` pushes. */
static void put_numbered(struct method_code *method, enum probe probe, uint32_t load)
{
    put_bytes(method->output, method->push.bytes, method->push.size);
    if (load != 0)
        put_u1(method->output, load);
    code_put_call(method, probe);
}

/* A probe in an exception handler, between two copies of the exception in a variable. The probe
 * itself can throw: a handler often runs because the stack is full, and then the probe's call fails
 * for the same reason. That second exception must not take the place of the first one, and it must
 * not reach the program's handlers: those that javac makes for `synchronized` cover themselves and
 * would run for ever. So a row in the exception table, before all others, leads from the probe to
 * the `pop`, whatever is thrown. In the normal case `aconst_null` puts something there to be
 * popped, so both ways go on with the same stack. */
static void put_guarded(struct method_code *method, enum probe probe, uint32_t variable)
{
    struct class_output *output = method->output;
    code_put_variable(output, ASTORE, ASTORE_0, variable);
    put_numbered(method, probe, 0);
    put_u1(output, ACONST_NULL);
    put_u1(output, POP);
    code_put_variable(output, ALOAD, ALOAD_0, variable);
}

static void put_prologue(struct method_code *method)
{
    if (method->number == 0 || method->leaf || begins_late(method))
        return;
    if (has_plain_entry(method))
        put_numbered(method, PROBE_ENTRY,
                     passes_variable(method) ? ALOAD_0 + (method->number & PHASE_VARIABLE_MASK) - 1
                                             : 0);
    else if (method->constructor && !method->runs_before)
        put_numbered(method, PROBE_ENTRY_SUPER, 0);
    else if (method->constructor || method->object_init)
        put_numbered(method, PROBE_ENTRY_NEW, 0);
    else
        put_numbered(method, PROBE_ENTRY_THIS, ALOAD_0);
}

/* Probes before a return, in the order in which things have happened: the object exists, its
 * constructor's entry gets it, the method ends. In Object.<init> all three come here, because it is
 * the one constructor that every object runs, and its `this` is initialised from the start. */
static void put_return(struct method_code *method)
{
    if (method->object_init && method->alloc) {
        put_u1(method->output, ALOAD_0);
        code_put_call(method, PROBE_ALLOC);
    }
    if (method->object_init && has_constructed(method))
        put_numbered(method, PROBE_CONSTRUCTED, ALOAD_0);
    if (method->number != 0)
        put_numbered(method, method->leaf ? PROBE_CALL : PROBE_EXIT, 0);
}

static void put_before(struct method_code *method, uint32_t offset)
{
    uint32_t marks = method->marks[offset];
    if (has_super_call(method, offset))
        put_numbered(method, PROBE_SUPER, 0);
    if ((marks & MARK_CAUGHT) != 0)
        put_guarded(method, PROBE_CAUGHT, method->max_locals);
    if ((marks & MARK_RETURN) != 0)
        put_return(method);
    if ((marks & MARK_ARRAYS_CALL) != 0)
        put_u1(method->output, DUP_X1);
    if ((marks & MARK_CLONED) != 0)
        put_u1(method->output, DUP);
    store_put_before(method, offset);
    if ((marks & MARK_KEEP) != 0) {
        put_u1(method->output, DUP);
        code_put_call(method, PROBE_KEEP);
    }
}

/* Returns which call gave a new object, or that an instruction did. */
static enum alloc_call result_kind(struct method_code *method, uint32_t offset)
{
    const uint8_t *at = method->code + offset;
    return at[0] >= INVOKEVIRTUAL && at[0] <= INVOKEINTERFACE
               ? alloc_call_of(method->file, load_u2(at + 1))
               : ALLOC_CALL_FRESH;
}

static void put_constructed(struct method_code *method, uint32_t marks)
{
    bool no_this = (marks & MARK_NO_THIS) != 0;
    if (begins_late(method))
        put_numbered(method, PROBE_ENTRY, 0);
    else if (has_constructed(method))
        put_numbered(method, PROBE_CONSTRUCTED, no_this ? ACONST_NULL : ALOAD_0);
    if (!no_this)
        store_put_early(method);
}

static enum probe clone_probe(const struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARK_CLONE_SURE) != 0)
        return PROBE_STORE_CLONE;
    return method->code[offset] == INVOKESPECIAL ? PROBE_ALLOC_SUPER_CLONED : PROBE_ALLOC_CLONED;
}

/* Reports the result of an instruction or a call, or that `this` is initialised. */
static void put_result(struct method_code *method, uint32_t offset)
{
    struct class_output *output = method->output;
    uint32_t marks = method->marks[offset];
    if ((marks & MARK_CONSTRUCTED) != 0) {
        put_constructed(method, marks);
    } else if ((marks & MARK_ARRAYS_CALL) != 0) {
        put_u1(output, DUP_X1);
        put_u1(output, SWAP);
        put_u1(output, ARRAYLENGTH);
        code_put_call(method, PROBE_ALLOC_ARRAYS);
    } else if ((marks & MARK_CLONED) != 0) {
        put_u1(output, DUP_X1); /* the object, below it the one that was cloned */
        code_put_call(method, clone_probe(method, offset));
    } else if ((marks & MARK_ARRAYS) != 0) {
        struct code_push push = {.size = 0};
        pool_push(method->file, method->code[offset + 3], &push);
        put_u1(output, DUP);
        put_bytes(output, push.bytes, push.size);
        code_put_call(method, PROBE_ALLOC_ARRAYS);
    } else if ((marks & (MARK_ALLOC | MARK_VARIABLE)) != 0) {
        const struct alloc_result *result = &alloc_results[result_kind(method, offset)];
        put_u1(output, DUP);
        if ((marks & MARK_VARIABLE) != 0) {
            put_u1(output, ALOAD);
            put_u1(output, result->variable);
        }
        code_put_call(method, result->probe);
    }
}

/* A new object is reported before the objects that it refers to. */
static void put_after(struct method_code *method, uint32_t offset)
{
    put_result(method, offset);
    store_put_after(method, offset);
}

/* Returns the inverse condition. */
static uint32_t inverse(uint32_t opcode)
{
    return opcode >= 0xC6 ? opcode ^ 1 : ((opcode + 1) ^ 1) - 1;
}

static void no_target(struct method_code *method, uint32_t offset)
{
    method_malformed(method, offset, "a jump to an invalid target");
}

/* A conditional jump has no long form. Without stack maps it is inverted and jumps over a goto_w;
 * with them the place behind the goto_w would need a frame, so it goes to a trampoline instead. */
static void put_jump(struct method_code *method, uint32_t offset, uint32_t place)
{
    struct class_output *output = method->output;
    uint32_t opcode = method->code[offset], marks = method->marks[offset];
    uint32_t target = jump_target(method, offset);
    if ((method->marks[target] & MARK_START) == 0)
        no_target(method, offset);
    uint32_t to = (marks & MARK_TRAMPOLINE) != 0 ? trampoline_of(method, offset)->position
                                                 : method->map[target];
    if ((marks & MARK_WIDE) != 0 && opcode != GOTO && opcode != JSR) {
        put_u1(output, inverse(opcode));
        put_u2(output, 8);
        place += 3;
        opcode = GOTO;
    }
    if ((marks & MARK_WIDE) != 0)
        opcode = opcode == GOTO ? GOTO_W : JSR_W;
    put_u1(output, opcode);
    if (opcode_is_wide_jump(opcode))
        put_u4(output, to - place);
    else
        put_u2(output, to - place);
}

/* Writes a 32-bit offset for the instruction at `offset`, whose new place is `place`. */
static void put_wide_offset(struct method_code *method, uint32_t offset, uint32_t place,
                            uint32_t distance)
{
    int64_t target = (int64_t) offset + (int32_t) distance;
    if (target < 0 || target >= method->length || (method->marks[target] & MARK_START) == 0)
        no_target(method, offset);
    else
        put_u4(method->output, method->map[target] - place);
}

static void put_switch(struct method_code *method, uint32_t offset, uint32_t place)
{
    struct class_output *output = method->output;
    const uint8_t *code = method->code;
    uint32_t operands = switch_operands(offset), first, stride;
    uint32_t count = switch_cases(code, offset, &first, &stride);
    put_u1(output, code[offset]);
    put_bytes(output, "\0\0\0", switch_operands(place) - place - 1);
    put_wide_offset(method, offset, place, load_u4(code + operands));
    put_bytes(output, code + operands + 4, code[offset] == 0xAA ? 8 : 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *row = code + first + i * stride;
        if (stride == 8)
            put_bytes(output, row - 4, 4); /* the key */
        put_wide_offset(method, offset, place, load_u4(row));
    }
}

static void put_instruction(struct method_code *method, uint32_t offset, uint32_t size)
{
    uint32_t opcode = method->code[offset];
    uint32_t place = instruction_place(method, offset);
    if (opcode_is_jump(opcode)) {
        put_jump(method, offset, place);
    } else if (opcode_is_switch(opcode)) {
        put_switch(method, offset, place);
    } else if (opcode_is_wide_jump(opcode)) {
        put_u1(method->output, opcode);
        put_wide_offset(method, offset, place, load_u4(method->code + offset + 1));
    } else {
        put_bytes(method->output, method->code + offset, size);
    }
}

static void put_trampolines(struct method_code *method, uint32_t offset)
{
    struct class_output *output = method->output;
    const struct trampoline *first;
    uint32_t count = slot_trampolines(method, offset, &first);
    if (count > 0 && (method->marks[offset] & MARK_FALLS_IN) != 0) {
        put_u1(output, GOTO);
        put_u2(output, 3 + count * 5);
    }
    for (uint32_t i = 0; i < count; i++) {
        put_u1(output, GOTO_W);
        put_u4(output, method->map[first[i].target] - first[i].position);
    }
}

/* The sizes of probes are found by writing them elsewhere. So there is one description of each
 * probe's code, and layout and output cannot disagree. While measuring, no constants are added to
 * the pool: indices have the same size whatever they are. */
uint32_t code_measure_prologue(struct method_code *method)
{
    method->output = &method->file->probes_measured;
    method->output->used = 0;
    put_prologue(method);
    uint32_t bytes = (uint32_t) method->output->used;
    method->output = &method->file->output;
    return bytes;
}

struct probe_bytes code_measure(struct method_code *method, uint32_t offset)
{
    if ((method->marks[offset] & MARKS_PROBES) == 0)
        return (struct probe_bytes){0, 0};
    method->output = &method->file->probes_measured;
    method->output->used = 0;
    put_before(method, offset);
    uint32_t before = (uint32_t) method->output->used;
    put_after(method, offset);
    uint32_t all = (uint32_t) method->output->used;
    method->output = &method->file->output;
    return (struct probe_bytes){before, all - before};
}

bool code_emit(struct method_code *method)
{
    uint32_t size;
    put_prologue(method);
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        put_trampolines(method, offset);
        bool probed = (method->marks[offset] & MARKS_PROBES) != 0;
        if (probed)
            put_before(method, offset);
        put_instruction(method, offset, size);
        if (probed)
            put_after(method, offset);
    }
    if (has_unwinding(method)) {
        put_guarded(method, method->leaf ? PROBE_CALL_UNWIND : PROBE_UNWIND, 0);
        for (uint32_t i = 0; i < method->padding; i++)
            put_u1(method->output, NOP);
        put_u1(method->output, ATHROW);
    }
    return method->file->result <= REWRITE_UNCHANGED;
}
