/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls give a new object that no constructor and no array instruction shows. */
#ifndef AGENT_REWRITER_ALLOC_CALL_H
#define AGENT_REWRITER_ALLOC_CALL_H

#include "agent/rewriter/class_file.h"

enum alloc_call {
    ALLOC_CALL_UNKNOWN, /* not looked at */
    ALLOC_CALL_NONE,
    ALLOC_CALL_FRESH,
    ALLOC_CALL_CLONE,        /* clone() of any class: only if that is Object's */
    ALLOC_CALL_CLONE_OWN,    /* of the calling class */
    ALLOC_CALL_CLONE_OBJECT, /* of Object */
    ALLOC_CALL_CLONE_ARRAY,  /* of an array */
    ALLOC_CALL_STRING,       /* a fresh string with its array */
    ALLOC_CALL_TRACE,        /* a throwable with fresh arrays that tell where it was made */
    ALLOC_CALL_UNLESS,       /* fresh unless the result is a variable of the caller */
    ALLOC_CALL_MESSAGE,      /* a throwable whose message, a variable of the caller, may be fresh */
    ALLOC_CALL_ARRAYS,       /* (Class, int[] dimensions) */
    ALLOC_CALL_KEEP          /* of what C2 would take out */
};

/* The probe for the result of such a call. */
enum probe alloc_call_probe(enum alloc_call kind);
/* The variable of the caller that it gets, too; 0: none. */
uint32_t alloc_call_variable(enum alloc_call kind);
/* False where the caller has no such variable, or it means something else. */
bool alloc_call_fits(enum alloc_call kind, const struct class_file *file,
                     struct class_text descriptor, uint32_t max_locals);

/* What a call of the method constant `index` gives; UNKNOWN: it is none, and the fault is set. */
enum alloc_call alloc_call_of(struct class_file *file, uint32_t index);

/* True if a method's callers tell of what its body allocates, so that the body must not. */
bool alloc_body_is_silent(const struct class_file *file, struct class_text name,
                          struct class_text descriptor);

#endif
