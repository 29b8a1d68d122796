/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the instructions of a constructor that run before its super() or this() has returned.
 * Follows the code from its start and tracks which stack slots and local variables hold the
 * uninitialised `this`, up to the invokespecial of <init> on it. */
#include "agent/rewriter/method_code.h"

#define STATES_LIMIT ((size_t) 32 << 20) /* bytes of states per method */

/* The state before an instruction: one byte per slot, 1 for the uninitialised this. */
struct state {
    struct state *next; /* list of states to follow */
    uint32_t offset, depth;
    uint8_t slots[]; /* max_locals, then max_stack */
};

struct walk {
    struct method_code *method;
    struct state *now, *todo;
    uint8_t *locals, *stack; /* of `now` */
    uint8_t *seen;           /* by offset: followed or in the list */
    size_t state_bytes, taken;
};

/* Slots that each opcode pops and pushes; --: it depends on more, or there is no such opcode. */
static const char effects[13][48] = {
    {"00 01 01 01 01 01 01 01 01 02 02 01 01 01 02 02"}, /* 0x00 */
    {"01 01 01 01 02 01 02 01 02 -- 01 01 01 01 02 02"}, /* 0x10 */
    {"02 02 01 01 01 01 02 02 02 02 -- -- -- -- 21 22"}, /* 0x20 */
    {"21 22 21 21 21 21 -- -- -- -- -- -- -- -- -- --"}, /* 0x30 */
    {"-- -- -- -- -- -- -- -- -- -- -- -- -- -- -- 30"}, /* 0x40 */
    {"40 30 40 30 30 30 30 10 20 -- -- -- -- -- -- --"}, /* 0x50 */
    {"21 42 21 42 21 42 21 42 21 42 21 42 21 42 21 42"}, /* 0x60 */
    {"21 42 21 42 11 22 11 22 21 32 21 32 21 32 21 42"}, /* 0x70 */
    {"21 42 21 42 00 12 11 12 21 21 22 11 12 12 21 22"}, /* 0x80 */
    {"21 11 11 11 41 21 21 41 41 10 10 10 10 10 10 20"}, /* 0x90 */
    {"20 20 20 20 20 20 20 00 01 00 10 10 10 20 10 20"}, /* 0xA0 */
    {"10 00 -- -- -- -- -- -- -- -- -- 01 11 11 11 10"}, /* 0xB0 */
    {"11 11 10 10 -- -- 10 10 00 01"},                   /* 0xC0 */
};

static bool constructor_pop(struct walk *walk, uint32_t count)
{
    if (walk->now->depth < count)
        return method_malformed(walk->method, walk->now->offset, "the stack is empty");
    walk->now->depth -= count;
    return true;
}

static bool constructor_push(struct walk *walk, uint32_t count, uint8_t value)
{
    if (count > walk->method->max_stack - walk->now->depth)
        return method_malformed(walk->method, walk->now->offset, "the stack is full");
    memset(walk->stack + walk->now->depth, value, count);
    walk->now->depth += count;
    return true;
}

/* Adds the state, at another offset, to the list unless that offset was there. */
static bool constructor_follow(struct walk *walk, uint32_t offset, bool as_handler)
{
    struct method_code *method = walk->method;
    if (offset >= method->length || (method->marks[offset] & MARK_START) == 0)
        return method_malformed(method, walk->now->offset, "a jump to an invalid target");
    if (walk->seen[offset])
        return true;
    if (walk->taken + walk->state_bytes > STATES_LIMIT)
        return method_leave(method, "its constructor is too complicated");
    struct state *state = step_arena_take(&method->file->arena, walk->state_bytes, 1);
    if (state == NULL)
        return method_no_memory(method);
    walk->taken += walk->state_bytes;
    memcpy(state, walk->now, walk->state_bytes);
    state->offset = offset;
    if (as_handler) {
        if (method->max_stack == 0)
            return method_malformed(method, offset, "the stack is full");
        state->depth = 1;
        state->slots[method->max_locals] = 0;
    }
    walk->seen[offset] = 1;
    state->next = walk->todo;
    walk->todo = state;
    return true;
}

