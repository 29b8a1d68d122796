/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding attributes of a field, read into what the codecs choose by. */
#ifndef STEP_STEP_WISH_H
#define STEP_STEP_WISH_H

#include "choose.h"
#include "steptrace/definition.h"

struct step_field_wish {
    struct step_wish column;
    bool is_time;      /* <property:"time"> */
    bool is_thread;    /* <property:"thread"> */
    const char *given; /* name of the other field, not NUL-terminated; NULL if none */
    size_t given_length;
};

/* The rules of `attributes`, in order, on top of what `wish` says already. */
void step_wish_read(const struct step_attributes *attributes, struct step_field_wish *wish);

#endif
