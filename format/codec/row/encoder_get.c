/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes values and changes of a field in rows by its policy.
 *
 * It mirrors encoder_put.c level by level, but nothing is decided here: changes that were read
 * before the value say which level it comes from (`defers`, `shifts`, `restarts`, `next_width`),
 * and each flag holds for one value.  The bytes are untrusted.  A change that the policy does not
 * have, a number that was not given yet, or a size that does not grow is a fault, since a writer
 * never makes one.
 */
#include "format/codec/row/encoder.h"
#include "format/codec/strategies/packed_strings.h"

static const char no_memory[] = "out of memory";

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
        if (targeted == STEP_TARGETED_NONE || encoder->strategy->rows != NULL)
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
            *value = step_unzigzag(*value);
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

/* The value that restarts is the next base, and so is the first of a block. */
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
    if (!encoder->strategy->is_silent) {
        fault = get_varint(cursor, &difference);
        difference = step_unzigzag(fault == NULL ? difference : 0);
    }
    *value = encoder->last + difference;
    if (!encoder->strategy->keeps_base)
        encoder->last = *value;
    return fault;
}

static const char *get_subordinate(struct step_encoder *encoder, uint64_t key,
                                   struct step_cursor *cursor, uint64_t *value)
{
    if (encoder->policy.targeted == STEP_TARGETED_NONE)
        return get_basic(encoder, cursor, value);
    const struct step_row_coder *rows = encoder->strategy->rows;
    if (rows == NULL)
        return get_measured(encoder, cursor, value);
    uint64_t code;
    const char *fault = get_varint(cursor, &code);
    if (fault != NULL)
        return fault;
    if (!rows->value(encoder->state, rows->gives_differences ? step_unzigzag(code) : code, key,
                     value))
        return no_memory;
    if (!rows->gives_differences)
        *value = step_unfold(*value, encoder->policy.is_unsigned);
    return NULL;
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