static bool follow_handlers(struct walk *walk)
{
    const struct method_code *method = walk->method;
    for (uint32_t i = 0; i < method->handler_count; i++) {
        const uint8_t *row = method->handlers + 8 * i;
        if (load_u2(row) <= walk->now->offset && walk->now->offset < load_u2(row + 2) &&
            !constructor_follow(walk, load_u2(row + 4), true))
            return false;
    }
    return true;
}

/* Counts the slots of the descriptor's parameters and of its result. */
static bool descriptor_slots(struct class_text text, uint32_t *parameters, uint32_t *result)
{
    bool closed = text.length == 0 || text.bytes[0] != '(';
    *parameters = 0;
    *result = 0;
    for (size_t i = closed ? 0 : 1; i < text.length;) {
        if (text.bytes[i] == ')' && !closed) {
            closed = true;
            i++;
            continue;
        }
        uint32_t *slots = closed ? result : parameters, type = type_next(text, &i);
        if (type == 0)
            return false;
        *slots += type == 'V' ? 0 : type == 'J' || type == 'D' ? 2 : 1;
    }
    return closed;
}

static bool constant_descriptor(struct walk *walk, const uint8_t *at, struct class_text *text)
{
    struct class_file *file = walk->method->file;
    uint32_t index = load_u2(at);
    if (index >= file->constant_count || file->constants[index] == 0)
        return class_malformed(file, at, "an invalid index of a member");
    const uint8_t *member = file->bytes + file->constants[index];
    bool pair = (member[0] >= 9 && member[0] <= 11) || member[0] == 17 || member[0] == 18;
    uint32_t type = pair ? load_u2(member + 3) : 0;
    if (type >= file->constant_count || file->constants[type] == 0 ||
        file->bytes[file->constants[type]] != CONSTANT_NAME_AND_TYPE)
        return class_malformed(file, at, "an invalid index of a member");
    return pool_text(file, load_u2(file->bytes + file->constants[type] + 3), text);
}

static bool walk_field(struct walk *walk, uint32_t opcode, const uint8_t *at)
{
    struct class_text descriptor;
    if (!constant_descriptor(walk, at + 1, &descriptor))
        return false;
    uint32_t none, slots;
    if (!descriptor_slots(descriptor, &none, &slots))
        return class_malformed(walk->method->file, at, "an invalid field descriptor");
    bool put = opcode == 0xB3 || opcode == 0xB5, instance = opcode >= 0xB4;
    if (!put)
        return constructor_pop(walk, instance) && constructor_push(walk, slots, 0);
    if (!constructor_pop(walk, slots + instance))
        return false;
    return opcode != 0xB5 || walk->stack[walk->now->depth] == 0 ||
           store_is_early(walk->method, walk->now->offset);
}

/* Sets *constructed if this was the call of super() or this(). */
static bool walk_call(struct walk *walk, uint32_t opcode, const uint8_t *at, bool *constructed)
{
    struct class_text descriptor;
    struct class_callee callee;
    uint32_t parameters, result;
    if (!constant_descriptor(walk, at + 1, &descriptor))
        return false;
    if (!descriptor_slots(descriptor, &parameters, &result))
        return class_malformed(walk->method->file, at, "an invalid method descriptor");
    bool instance = opcode != 0xB8 && opcode != 0xBA;
    if (!constructor_pop(walk, parameters) || !constructor_pop(walk, instance))
        return false;
    if (opcode == 0xB7 && walk->stack[walk->now->depth] == 1) {
        if (!pool_callee(walk->method->file, load_u2(at + 1), &callee))
            return false;
        *constructed = text_is(callee.name, "<init>");
    }
    return constructor_push(walk, result, 0);
}

/* dup (0x59) to swap (0x5F): rearranges the topmost slots. */
static bool walk_stack(struct walk *walk, uint32_t opcode)
{
    static const struct {
        uint8_t pops, pushes, order[6]; /* indices of popped slots, deepest is 0 */
    } moves[] = {
        {1, 2, {0, 0}},       {2, 3, {1, 0, 1}},       {3, 4, {2, 0, 1, 2}},
        {2, 4, {0, 1, 0, 1}}, {3, 5, {1, 2, 0, 1, 2}}, {4, 6, {2, 3, 0, 1, 2, 3}},
        {2, 2, {1, 0}},
    };
    uint32_t row = opcode - 0x59;
    if (!constructor_pop(walk, moves[row].pops))
        return false;
    uint8_t old[4];
    memcpy(old, walk->stack + walk->now->depth, moves[row].pops);
    for (uint32_t i = 0; i < moves[row].pushes; i++) {
        if (!constructor_push(walk, 1, old[moves[row].order[i]]))
            return false;
    }
    return true;
}

