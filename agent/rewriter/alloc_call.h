/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that return a new object which no constructor and no array instruction shows. */
#ifndef AGENT_REWRITER_ALLOC_CALL_H
#define AGENT_REWRITER_ALLOC_CALL_H

#include "agent/rewriter/method_code.h"

enum alloc_call {
    ALLOC_CALL_UNKNOWN, /* not looked up yet */
    ALLOC_CALL_NONE,
    ALLOC_CALL_FRESH,
    ALLOC_CALL_CLONE,        /* clone() of any class: a new object only if the class has Object's */
    ALLOC_CALL_CLONE_OWN,    /* same, of the calling class */
    ALLOC_CALL_CLONE_OBJECT, /* same, of Object */
    ALLOC_CALL_CLONE_ARRAY,  /* same, of an array */
    ALLOC_CALL_STRING,       /* a fresh string with its array */
    ALLOC_CALL_TRACE,        /* a throwable with fresh arrays of its stack trace */
    ALLOC_CALL_UNLESS,       /* fresh unless the result is in a variable of the caller */
    ALLOC_CALL_MESSAGE,      /* a throwable whose message, in a variable of the caller, may be
                              * fresh */
    ALLOC_CALL_ARRAYS,       /* (Class, int[] dimensions) */
    ALLOC_CALL_KEEP          /* before calls that C2 would remove */
};

/* What the calling method does about such a call, by its kind; about clones see method_scan.c. */
extern const struct alloc_result {
    uint32_t mark; /* enum code_mark */
    enum probe probe;
    uint32_t variable; /* of the caller, which the probe gets as well; 0: none */
} alloc_results[];

/* Returns false if the caller has no such variable, or it means something else. */
bool alloc_call_fits(enum alloc_call kind, const struct method_code *method);

/* Returns what a call of the method constant `index` gives. UNKNOWN: it is not a method, and the
 * fault is set. */
enum alloc_call alloc_call_of(struct class_file *file, uint32_t index);

/* Returns true if a method's callers report what its body allocates, so that the body must not. */
bool alloc_body_is_silent(const struct method_code *method);

#endif
