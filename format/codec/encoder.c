/* SPDX-License-Identifier: Apache-2.0 */
/* Policies at work: general strategies, targeted ones, basic rules, each both ways. */
#include "encoder.h"

#include <stdlib.h>
#include <string.h>

#include "identifiers.h"
#include "packed_strings.h"
#include "transform.h"

static const char no_memory[] = "out of memory";

void step_encoder_reset(struct step_encoder *encoder)
{
    free(encoder->table);
    free(encoder->stack);
    step_live_set_reset(&encoder->live);
    step_identifiers_reset(&encoder->identifiers);
    *encoder = (struct step_encoder){0};
}

static bool uses_table(const struct step_policy *policy)
{
    return policy->targeted == STEP_GIVEN || policy->targeted == STEP_CONTEXT ||
           policy->targeted == STEP_DFCM;
}

static bool make_table(struct step_encoder *encoder)
{
    size_t size = (size_t) 1 << encoder->bits;
    if (size > encoder->table_capacity) {
        free(encoder->table);
        encoder->table = calloc(size, sizeof *encoder->table);
        encoder->table_capacity = encoder->table != NULL ? size : 0;
        return encoder->table != NULL;
    }
    memset(encoder->table, 0, size * sizeof *encoder->table);
    return true;
}

enum step_status step_encoder_start(struct step_encoder *encoder, const struct step_policy *policy,
                                    unsigned bits, bool hashed)
{
    struct step_encoder fresh = {
        .policy = *policy,
        .bits = bits,
        .hashed = hashed,
        .width = policy->bytes,
        .table = encoder->table,
        .table_capacity = encoder->table_capacity,
        .identifiers = encoder->identifiers,
        .stack = encoder->stack,
        .stack_capacity = encoder->stack_capacity,
        .live = encoder->live,
    };
    *encoder = fresh;
    step_live_set_clear(&encoder->live);
    if (policy->resolution > 1)
        encoder->scale = step_scale_of(policy->resolution);
    step_identifiers_clear(&encoder->identifiers);
    encoder->context.shift = 64 - bits;
    encoder->context.order = (size_t) policy->parameter;
    encoder->recent.size = (size_t) policy->parameter;
    return !uses_table(policy) || make_table(encoder) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

static uint64_t unfold(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* The writer's side: bytes, and the changes before them. */
struct putting {
    struct step_encoder *encoder;
    struct step_buffer *out;
    struct step_change *changes;
    size_t change_count;
};

static void change(struct putting *putting, enum step_change_kind kind, unsigned bytes)
{
    putting->changes[putting->change_count++] = (struct step_change){kind, bytes};
}

static enum step_status put_varint(struct putting *putting, uint64_t value)
{
    return step_buffer_append_varint(putting->out, value) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

static enum step_status put_basic(struct putting *putting, uint64_t value)
{
    struct step_encoder *encoder = putting->encoder;
    const struct step_policy *policy = &encoder->policy;
    if (policy->size == STEP_SIZE_CREEP)
        return put_varint(putting, policy->is_unsigned ? value : step_zigzag(value));
    unsigned need = step_policy_width(policy, value);
    unsigned width = encoder->width;
    if (need > width) {
        if (policy->size == STEP_SIZE_FIXED)
            return STEP_STATUS_INVALID;
        change(putting, policy->size == STEP_SIZE_START ? STEP_CHANGE_GROW : STEP_CHANGE_WIDEN,
               need);
        width = need;
        if (policy->size == STEP_SIZE_START)
            encoder->width = need;
    }
    uint8_t bytes[8];
    step_store_u64(bytes, value);
    return step_buffer_append(putting->out, bytes, width) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

static bool is_near(uint64_t difference, uint64_t threshold)
{
    uint64_t magnitude = difference >> 63 ? 0 - difference : difference;
    return magnitude <= threshold;
}

/* What `context` and `recent` deal with: no negative numbers. */
static uint64_t fold(const struct step_encoder *encoder, uint64_t value)
{
    return encoder->policy.is_unsigned ? value : step_zigzag(value);
}

/* Where the stack cannot grow, what is pushed is lost, for reader and writer alike: it only
 * foretells worse. */
enum { STACK_MOST = 1 << 20 };

static void push(struct step_encoder *encoder, uint64_t value)
{
    if (encoder->depth == STACK_MOST)
        return;
    if (encoder->depth == encoder->stack_capacity) {
        size_t capacity = encoder->stack_capacity * 2 + 64;
        uint64_t *stack = realloc(encoder->stack, capacity * sizeof *stack);
        if (stack == NULL) {
            encoder->lacks_memory = true;
            return;
        }
        encoder->stack = stack;
        encoder->stack_capacity = capacity;
    }
    encoder->stack[encoder->depth++] = value;
}

static uint64_t pop(struct step_encoder *encoder)
{
    return encoder->depth > 0 ? encoder->stack[--encoder->depth] : 0;
}

/* The strategies that give every value a code; false for the others. */
static bool code_of(struct step_encoder *encoder, uint64_t value, uint64_t key, uint64_t *code)
{
    uint64_t *entry;
    switch (encoder->policy.targeted) {
    case STEP_OFFSET:
        *code = step_zigzag(value - encoder->policy.parameter);
        return true;
    case STEP_GIVEN:
        entry = &encoder->table[step_given_entry(key, encoder->hashed, encoder->bits)];
        *code = step_zigzag(value - *entry);
        *entry = value;
        return true;
    case STEP_CONTEXT:
        entry = &encoder->table[step_context_entry(&encoder->context)];
        *code = step_front_code(fold(encoder, value), *entry);
        step_context_push(&encoder->context, *entry = fold(encoder, value));
        return true;
    case STEP_DFCM:
        entry = &encoder->table[step_context_entry(&encoder->context)];
        *code = step_zigzag(value - encoder->last - *entry);
        step_context_push(&encoder->context, *entry = value - encoder->last);
        encoder->last = value;
        return true;
    case STEP_RECENT:
        *code = step_recent_code(&encoder->recent, fold(encoder, value));
        return true;
    case STEP_STACK:
        *code = fold(encoder, value);
        if (key != 0)
            push(encoder, *code);
        else
            *code = step_front_code(*code, pop(encoder));
        return true;
    case STEP_AGE:
        *code = step_zigzag(key - value);
        return true;
    case STEP_SEQUENCE:
        *code = step_zigzag(value - encoder->last - 1);
        encoder->last = value;
        return true;
    case STEP_LIVE:
        if (!step_live_set_code(&encoder->live, value, code))
            encoder->lacks_memory = true;
        *code = step_zigzag(*code);
        return true;
    default:
        return false;
    }
}

/* Where the code of code_of() stands for a value. */
static uint64_t value_of(struct step_encoder *encoder, uint64_t code, uint64_t key)
{
    uint64_t *entry;
    uint64_t value;
    switch (encoder->policy.targeted) {
    case STEP_GIVEN:
        entry = &encoder->table[step_given_entry(key, encoder->hashed, encoder->bits)];
        return *entry += unfold(code);
    case STEP_CONTEXT:
        entry = &encoder->table[step_context_entry(&encoder->context)];
        value = step_front_value(code, *entry);
        step_context_push(&encoder->context, *entry = value);
        return encoder->policy.is_unsigned ? value : unfold(value);
    case STEP_DFCM:
        entry = &encoder->table[step_context_entry(&encoder->context)];
        value = encoder->last + *entry + unfold(code);
        step_context_push(&encoder->context, *entry = value - encoder->last);
        return encoder->last = value;
    case STEP_RECENT:
        value = step_recent_value(&encoder->recent, code);
        return encoder->policy.is_unsigned ? value : unfold(value);
    case STEP_STACK:
        value = key != 0 ? code : step_front_value(code, pop(encoder));
        if (key != 0)
            push(encoder, code);
        return encoder->policy.is_unsigned ? value : unfold(value);
    case STEP_AGE:
        return key - unfold(code);
    case STEP_SEQUENCE:
        return encoder->last += unfold(code) + 1;
    case STEP_LIVE:
        value = 0;
        if (!step_live_set_value(&encoder->live, unfold(code), &value))
            encoder->lacks_memory = true;
        return value;
    default: /* offset */
        return encoder->policy.parameter + unfold(code);
    }
}

static bool is_coded(enum step_targeted targeted)
{
    return targeted == STEP_OFFSET || targeted >= STEP_GIVEN;
}

/* The strategies that measure from an earlier value: delta, stride, window. */
static enum step_status put_measured(struct putting *putting, uint64_t value)
{
    struct step_encoder *encoder = putting->encoder;
    const struct step_policy *policy = &encoder->policy;
    uint64_t difference = value - encoder->last;
    bool regular = policy->targeted == STEP_STRIDE ? difference == policy->parameter
                                                   : is_near(difference, policy->parameter);
    bool first = !encoder->has_last;
    encoder->has_last = true;
    if (!regular || first || policy->targeted != STEP_WINDOW)
        encoder->last = value;
    if (regular && !first)
        return policy->targeted == STEP_STRIDE ? STEP_STATUS_OK
                                               : put_varint(putting, step_zigzag(difference));
    if (!first)
        change(putting, STEP_CHANGE_RESTART, 0);
    return put_basic(putting, value);
}

static enum step_status put_subordinate(struct putting *putting, uint64_t value, uint64_t key)
{
    uint64_t code;
    if (putting->encoder->policy.targeted == STEP_TARGETED_NONE)
        return put_basic(putting, value);
    if (code_of(putting->encoder, value, key, &code))
        return put_varint(putting, code);
    return put_measured(putting, value);
}

static enum step_status put_identifier(struct putting *putting, uint64_t value, uint64_t key)
{
    uint64_t number = step_identifiers_find(&putting->encoder->identifiers, value);
    if (number != 0)
        return put_varint(putting, number);
    if (!step_identifiers_add(&putting->encoder->identifiers, value, true))
        return STEP_STATUS_NO_MEMORY;
    change(putting, STEP_CHANGE_DEFER, 0);
    return put_subordinate(putting, value, key);
}

/* A value that deviates twice on end is the usual one from then on; an eager encoder's at once. */
static enum step_status put_usual(struct putting *putting, uint64_t value, uint64_t key)
{
    struct step_encoder *encoder = putting->encoder;
    if (encoder->has_usual && value == encoder->usual) {
        encoder->unusual = 0;
        return STEP_STATUS_OK;
    }
    if (!encoder->has_usual) {
        encoder->has_usual = true;
        encoder->usual = value;
        return put_subordinate(putting, value, key);
    }
    if (encoder->policy.general == STEP_CONSTANT)
        return STEP_STATUS_INVALID;
    bool again = encoder->eager || (encoder->unusual != 0 && encoder->unusual == value + 1);
    change(putting, again ? STEP_CHANGE_SHIFT : STEP_CHANGE_DEFER, 0);
    encoder->unusual = value + 1;
    if (again)
        encoder->usual = value;
    return put_subordinate(putting, value, key);
}

enum step_status step_encoder_put(struct step_encoder *encoder, uint64_t value, uint64_t key,
                                  struct step_buffer *out,
                                  struct step_change changes[STEP_CHANGES_MAX], size_t *count)
{
    struct putting putting = {encoder, out, changes, 0};
    enum step_status status;
    if (encoder->policy.resolution > 1)
        value = step_scale_down(&encoder->scale, value);
    switch (encoder->policy.general) {
    case STEP_IDENTIFIER:
        status = put_identifier(&putting, value, key);
        break;
    case STEP_CONSTANT:
    case STEP_DEFAULT:
        status = put_usual(&putting, value, key);
        break;
    default:
        status = put_subordinate(&putting, value, key);
    }
    *count = putting.change_count;
    return encoder->lacks_memory ? STEP_STATUS_NO_MEMORY : status;
}

/* The reader's side. */

static const char *change_width(struct step_encoder *encoder, const struct step_change *change)
{
    bool grows = change->kind == STEP_CHANGE_GROW;
    if (encoder->policy.size != (grows ? STEP_SIZE_START : STEP_SIZE_MIN))
        return "a change of size where the definition has none";
    if (change->bytes <= encoder->width || change->bytes > 8)
        return "a change to a size that is none";
    encoder->next_width = grows ? 0 : change->bytes;
    encoder->width = grows ? change->bytes : encoder->width;
    return NULL;
}

const char *step_encoder_change(struct step_encoder *encoder, struct step_change change)
{
    enum step_general general = encoder->policy.general;
    enum step_targeted targeted = encoder->policy.targeted;
    switch (change.kind) {
    case STEP_CHANGE_DEFER:
    case STEP_CHANGE_SHIFT:
        if (general != STEP_DEFAULT &&
            !(general == STEP_IDENTIFIER && change.kind == STEP_CHANGE_DEFER))
            return "a change of a strategy that the definition does not have";
        encoder->defers = true;
        encoder->shifts = change.kind == STEP_CHANGE_SHIFT;
        return NULL;
    case STEP_CHANGE_RESTART:
        if (targeted == STEP_TARGETED_NONE || is_coded(targeted))
            return "a change of a strategy that the definition does not have";
        encoder->restarts = true;
        return NULL;
    case STEP_CHANGE_GROW:
    case STEP_CHANGE_WIDEN:
        return change_width(encoder, &change);
    case STEP_CHANGE_SPELL:
        if ((encoder->policy.strings & STEP_STRINGS_NUMBERED) == 0)
            return "a change of a strategy that the definition does not have";
        encoder->spells = true;
        return NULL;
    default:
        return "a change of an unknown kind";
    }
}

static const char *get_varint(struct step_cursor *cursor, uint64_t *value)
{
    return step_cursor_varint(cursor, value) ? NULL : "the bytes end within a value";
}

static const char *get_basic(struct step_encoder *encoder, struct step_cursor *cursor,
                             uint64_t *value)
{
    const struct step_policy *policy = &encoder->policy;
    if (policy->size == STEP_SIZE_CREEP) {
        const char *fault = get_varint(cursor, value);
        if (fault == NULL && !policy->is_unsigned)
            *value = unfold(*value);
        return fault;
    }
    unsigned width = encoder->next_width != 0 ? encoder->next_width : encoder->width;
    const uint8_t *bytes;
    encoder->next_width = 0;
    if (!step_cursor_bytes(cursor, width, &bytes))
        return "the bytes end within a value";
    uint64_t result = 0;
    for (unsigned i = 0; i < width; i++)
        result |= (uint64_t) bytes[i] << (8 * i);
    if (!policy->is_unsigned && width < 8 && bytes[width - 1] >= 0x80)
        result |= UINT64_MAX << (8 * width);
    *value = result;
    return NULL;
}

static const char *get_measured(struct step_encoder *encoder, struct step_cursor *cursor,
                                uint64_t *value)
{
    const struct step_policy *policy = &encoder->policy;
    bool anew = !encoder->has_last || encoder->restarts;
    uint64_t difference = policy->parameter;
    const char *fault = NULL;
    encoder->has_last = true;
    encoder->restarts = false;
    if (anew) {
        fault = get_basic(encoder, cursor, value);
        encoder->last = fault == NULL ? *value : 0;
        return fault;
    }
    if (policy->targeted != STEP_STRIDE) {
        fault = get_varint(cursor, &difference);
        difference = unfold(fault == NULL ? difference : 0);
    }
    *value = encoder->last + difference;
    if (policy->targeted != STEP_WINDOW)
        encoder->last = *value;
    return fault;
}

static const char *get_subordinate(struct step_encoder *encoder, uint64_t key,
                                   struct step_cursor *cursor, uint64_t *value)
{
    if (encoder->policy.targeted == STEP_TARGETED_NONE)
        return get_basic(encoder, cursor, value);
    if (!is_coded(encoder->policy.targeted))
        return get_measured(encoder, cursor, value);
    uint64_t code;
    const char *fault = get_varint(cursor, &code);
    if (fault == NULL)
        *value = value_of(encoder, code, key);
    return encoder->lacks_memory ? no_memory : fault;
}

static const char *get_identifier(struct step_encoder *encoder, uint64_t key,
                                  struct step_cursor *cursor, uint64_t *value)
{
    struct step_identifiers *identifiers = &encoder->identifiers;
    uint64_t number;
    const char *fault;
    if (encoder->defers) {
        encoder->defers = false;
        fault = get_subordinate(encoder, key, cursor, value);
        if (fault == NULL && !step_identifiers_add(identifiers, *value, false))
            fault = no_memory;
        return fault;
    }
    fault = get_varint(cursor, &number);
    if (fault == NULL && (number == 0 || number > identifiers->count))
        fault = "an identifier that was never defined";
    if (fault == NULL)
        *value = identifiers->values[number - 1];
    return fault;
}

static const char *get_usual(struct step_encoder *encoder, uint64_t key, struct step_cursor *cursor,
                             uint64_t *value)
{
    bool anew = !encoder->has_usual || encoder->defers;
    bool stays = !encoder->has_usual || encoder->shifts;
    encoder->defers = encoder->shifts = false;
    *value = encoder->usual;
    if (!anew)
        return NULL;
    const char *fault = get_subordinate(encoder, key, cursor, value);
    if (fault == NULL && stays)
        encoder->usual = *value;
    encoder->has_usual = true;
    return fault;
}

static const char *get_general(struct step_encoder *encoder, uint64_t key,
                               struct step_cursor *cursor, uint64_t *value)
{
    switch (encoder->policy.general) {
    case STEP_IDENTIFIER:
        return get_identifier(encoder, key, cursor, value);
    case STEP_CONSTANT:
    case STEP_DEFAULT:
        return get_usual(encoder, key, cursor, value);
    default:
        return get_subordinate(encoder, key, cursor, value);
    }
}

const char *step_encoder_get(struct step_encoder *encoder, uint64_t key, struct step_cursor *cursor,
                             uint64_t *value)
{
    const char *fault = get_general(encoder, key, cursor, value);
    if (encoder->policy.resolution > 1 && fault == NULL)
        *value = step_scale_up(&encoder->scale, *value);
    return fault;
}