static bool store_local(struct walk *walk, uint32_t index, uint32_t slots)
{
    if (slots > walk->method->max_locals || index > walk->method->max_locals - slots)
        return method_malformed(walk->method, walk->now->offset, "no such local variable");
    if (!constructor_pop(walk, slots))
        return false;
    memset(walk->locals + index, 0, slots);
    if (slots == 1)
        walk->locals[index] = walk->stack[walk->now->depth];
    return true;
}

static bool load_reference(struct walk *walk, uint32_t index)
{
    if (index >= walk->method->max_locals)
        return method_malformed(walk->method, walk->now->offset, "no such local variable");
    return constructor_push(walk, 1, walk->locals[index]);
}

/* Loads and stores of references, stores of anything; `index` is the operand. */
static bool walk_variable(struct walk *walk, uint32_t opcode, uint32_t index)
{
    if (opcode == 0x19)
        return load_reference(walk, index);
    if (opcode >= 0x2A && opcode <= 0x2D)
        return load_reference(walk, opcode - 0x2A);
    if (opcode >= 0x36 && opcode <= 0x3A)
        return store_local(walk, index, opcode == 0x37 || opcode == 0x39 ? 2 : 1);
    uint32_t group = (opcode - 0x3B) / 4; /* istore lstore fstore dstore astore */
    return store_local(walk, (opcode - 0x3B) % 4, group == 1 || group == 3 ? 2 : 1);
}

static bool is_variable(uint32_t opcode)
{
    return opcode == 0x19 || (opcode >= 0x2A && opcode <= 0x2D) ||
           (opcode >= 0x36 && opcode <= 0x4E);
}

static bool walk_fixed(struct walk *walk, uint32_t opcode)
{
    const char *effect = &effects[opcode / 16][3 * (opcode % 16)];
    if (effect[0] < '0')
        return method_malformed(walk->method, walk->now->offset, "no instruction");
    return constructor_pop(walk, (uint32_t) (effect[0] - '0')) &&
           constructor_push(walk, (uint32_t) (effect[1] - '0'), 0);
}

static bool walk_wide(struct walk *walk, const uint8_t *at)
{
    if (is_variable(at[1]))
        return walk_variable(walk, at[1], load_u2(at + 2));
    return walk_fixed(walk, at[1]);
}

/* The effect of one instruction on the stack and the variables. */
static bool walk_instruction(struct walk *walk, bool *constructed)
{
    const uint8_t *at = walk->method->code + walk->now->offset;
    uint32_t opcode = at[0];
    if (is_variable(opcode))
        return walk_variable(walk, opcode, at[1]);
    if (opcode >= 0x59 && opcode <= 0x5F)
        return walk_stack(walk, opcode);
    if (opcode >= 0xB2 && opcode <= 0xB5)
        return walk_field(walk, opcode, at);
    if (opcode >= 0xB6 && opcode <= 0xBA)
        return walk_call(walk, opcode, at, constructed);
    if (opcode == 0xC4)
        return walk_wide(walk, at);
    if (opcode == 0xC5)
        return constructor_pop(walk, at[3]) && constructor_push(walk, 1, 0);
    return walk_fixed(walk, opcode);
}

static bool follow_switch(struct walk *walk)
{
    const uint8_t *code = walk->method->code;
    uint32_t offset = walk->now->offset, first, stride;
    uint32_t count = switch_cases(code, offset, &first, &stride);
    if (!constructor_follow(walk, offset + load_u4(code + switch_operands(offset)), false))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!constructor_follow(walk, offset + load_u4(code + first + i * stride), false))
            return false;
    }
    return true;
}

