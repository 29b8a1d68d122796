/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls give a new object that no constructor and no array instruction shows. */
#ifndef ALLOC_CALL_H
#define ALLOC_CALL_H

#include "class_file.h"

enum alloc_call {
    ALLOC_CALL_UNKNOWN, /* not looked at */
    ALLOC_CALL_NONE,
    ALLOC_CALL_FRESH,
    ALLOC_CALL_ONCE,   /* the callee may have told of its result */
    ALLOC_CALL_ARRAYS, /* (Class, int[] dimensions) */
    ALLOC_CALL_KEEP    /* of what C2 would take out */
};

/* What a call of the method constant `index` gives; UNKNOWN: it is none, and the fault is set. */
enum alloc_call alloc_call_of(struct class_file *file, uint32_t index);

/* True if a method's callers tell of what its body allocates, so that the body must not. */
bool alloc_body_is_silent(const struct class_file *file, struct class_text name,
                          struct class_text descriptor);

#endif
