/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the methods of compiled code at a return address, from the debugging information with which
 * the JVM itself walks stacks. It is a table of return addresses, each with the offset of its
 * innermost scope in a stream of numbers. A scope is the offset of the scope that it is inlined
 * into (0: none), the index of its method in the code's metadata, and the bytecode index plus
 * one. */
#include "agent/hotspot/code_cache.h"

#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"
#include "format/core/hash.h"

#define FACTOR_LOW STEP_HASH_FACTOR
#define FACTOR_HIGH UINT64_C(0xd6e8feb86659fd93)

/* A range of the JVM's memory. */
struct stretch {
    uintptr_t start;
    size_t size;
};

struct code_scopes {
    struct stretch pcs, scopes, metadata;
};

static uint64_t mixed(uint64_t value)
{
    value = (value ^ value >> 32) * FACTOR_HIGH;
    value = (value ^ value >> 29) * FACTOR_LOW;
    return value ^ value >> 32;
}

/* A class that is redefined has another constant pool, and its methods other code with the same
 * numbers, until the old ones are freed: a redefinition later at the earliest. */
struct frame_hash frame_hash_of(const struct vm_structs *vm, uintptr_t method, uint32_t index)
{
    uintptr_t constant = vm_word(method, vm->method_const);
    uintptr_t pool = vm_word(constant, vm->const_constants);
    uint64_t class = vm_word(pool, vm->pool_holder);
    uint64_t version = class + mixed(constant + pool * FACTOR_HIGH);
    uint16_t number = *(const volatile uint16_t *) (constant + vm->const_idnum);
    uint64_t place = (uint64_t) number << 32 | index;
    return (struct frame_hash){.low = mixed(version + place * FACTOR_LOW),
                               .high = mixed((version ^ FACTOR_LOW) + place * FACTOR_HIGH),
                               .count = 1};
}

struct frame_hash_powers frame_hash_powers;

void frame_hash_prepare(void)
{
    struct frame_hash_powers *powers = &frame_hash_powers;
    powers->low[0] = powers->high[0] = 1;
    for (size_t i = 1; i <= FRAMES_INLINED_MOST; i++) {
        powers->low[i] = powers->low[i - 1] * FACTOR_LOW;
        powers->high[i] = powers->high[i - 1] * FACTOR_HIGH;
    }
}

static struct code_scopes inner_scopes(const struct vm_structs *vm, uintptr_t nmethod)
{
    uintptr_t pcs = nmethod + vm_half(nmethod, vm->nmethod_pcs);
    uintptr_t scopes = vm_word(nmethod, vm->nmethod_scopes);
    uintptr_t metadata = nmethod + vm_half(nmethod, vm->nmethod_metadata);
    return (struct code_scopes){
        .pcs = {pcs, vm_half(nmethod, vm->nmethod_pcs_end) - vm_half(nmethod, vm->nmethod_pcs)},
        .scopes = {scopes, pcs - scopes},
        .metadata = {metadata, scopes - metadata}};
}

static struct code_scopes outer_scopes(const struct vm_structs *vm, uintptr_t nmethod)
{
    uintptr_t start = vm_word(nmethod, vm->nmethod_immutable);
    size_t size = vm_half(nmethod, vm->nmethod_immutable_size);
    size_t pcs = vm_half(nmethod, vm->nmethod_pcs), scopes = vm_half(nmethod, vm->nmethod_scopes);
    size_t relocations = vm_half(nmethod, vm->blob_relocation_size);
    size_t mutable = vm_half(nmethod, vm->blob_mutable_size);
    return (struct code_scopes){
        .pcs = {start + pcs, (pcs < scopes ? scopes : size) - pcs},
        .scopes = {start + scopes, (scopes < pcs ? pcs : size) - scopes},
        .metadata = {vm_word(nmethod, vm->blob_mutable) + relocations, mutable - relocations}};
}

