/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoder of one field in rows: converts values to bytes and back by the field's policy, one at a
 * time (STEP paper, section 3.1).
 *
 * A change, stored as a meta-event before the value, announces a value that the policy does not
 * predict (docs/formats/step.md). A writer's encoder produces changes, a reader's receives them;
 * both pass through the same states.
 *
 * A value can need three changes at most, one for each level of the policy: the general strategy
 * defers (DEFER, SHIFT), the targeted one restarts (RESTART), the basic rule grows (GROW, WIDEN).
 */
#ifndef FORMAT_CODEC_ROW_ENCODER_H
#define FORMAT_CODEC_ROW_ENCODER_H

#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/predictor.h"
#include "format/codec/strategies/scale.h"
#include "format/core/bytes.h"
#include "format/core/hash_index.h"
#include "steptrace/status.h"

enum step_change_kind {
    STEP_CHANGE_DEFER = 1, /* the general strategy leaves the next value to the next strategy */
    STEP_CHANGE_SHIFT,     /* like DEFER, and that value is the usual one from now on */
    STEP_CHANGE_RESTART,   /* the targeted strategy leaves the next value to the basic rule */
    STEP_CHANGE_GROW,      /* values have `bytes` bytes from now on */
    STEP_CHANGE_WIDEN,     /* only the next value has `bytes` bytes */
    STEP_CHANGE_SPELL,     /* the next string is stored, and gets the next number */
    STEP_CHANGE_END
};

struct step_change {
    enum step_change_kind kind;
    unsigned bytes; /* for GROW and WIDEN: 1 to 8 */
};

enum { STEP_CHANGES_MAX = 3 }; /* for one value */

/* Identifiers: values by number, and for a writer also numbers by value. */
struct step_identifiers {
    uint64_t *values;
    size_t count;
    size_t capacity;
    struct step_index places; /* of the values that can be found */
};

/* State of an encoder.  Zero-initialise. */
struct step_encoder {
    struct step_policy policy;
    const struct step_strategy *strategy; /* the targeted strategy of the policy */
    void *state;                          /* its state */
    bool has_usual;
    bool has_last;
    bool defers;
    bool shifts;
    bool eager; /* a value that deviates once becomes the usual one */
    bool restarts;
    bool spells;             /* used by the code for strings whose lengths are the values */
    struct step_scale scale; /* if the policy has a resolution */
    unsigned width;          /* of the basic rule */
    unsigned next_width;     /* of the next value alone, or 0 */
    uint64_t usual;          /* value of constant and default */
    uint64_t unusual;        /* the last deferred value; only in writers */
    bool has_unusual;        /* whether `unusual` is set */
    uint64_t last;           /* previous value or base, for strategies that measure from it */
    struct step_identifiers identifiers;
};

void step_encoder_reset(struct step_encoder *encoder); /* frees the storage */

/* Prepares it for a block.  `bits`, 1 to STEP_TABLE_BITS_MAX, is the size of its table, if it has
 * one.  `hashed`: table entries are found by a hash of the key. */
enum step_status step_encoder_start(struct step_encoder *encoder, const struct step_policy *policy,
                                    unsigned bits, bool hashed);

/* Appends a value; `key` is what the strategy needs at this value (step_row_coder).  Stores the
 * changes that must precede it in `changes`, and their number in `*count`.  INVALID: the policy
 * does not allow the value: a constant that changes, or a value too large for its size. */
enum step_status step_encoder_put(struct step_encoder *encoder, uint64_t value, uint64_t key,
                                  struct step_buffer *out,
                                  struct step_change changes[STEP_CHANGES_MAX], size_t *count);

/* Applies a change.  Returns NULL, or the fault. */
const char *step_encoder_change(struct step_encoder *encoder, struct step_change change);

/* Reads the next value.  Returns NULL, or the fault. */
const char *step_encoder_get(struct step_encoder *encoder, uint64_t key, struct step_cursor *cursor,
                             uint64_t *value);

/* The values that a field encoded `identifier` had so far, numbered from 1. */

/* Returns the number of a value that was added as findable, or 0. */
uint64_t step_identifiers_find(const struct step_identifiers *identifiers, uint64_t value);
/* Assigns the next number to a value.  A `findable` value must not have a number yet.  Returns
 * false if memory runs out. */
bool step_identifiers_add(struct step_identifiers *identifiers, uint64_t value, bool findable);

#endif
