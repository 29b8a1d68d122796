/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes unwind rules from .eh_frame: the table of .eh_frame_hdr, the entry of a function, its
 * call frame instructions (LSB 5.0, "Exception Frames"; DWARF 5, 6.4).  These sections of loaded
 * libraries are trusted as far as the dynamic linker trusts them.
 */
#include "malloc-recorder/stacks/unwind_rule.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define REGISTER_FRAME 6u
#define REGISTER_STACK 7u
#define REGISTER_RETURN 16u
#define STATES_MOST 8

enum encoding {
    ENCODING_ADDRESS = 0x00,
    ENCODING_DATA4 = 0x03,
    ENCODING_SIGNED4 = 0x0b,
    ENCODING_SIGNED8 = 0x0c,
    ENCODING_OF_PLACE = 0x10,
    ENCODING_TABLE = 0x3b /* signed 4 bytes, relative to the header */
};

/* The rules in force at an instruction. */
struct state {
    uint64_t cfa_register;
    int64_t cfa_offset;
    int64_t word_offset; /* for an expression: *(frame pointer + this) */
    int64_t saved;       /* of the frame pointer; 0: not saved */
    bool is_word, is_odd, returns;
};

struct entry {
    const uint8_t *start, *end; /* call frame instructions */
    const uint8_t *common, *common_end;
    uint64_t code_factor;
    int64_t data_factor;
    uintptr_t first, past; /* range of addresses covered */
};

static uint64_t take_unsigned(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t) (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            break;
    }
    return value;
}

static int64_t take_signed(const uint8_t **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t) (byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) == 0) {
            if ((byte & 0x40) != 0 && shift < 64)
                value |= ~UINT64_C(0) << shift;
            break;
        }
    }
    return (int64_t) value;
}

static uint64_t take_fixed(const uint8_t **at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, *at, bytes);
    *at += bytes;
    return value;
}

/* Reads an address.  Returns false for an encoding that compilers do not use. */
static bool take_address(const uint8_t **at, uint8_t encoding, bool is_size, uintptr_t *out)
{
    const uint8_t *place = *at;
    uint64_t value;
    switch (encoding & 0x0f) {
    case ENCODING_ADDRESS:
    case ENCODING_SIGNED8:
    case 0x04:
        value = take_fixed(at, 8);
        break;
    case ENCODING_DATA4:
        value = take_fixed(at, 4);
        break;
    case ENCODING_SIGNED4:
        value = (uint64_t) (int64_t) (int32_t) take_fixed(at, 4);
        break;
    default:
        return false;
    }
    if (!is_size && (encoding & 0x70) == ENCODING_OF_PLACE)
        value += (uintptr_t) place;
    else if (!is_size && (encoding & 0x70) != 0)
        return false;
    *out = value;
    return true;
}

/* ---- finding the entry ---- */

#if defined(DLFO_STRUCT_HAS_EH_COUNT)
/* Resolved by name, so that the recorder also loads with an older glibc. */
static int (*find_object)(void *, struct dl_find_object *);
#endif

void unwind_rule_prepare(void)
{
#if defined(DLFO_STRUCT_HAS_EH_COUNT)
    find_object = (int (*)(void *, struct dl_find_object *)) dlsym(RTLD_DEFAULT, "_dl_find_object");
#endif
}

