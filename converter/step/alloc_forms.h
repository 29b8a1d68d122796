/* SPDX-License-Identifier: Apache-2.0 */
/* Maps HATF records to records of hatf.step, and back. */
#ifndef CONVERTER_STEP_ALLOC_FORMS_H
#define CONVERTER_STEP_ALLOC_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/hatf.h"

/* Number of slots of the longest record. */
enum { HEAP_STEP_SLOTS = 7 };

/* How a HATF tag is stored.  The slots of a record are time, thread, attributes; then, if the
 * tag has them, heap, size, the old address or an age, and the new address or a rank. */
struct alloc_form {
    uint8_t plain;  /* enum heap_record */
    uint8_t placed; /* the same with age and rank; `plain` if there is no such record */
    bool has_old;
    bool has_new;
};

extern const struct alloc_form alloc_forms[HATF_COMMENT];

#endif
