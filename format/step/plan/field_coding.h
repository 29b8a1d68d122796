/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding attributes of a field, in the form that codecs use. */
#ifndef FORMAT_STEP_PLAN_FIELD_CODING_H
#define FORMAT_STEP_PLAN_FIELD_CODING_H

#include "format/codec/choose.h"
#include "format/codec/strategies/policy.h"
#include "format/codec/strategies/scale.h"
#include "format/core/bytes.h"
#include "format/step/plan/charset.h"
#include "steptrace/definition.h"

struct step_field_coding {
    struct step_coding_hints column;
    struct step_policy policy; /* for rows */
    enum step_charset charset;
    uint64_t resolution;         /* values are rounded down to its multiples; 0: no rounding */
    bool type_varies;            /* type=variable */
    bool numbered;               /* equal values are stored once in a block */
    bool is_time;                /* <property:"time"> */
    bool is_thread;              /* <property:"thread"> */
    enum step_targeted given_by; /* the strategy of `given` */
    const char *given;           /* name of the other field, not NUL-terminated; NULL: none */
    const char *linked;          /* names of `linked`, likewise */
    size_t linked_length;
    size_t given_length; /* for stack, a record; for age, RECORD.FIELD */
};

/* Returns the value that the file will have. */
static inline uint64_t step_field_coding_round(const struct step_field_coding *field_coding,
                                               uint64_t value)
{
    return field_coding->resolution > 1
               ? step_scale_floor(field_coding->resolution, value, field_coding->column.is_signed)
               : value;
}

/* Applies the rules of `attributes`, in order, to `field_coding`. */
void step_field_coding_read(const struct step_attributes *attributes,
                            struct step_field_coding *field_coding);

/* Convert a policy to the text of `encoding` rules ("default,delta=5,size=4"), and back.  The
 * latter returns false for an invalid text; if a rule is unknown, `*unknown` is that rule, of
 * `*length` bytes. */
bool step_policy_print(const struct step_policy *policy, struct step_buffer *out);
bool step_policy_parse(const char *text, size_t text_length, struct step_policy *policy,
                       const char **unknown, size_t *length);

#endif
