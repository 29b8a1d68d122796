/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all steps of rewriting a method: reporting of faults, and instructions to write. */
#include "agent/rewriter/method_code.h"

bool method_malformed(struct method_code *method, uint32_t offset, const char *message)
{
    return class_malformed(method->file, method->code + offset, message);
}

bool method_no_callee(struct method_code *method, uint32_t offset)
{
    method->file->result = REWRITE_UNCHANGED;
    return method_malformed(method, offset, "a call of a constant that is not a method");
}

bool method_leave(struct method_code *method, const char *reason)
{
    method->reason = reason;
    return false;
}

bool method_no_memory(struct method_code *method)
{
    return class_fault(method->file, REWRITE_NO_MEMORY, 0, "out of memory");
}

static enum probe phase_probe(enum probe probe, bool of_variable)
{
    switch (probe) {
    case PROBE_ENTRY:
        return of_variable ? PROBE_PHASE_ENTRY_OF : PROBE_PHASE_ENTRY;
    case PROBE_CAUGHT:
        return PROBE_PHASE_CAUGHT;
    case PROBE_UNWIND:
        return PROBE_PHASE_UNWIND;
    default:
        return PROBE_PHASE_EXIT;
    }
}

/* Probes are laid out twice: first measured, in an output that is thrown away (code_measure()),
 * then written. Both ways pass here and put the same bytes, so the second cannot differ in length
 * from what the jumps were computed with. The index is of two bytes whatever its value; the
 * constant is added only when the call is written, as measured probes may be given up. */
void code_put_call(struct method_code *method, enum probe probe)
{
    if (method->file->request->phases)
        probe = phase_probe(probe, passes_variable(method));
    bool measures = method->output != &method->file->output; /* nothing is added to the pool */
    uint32_t index = measures ? 0 : pool_probe(method->file, probe);
    put_u1(method->output, INVOKESTATIC);
    put_u2(method->output, index);
}

void code_put_variable(struct class_output *output, uint32_t opcode, uint32_t brief,
                       uint32_t variable)
{
    if (variable <= 3) {
        put_u1(output, brief + variable);
        return;
    }
    if (variable > 255)
        put_u1(output, WIDE);
    put_u1(output, opcode);
    if (variable > 255)
        put_u2(output, variable);
    else
        put_u1(output, variable);
}

/* Trampolines are in the order of their slots, those of one slot side by side: the layout puts a
 * run of them before one instruction. */
uint32_t slot_trampolines(const struct method_code *method, uint32_t offset,
                          const struct trampoline **first)
{
    uint32_t i = 0, count = 0;
    if ((method->marks[offset] & MARK_SLOT) == 0)
        return 0;
    while (i < method->trampoline_count && method->trampolines[i].slot < offset)
        i++;
    *first = method->trampolines + i;
    while (i + count < method->trampoline_count && method->trampolines[i + count].slot == offset)
        count++;
    return count;
}

const struct trampoline *trampoline_of(const struct method_code *method, uint32_t offset)
{
    const struct trampoline *found = method->trampolines;
    while (found->jump != offset)
        found++;
    return found;
}

/* ---- sizes of instructions and targets of jumps ---- */

/* Size including operands; 0: variable, or no instruction. */
static const uint8_t sizes[202] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* constants */
    2, 3, 2, 3, 3,                                  /* bipush sipush ldc ldc_w ldc2_w */
    2, 2, 2, 2, 2,                                  /* loads */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, /* stores */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,          /* stack */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* arithmetic */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,             /* neg, shifts, logic */
    3,                                                          /* iinc */
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, /* conversions, compares */
    3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3,             /* if..., goto, jsr */
    2, 0, 0,                                                    /* ret, switches */
    1, 1, 1, 1, 1, 1,                                           /* returns */
    3, 3, 3, 3, 3, 3, 3, 5, 5,                                  /* fields, invocations */
    3, 2, 3, 1, 1, 3, 3, 1, 1,                                  /* new ... monitorexit */
    0, 4, 3, 3, 5, 5, /* wide multianewarray ifnull ifnonnull goto_w jsr_w */
};

/* The operands of a switch begin at the next multiple of 4 from the method's start, so the size
 * depends on where the instruction is: it changes when probes are put before it. Sums are of 64
 * bits, because the count of cases is the file's and may be 2^32. */
static uint32_t switch_size(const uint8_t *code, uint32_t length, uint32_t offset)
{
    uint32_t operands = switch_operands(offset);
    uint32_t head = code[offset] == 0xAA ? 12 : 8;
    if (operands > length || length - operands < head)
        return 0;
    uint64_t bytes;
    if (code[offset] == 0xAA) {
        int32_t low = (int32_t) load_u4(code + operands + 4);
        int32_t high = (int32_t) load_u4(code + operands + 8);
        if (low > high)
            return 0;
        bytes = ((uint64_t) ((int64_t) high - low) + 1) * 4;
    } else {
        bytes = (uint64_t) load_u4(code + operands + 4) * 8;
    }
    uint64_t end = operands + head + bytes;
    return end <= length ? (uint32_t) end - offset : 0;
}

static uint32_t wide_size(const uint8_t *code, uint32_t length, uint32_t offset)
{
    if (length - offset < 4)
        return 0;
    uint32_t opcode = code[offset + 1];
    if (opcode == 0x84)
        return length - offset >= 6 ? 6 : 0;
    bool known =
        (opcode >= 0x15 && opcode <= 0x19) || (opcode >= 0x36 && opcode <= 0x3A) || opcode == 0xA9;
    return known ? 4 : 0;
}

uint32_t instruction_size(const uint8_t *code, uint32_t length, uint32_t offset)
{
    uint32_t opcode = code[offset];
    uint32_t size = opcode < sizeof sizes ? sizes[opcode] : 0;
    if (size != 0)
        return size <= length - offset ? size : 0;
    if (opcode_is_switch(opcode))
        return switch_size(code, length, offset);
    return opcode == 0xC4 ? wide_size(code, length, offset) : 0;
}

uint32_t jump_target(const struct method_code *method, uint32_t offset)
{
    const uint8_t *at = method->code + offset;
    int64_t distance =
        opcode_is_wide_jump(at[0]) ? (int32_t) load_u4(at + 1) : (int16_t) load_u2(at + 1);
    int64_t target = (int64_t) offset + distance;
    return target >= 0 && target < method->length ? (uint32_t) target : method->length;
}

uint32_t switch_cases(const uint8_t *code, uint32_t offset, uint32_t *first, uint32_t *stride)
{
    uint32_t operands = switch_operands(offset);
    if (code[offset] == 0xAA) {
        *first = operands + 12;
        *stride = 4;
        return load_u4(code + operands + 8) - load_u4(code + operands + 4) + 1;
    }
    *first = operands + 12;
    *stride = 8;
    return load_u4(code + operands + 4);
}
