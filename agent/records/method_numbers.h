/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that probes pass: which method each is, and what that is in the session's dictionary.
 * A method has the same number in all sessions, and so its class the same constants, which the JVM
 * would keep of each.
 */
#ifndef AGENT_RECORDS_METHOD_NUMBERS_H
#define AGENT_RECORDS_METHOD_NUMBERS_H

#include "agent/base/tracer.h"

#define METHOD_PAGE_NUMBERS 4096u
#define METHOD_PAGES 32768u
#define METHOD_SESSION_SHIFT 40u
#define METHOD_ID_MASK ((UINT64_C(1) << METHOD_SESSION_SHIFT) - 1)

/* For each number: session << 40 | the method's entry in the session's dictionary, which is 0 for
 * a method that the session does not trace, or that the JVM cannot name. */
struct method_page {
    _Atomic uint64_t methods[METHOD_PAGE_NUMBERS];
    _Atomic(jmethodID) ids[METHOD_PAGE_NUMBERS];
    _Atomic uint64_t classes[METHOD_PAGE_NUMBERS]; /* of constructors: session << 40 | class */
    _Atomic uint32_t names[METHOD_PAGE_NUMBERS];   /* a hash of what it is called; 0: not known */
};

extern _Atomic(struct method_page *) method_pages[METHOD_PAGES]
    __attribute__((visibility("hidden")));

/* A number for a method that is being rewritten; 0: none are left. */
uint32_t method_new_number(void);
/* The same, by what the method is called; `loader` tells class loaders apart.  Not for classes of
 * which a loader may have several with one name. */
uint32_t method_number_of(uint64_t loader, const char *class_name, const char *method_name,
                          const char *descriptor);

/* Says what a new number's method is called: what is found on the stack is held against it. */
void method_name_number(uint32_t number, const char *class_name, const char *method_name,
                        const char *descriptor);

/* A probe in Java, which stands between a method and its native probe. */
void method_called_through(jmethodID probe);
/* At first sight of a number: the method on the stack that called its probe; 0: not traced, or not
 * to be seen, as the JVM hides the frames of a virtual thread that changes its carrier. */
uint64_t method_find(struct session *session, uint32_t number);

/* NULL: there is no such number. */
static inline struct method_page *method_page_of(uint32_t number)
{
    return atomic_load_explicit(&method_pages[number / METHOD_PAGE_NUMBERS % METHOD_PAGES],
                                memory_order_relaxed);
}

/* Where the number's method stands; NULL: there is no such number. */
static inline _Atomic uint64_t *method_known(uint32_t number)
{
    struct method_page *page = method_page_of(number);
    return page != NULL ? &page->methods[number % METHOD_PAGE_NUMBERS] : NULL;
}

/* The method's entry in the session's dictionary; 0: it is not traced.  Called by its own probe. */
static inline uint64_t method_of_number(struct session *session, uint32_t number)
{
    _Atomic uint64_t *known = method_known(number);
    if (known == NULL)
        return 0;
    uint64_t packed = atomic_load_explicit(known, memory_order_relaxed);
    if (__builtin_expect(packed >> METHOD_SESSION_SHIFT == session->number, 1))
        return packed & METHOD_ID_MASK;
    return method_find(session, number);
}

/* Says which method a number is, where it cannot be seen on the stack; false: it is not traced. */
bool method_know(struct session *session, uint32_t number, jmethodID method);
/* The class of a method that has been called: a local reference, or NULL; its number in the
 * session's dictionary. */
jclass method_declaring_class(uint32_t number);
uint64_t method_class_of(struct session *session, uint32_t number);

#endif
