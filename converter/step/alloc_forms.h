/* SPDX-License-Identifier: Apache-2.0 */
/* How HATF's records and those of hatf.step stand for each other. */
#ifndef CONVERTER_STEP_ALLOC_FORMS_H
#define CONVERTER_STEP_ALLOC_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/hatf.h"

/* Slots of the longest record. */
enum { HEAP_STEP_SLOTS = 7 };

/* The slots of an event are time, thread, attributes; then, where the tag has them, heap, size, the
 * old address or an age, the new address or a rank. */
struct alloc_form {
    uint8_t plain;  /* enum heap_record */
    uint8_t placed; /* the same with age and rank; `plain` where there is none */
    bool has_old;
    bool has_new;
};

extern const struct alloc_form alloc_forms[HATF_COMMENT];

#endif
