/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding attributes of a field, read into what the codecs choose by. */
#ifndef FORMAT_STEP_PLAN_FIELD_CODING_H
#define FORMAT_STEP_PLAN_FIELD_CODING_H

#include "format/codec/choose.h"
#include "format/codec/strategies/policy.h"
#include "format/core/bytes.h"
#include "format/step/plan/charset.h"
#include "steptrace/definition.h"

struct step_field_coding {
    struct step_coding_hints column;
    struct step_policy policy; /* of rows */
    enum step_charset charset;
    uint64_t resolution;         /* values are rounded down to its multiples; 0: they are not */
    bool type_varies;            /* type=variable */
    bool numbered;               /* equal values are given once in a block */
    bool is_time;                /* <property:"time"> */
    bool is_thread;              /* <property:"thread"> */
    enum step_targeted given_by; /* the strategy that names `given` */
    const char *given;           /* name of the other field, not NUL-terminated; NULL if none */
    const char *linked;          /* what `linked` names, likewise */
    size_t linked_length;
    size_t given_length; /* of stack, a record; of age, a record, a dot, and its field */
};

/* The rules of `attributes`, in order, on top of what `field_coding` has already. */
void step_field_coding_read(const struct step_attributes *attributes,
                            struct step_field_coding *field_coding);

/* A policy as the text of `encoding` rules ("default,delta=5,size=4"), and back.  The latter
 * returns false for a text that is none; `*unknown` is then the rule that is not known, if it is
 * that, `*length` bytes. */
bool step_policy_print(const struct step_policy *policy, struct step_buffer *out);
bool step_policy_parse(const char *text, size_t text_length, struct step_policy *policy,
                       const char **unknown, size_t *length);

#endif
