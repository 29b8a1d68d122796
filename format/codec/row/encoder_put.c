/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes values of a field in rows by its policy: general strategies, targeted ones, basic rules.
 *
 * Each level either encodes the value, or notes a change and hands the value to the next one
 * (paper, Appendix B). The changes are noted in that order, and the reader applies them in that
 * order before it reads the value.  State changes with each value that a level sees: a strategy
 * that is passed over by the one above it learns nothing, on both sides.
 */
#include "format/codec/row/encoder.h"

/* State of a writer: bytes, and the changes before them. */
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

/* A size that grows for good (`n..`) suits a field whose values grow over time; one that grows for
 * one value (`n+`) a field with a few large ones.  A fixed size that is too small is the
 * definition's mistake, which the caller hears of. */
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

/* Encodes by a strategy that measures from an earlier value: delta, stride, window.  They differ in
 * two things only: whether the difference is written or known (`is_silent`), and whether the base
 * moves with each value (delta, stride) or only with one that is too far from it (window). The
 * paper's thresholds decide here, as a value beyond them costs a change. */
static enum step_status put_measured(struct putting *putting, uint64_t value)
{
    struct step_encoder *encoder = putting->encoder;
    const struct step_strategy *strategy = encoder->strategy;
    uint64_t parameter = encoder->policy.parameter;
    uint64_t difference = value - encoder->last;
    bool regular = strategy->is_silent ? difference == parameter : is_near(difference, parameter);
    bool first = !encoder->has_last;
    encoder->has_last = true;
    if (!regular || first || !strategy->keeps_base)
        encoder->last = value;
    if (regular && !first)
        return strategy->is_silent ? STEP_STATUS_OK : put_varint(putting, step_zigzag(difference));
    if (!first)
        change(putting, STEP_CHANGE_RESTART, 0);
    return put_basic(putting, value);
}

static enum step_status put_subordinate(struct putting *putting, uint64_t value, uint64_t key)
{
    struct step_encoder *encoder = putting->encoder;
    uint64_t code;
    if (encoder->policy.targeted == STEP_TARGETED_NONE)
        return put_basic(putting, value);
    const struct step_row_coder *rows = encoder->strategy->rows;
    if (rows == NULL)
        return put_measured(putting, value);
    if (!rows->gives_differences)
        value = step_fold(value, encoder->policy.is_unsigned);
    if (!rows->code(encoder->state, value, key, &code))
        return STEP_STATUS_NO_MEMORY;
    return put_varint(putting, rows->gives_differences ? step_zigzag(code) : code);
}

/* The STEP paper writes a new value as a pair of value and ID (section 3.3, Appendix B.1). Here the
 * ID is left out: numbers are given in order of first use, so the reader counts them.  A change
 * announces the new value, and the levels below encode it. */
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

/* A value that deviates twice in succession becomes the usual one; for an eager encoder once is
 * enough.  A single deviation costs one change and leaves the usual value; shifting at once would
 * cost a second one to come back.  The field `encoder` of meta-events is eager, so
 * that a second change of the same encoder costs nothing. */
static enum step_status put_usual(struct putting *putting, uint64_t value, uint64_t key)
{
    struct step_encoder *encoder = putting->encoder;
    if (encoder->has_usual && value == encoder->usual) {
        encoder->has_unusual = false;
        return STEP_STATUS_OK;
    }
    if (!encoder->has_usual) {
        encoder->has_usual = true;
        encoder->usual = value;
        return put_subordinate(putting, value, key);
    }
    if (encoder->policy.general == STEP_CONSTANT)
        return STEP_STATUS_INVALID;
    bool again = encoder->eager || (encoder->has_unusual && encoder->unusual == value);
    change(putting, again ? STEP_CHANGE_SHIFT : STEP_CHANGE_DEFER, 0);
    encoder->unusual = value;
    encoder->has_unusual = true;
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
    return status;
}