static const uint8_t *find_description(uintptr_t address)
{
#if defined(DLFO_STRUCT_HAS_EH_COUNT)
    struct dl_find_object object;
    if (find_object == NULL || find_object((void *) address, &object) != 0 ||
        object.dlfo_eh_frame == NULL)
        return NULL;
    const uint8_t *header = object.dlfo_eh_frame;
    if (header[0] != 1 || header[2] != ENCODING_DATA4 || header[3] != ENCODING_TABLE)
        return NULL;
    const uint8_t *at = header + 4;
    uintptr_t ignored;
    if (!take_address(&at, header[1], false, &ignored))
        return NULL;
    uint64_t count = take_fixed(&at, 4), low = 0, high = count;
    const int32_t *table = (const int32_t *) (const void *) at;
    int64_t wanted = (int64_t) (address - (uintptr_t) header);
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (table[2 * middle] <= wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? header + table[2 * (low - 1) + 1] : NULL;
#else
    (void) address;
    return NULL;
#endif
}

/* Parses the part that entries share.  Returns false if it has unsupported contents. */
static bool read_common(const uint8_t *at, struct entry *entry, uint8_t *encoding, bool *has_data)
{
    uint64_t length = take_fixed(&at, 4);
    entry->common_end = at + length;
    at += 4;
    uint8_t version = *at++;
    const char *augmentation = (const char *) at;
    at += strlen(augmentation) + 1;
    entry->code_factor = take_unsigned(&at);
    entry->data_factor = take_signed(&at);
    uint64_t column = version == 1 ? *at++ : take_unsigned(&at);
    *encoding = ENCODING_ADDRESS;
    *has_data = augmentation[0] == 'z';
    if (*has_data) {
        uint64_t bytes = take_unsigned(&at);
        const uint8_t *data = at;
        at += bytes;
        for (const char *letter = augmentation + 1; *letter != '\0'; letter++) {
            uintptr_t ignored;
            if (*letter == 'R')
                *encoding = *data++;
            else if (*letter == 'L')
                data++;
            else if (*letter == 'P') {
                uint8_t way = *data++;
                if (!take_address(&data, way & 0x7f, false, &ignored))
                    return false;
            } else {
                return false; /* S: frame of a signal handler */
            }
        }
    }
    entry->common = at;
    return column == REGISTER_RETURN;
}

static bool read_entry(const uint8_t *at, struct entry *entry)
{
    uint8_t encoding;
    bool has_data;
    uint64_t length = take_fixed(&at, 4);
    if (length == 0 || length == 0xffffffffu)
        return false;
    entry->end = at + length;
    const uint8_t *place = at;
    uint64_t back = take_fixed(&at, 4);
    uintptr_t bytes;
    if (back == 0 || !read_common(place - back, entry, &encoding, &has_data) ||
        !take_address(&at, encoding, false, &entry->first) ||
        !take_address(&at, encoding, true, &bytes))
        return false;
    entry->past = entry->first + bytes;
    if (has_data) {
        uint64_t skipped = take_unsigned(&at);
        at += skipped;
    }
    entry->start = at;
    return true;
}

/* ---- instructions ---- */

/* The start of the frame as an expression; only that of a realigned stack is supported. */
static void take_expression(const uint8_t **at, struct state *state)
{
    uint64_t length = take_unsigned(at);
    const uint8_t *code = *at, *end = code + length;
    *at = end;
    state->is_odd = true;
    if (length < 3 || *code++ != 0x70 + REGISTER_FRAME)
        return;
    state->word_offset = take_signed(&code);
    state->is_word = code + 1 == end && *code == 0x06;
    state->is_odd = !state->is_word;
}

static void save(struct state *state, uint64_t number, int64_t offset)
{
    if (number == REGISTER_FRAME)
        state->saved = offset;
    if (number == REGISTER_RETURN && offset != -8)
        state->is_odd = true;
}

static void restore(struct state *state, const struct state *first, uint64_t number)
{
    if (number == REGISTER_FRAME)
        state->saved = first->saved;
}

static void unwind_rule_define(struct state *state, uint64_t number, int64_t offset)
{
    state->cfa_register = number;
    state->cfa_offset = offset;
    state->is_word = state->is_odd = false;
}

/* A register's rule is not supported: fatal for the frame pointer and the return address. */
static void give_up_on(struct state *state, uint64_t number)
{
    if (number == REGISTER_RETURN)
        state->returns = false;
    if (number == REGISTER_FRAME)
        state->is_odd = true;
}

/* Executes one instruction.  Returns by how much it advances in the code, or 0. */
static uint64_t take_one(const struct entry *entry, const uint8_t **at, struct state *state,
                         const struct state *first, struct state *kept, int *depth)
{
    uint8_t code = *(*at)++;
    uint64_t number;
    switch (code & 0xc0) {
    case 0x40:
        return (code & 0x3f) * entry->code_factor;
    case 0x80:
        save(state, code & 0x3f, (int64_t) take_unsigned(at) * entry->data_factor);
        return 0;
    case 0xc0:
        restore(state, first, code & 0x3f);
        return 0;
    default:
        break;
    }
    switch (code) {
    case 0x00:
        return 0;
    case 0x02:
        return take_fixed(at, 1) * entry->code_factor;
    case 0x03:
        return take_fixed(at, 2) * entry->code_factor;
    case 0x04:
        return take_fixed(at, 4) * entry->code_factor;
    case 0x05:
        number = take_unsigned(at);
        save(state, number, (int64_t) take_unsigned(at) * entry->data_factor);
        return 0;
    case 0x06:
        restore(state, first, take_unsigned(at));
        return 0;
    case 0x07: /* undefined */
        give_up_on(state, take_unsigned(at));
        return 0;
    case 0x08: /* the same value */
        if (take_unsigned(at) == REGISTER_FRAME)
            state->saved = 0;
        return 0;
    case 0x09: /* in another register */
        give_up_on(state, take_unsigned(at));
        take_unsigned(at);
        return 0;
    case 0x0a:
        if (*depth < STATES_MOST)
            kept[*depth] = *state;
        ++*depth;
        return 0;
    case 0x0b:
        if (*depth > 0 && --*depth < STATES_MOST)
            *state = kept[*depth];
        return 0;
    case 0x0c:
        number = take_unsigned(at);
        unwind_rule_define(state, number, (int64_t) take_unsigned(at));
        return 0;
    case 0x0d:
        unwind_rule_define(state, take_unsigned(at), state->cfa_offset);
        return 0;
    case 0x0e:
        unwind_rule_define(state, state->cfa_register, (int64_t) take_unsigned(at));
        return 0;
    case 0x0f:
        take_expression(at, state);
        return 0;
    case 0x10: /* expressions for a register */
    case 0x16:
        give_up_on(state, take_unsigned(at));
        number = take_unsigned(at);
        *at += number;
        return 0;
    case 0x11:
        number = take_unsigned(at);
        save(state, number, take_signed(at) * entry->data_factor);
        return 0;
    case 0x12:
        number = take_unsigned(at);
        unwind_rule_define(state, number, take_signed(at) * entry->data_factor);
        return 0;
    case 0x13:
        unwind_rule_define(state, state->cfa_register, take_signed(at) * entry->data_factor);
        return 0;
    case 0x2e: /* GNU_args_size */
        take_unsigned(at);
        return 0;
    default: /* not emitted by compilers */
        state->is_odd = true;
        *at = entry->end;
        return 0;
    }
}

static void unwind_rule_run(const struct entry *entry, const uint8_t *at, const uint8_t *end,
                            uint64_t ahead, struct state *state, const struct state *first)
{
    struct state kept[STATES_MOST];
    int depth = 0;
    uint64_t moved = 0;
    while (at < end && moved <= ahead)
        moved += take_one(entry, &at, state, first, kept, &depth);
}

/* `run` stops after the advance beyond the address, so no later rule is applied. */
static struct unwind_rule rule_of(const struct state *state)
{
    struct unwind_rule rule = {.kind = UNWIND_END};
    int64_t base = state->is_word ? state->word_offset : state->cfa_offset;
    if (!state->returns || state->is_odd || base != (int32_t) base ||
        state->saved != (int16_t) state->saved)
        return rule;
    rule.base = (int32_t) base;
    rule.saved = (int16_t) state->saved;
    if (state->is_word)
        rule.kind = UNWIND_OF_WORD;
    else if (state->cfa_register == REGISTER_STACK)
        rule.kind = UNWIND_OF_STACK;
    else if (state->cfa_register == REGISTER_FRAME)
        rule.kind = UNWIND_OF_FRAME;
    return rule;
}

struct unwind_rule unwind_rule_at(uintptr_t address)
{
    const struct unwind_rule unknown = {.kind = UNWIND_UNKNOWN}, none = {.kind = UNWIND_END};
    uintptr_t place = address - 1;
    const uint8_t *description = find_description(place);
    struct entry entry;
    if (description == NULL)
        return unknown;
    if (!read_entry(description, &entry))
        return none;
    if (place < entry.first || place >= entry.past)
        return unknown;
    struct state state = {.returns = true}, first;
    unwind_rule_run(&entry, entry.common, entry.common_end, UINT64_MAX, &state, &state);
    first = state;
    unwind_rule_run(&entry, entry.start, entry.end, place - entry.first, &state, &first);
    return rule_of(&state);
}
