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
    return method_malformed(method, offset, "a call of what is no method");
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