/* Returns the offset of the innermost scope, or 0 if there is none. */
static uint32_t find_scope(const struct vm_structs *vm, const struct stretch *pcs, uint32_t offset)
{
    size_t low = 0, high = pcs->size / vm->pc_size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uintptr_t entry = pcs->start + middle * vm->pc_size;
        int32_t at = (int32_t) vm_half(entry, vm->pc_offset);
        if (at == (int32_t) offset)
            return vm_half(entry, vm->pc_scope);
        if (at < (int32_t) offset)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* Base 64 with a first digit up to 191; since JDK 20 no byte is 0. */
static bool code_scopes_read_number(const struct stretch *stream, size_t *at, uint32_t *value)
{
    uint32_t sum = 0, least = tracer.java_major >= JAVA_NUMBERS_WITHOUT_ZERO ? 1 : 0;
    for (unsigned i = 0; i < 5; i++) {
        if (*at >= stream->size)
            return false;
        uint32_t byte = *(const volatile uint8_t *) (stream->start + (*at)++);
        if (byte < least)
            return false;
        sum += (byte - least) << (6 * i);
        if (byte < 192)
            break;
    }
    *value = sum;
    return true;
}

/* Reads the scope at `*at`, and sets `*at` to the scope that it is inlined into. */
static uintptr_t read_scope(const struct code_scopes *scopes, uint32_t *at, uint32_t *index)
{
    size_t from = *at;
    uint32_t number;
    if (!code_scopes_read_number(&scopes->scopes, &from, at) ||
        !code_scopes_read_number(&scopes->scopes, &from, &number) ||
        !code_scopes_read_number(&scopes->scopes, &from, index) || number == 0 ||
        number > scopes->metadata.size / sizeof(uintptr_t))
        return 0;
    return vm_word(scopes->metadata.start, (number - 1) * sizeof(uintptr_t));
}

static bool code_scopes_is_readable(const struct stretch *stretch)
{
    unsigned char byte;
    return stretch->size <= 1 << 30 &&
           (stretch->size == 0 ||
            (peek(stretch->start, &byte, 1) && peek(stretch->start + stretch->size - 1, &byte, 1)));
}

/* Reads through the kernel what frame_hash_of() will read. */
static bool is_method(const struct vm_structs *vm, uintptr_t method)
{
    uintptr_t constant = 0, pool = 0, class = 0;
    return peek(method + vm->method_const, &constant, sizeof constant) &&
           peek(constant + vm->const_constants, &pool, sizeof pool) &&
           peek(pool + vm->pool_holder, &class, sizeof class);
}

/* Each scope names the one that it is inlined into by an offset, which may be anything if the
 * format is another. Three guards: the loop has a limit, every number must lie within its table,
 * and the outermost method must be the one whose code it is. On a JVM that was not tested, all
 * memory is read through the kernel first. */
size_t code_scopes_read(const struct vm_structs *vm, uintptr_t nmethod, uintptr_t pc,
                        struct code_frame methods[FRAMES_INLINED_MOST])
{
    struct code_scopes scopes =
        vm->nmethod_immutable != 0 ? outer_scopes(vm, nmethod) : inner_scopes(vm, nmethod);
    uintptr_t code = vm->nmethod_immutable != 0 ? nmethod + vm_half(nmethod, vm->blob_code_offset)
                                                : vm_word(nmethod, vm->blob_code_begin);
    uint32_t at = pc > code ? find_scope(vm, &scopes.pcs, (uint32_t) (pc - code)) : 0;
    bool proven = !internals_are_to_be_proven();
    uintptr_t method = 0;
    size_t count = 0;
    if (!proven &&
        (!code_scopes_is_readable(&scopes.pcs) || !code_scopes_is_readable(&scopes.scopes) ||
         !code_scopes_is_readable(&scopes.metadata)))
        return 0;
    while (at != 0 && count < FRAMES_INLINED_MOST) {
        uint32_t index = 0;
        method = read_scope(&scopes, &at, &index);
        if (method == 0 || (!proven && !is_method(vm, method)))
            return 0;
        methods[count++] = (struct code_frame){method, index};
    }
    /* the outermost one must be the method whose code it is: otherwise this was misread */
    return at == 0 && method == vm_word(nmethod, vm->nmethod_method) ? count : 0;
}