/* Follows all ways on, except to handlers. */
static bool follow_flow(struct walk *walk)
{
    struct method_code *method = walk->method;
    uint32_t offset = walk->now->offset, opcode = method->code[offset];
    if (opcode_is_switch(opcode))
        return follow_switch(walk);
    if (opcode == 0xA9 || (opcode == 0xC4 && method->code[offset + 1] == 0xA9))
        return method_leave(method, "its constructor has subroutines");
    if ((opcode_is_jump(opcode) || opcode_is_wide_jump(opcode)) &&
        !constructor_follow(walk, jump_target(method, offset), false))
        return false;
    uint32_t next = offset + instruction_size(method->code, method->length, offset);
    return opcode_ends_flow(opcode) || constructor_follow(walk, next, false);
}

/* Returns true for a constant whose loading runs no code. */
static bool is_plain_constant(const struct method_code *method, const uint8_t *at)
{
    const struct class_file *file = method->file;
    uint32_t index = at[0] == 0x12 ? at[1] : load_u2(at + 1);
    uint32_t tag = index < file->constant_count && file->constants[index] != 0
                       ? file->bytes[file->constants[index]]
                       : 0;
    return (tag >= CONSTANT_INTEGER && tag <= CONSTANT_DOUBLE) || tag == CONSTANT_STRING;
}

/* Returns true if the instruction neither calls nor throws nor loads a class: constants, variables,
 * the stack, arithmetic without integer division, jumps. */
static bool is_quiet(const struct method_code *method, const uint8_t *at)
{
    static const uint8_t ranges[][2] = {{0x00, 0x11}, {0x15, 0x2D}, {0x36, 0x4E},
                                        {0x57, 0x6B}, {0x6E, 0x6F}, {0x72, 0xA7},
                                        {0xAA, 0xAB}, {0xC4, 0xC4}, {0xC6, 0xC8}};
    if (at[0] >= 0x12 && at[0] <= 0x14)
        return is_plain_constant(method, at);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (at[0] >= ranges[i][0] && at[0] <= ranges[i][1])
            return true;
    }
    return false;
}

/* Marks one instruction and follows all ways on from it. Handlers are followed before the
 * instruction takes effect: an exception leaves the variables as they were. After super() has
 * returned the way ends, and what follows is marked by nothing. */
static bool walk_one(struct walk *walk)
{
    struct method_code *method = walk->method;
    uint32_t offset = walk->now->offset;
    bool constructed = false;
    method->marks[offset] |= MARK_UNINITIALIZED;
    if (!follow_handlers(walk) || !walk_instruction(walk, &constructed))
        return false;
    if (!constructed) {
        method->runs_before = method->runs_before || !is_quiet(method, method->code + offset);
        return follow_flow(walk);
    }
    method->marks[offset] |= MARK_CONSTRUCTED;
    if (method->max_locals == 0 || walk->locals[0] != 1)
        method->marks[offset] |= MARK_NO_THIS;
    return true;
}

/* Marks what runs before super() or this() has returned. Two things depend on it: the verifier
 * allows no handler there whose frame lacks the uninitialised `this`, and `this` must not be passed
 * to a probe. Looking for the first invokespecial is not enough, as the arguments of super() may
 * create other objects.
 *
 * Each instruction is visited once, with the state of the first way that leads to it. That
 * suffices: the verifier has made sure, or will, that all ways agree on where an uninitialised
 * object can be used. A class that breaks this rule is not accepted by the JVM, with or without
 * probes. The state says of each slot only whether it has the uninitialised `this`, so the walk
 * needs no types; its memory is limited, since a state of 130,000 slots could be needed for each of
 * 65,535 instructions. */
bool constructor_mark(struct method_code *method)
{
    struct walk walk = {.method = method};
    if (method->max_locals == 0)
        return method_malformed(method, 0, "no such local variable");
    method->runs_before = false;
    walk.state_bytes = sizeof *walk.now + method->max_locals + method->max_stack;
    walk.now = step_arena_zeroed(&method->file->arena, walk.state_bytes);
    walk.seen = step_arena_zeroed(&method->file->arena, method->length);
    if (walk.now == NULL || walk.seen == NULL)
        return method_no_memory(method);
    walk.now->slots[0] = 1;
    walk.seen[0] = 1;
    walk.todo = walk.now;
    while (walk.todo != NULL) {
        walk.now = walk.todo;
        walk.todo = walk.now->next;
        walk.locals = walk.now->slots;
        walk.stack = walk.now->slots + method->max_locals;
        if (!walk_one(&walk))
            return false;
    }
    return true;
}
