/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of instructions and targets of jumps. */
#include "agent/rewriter/method_code.h"

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
