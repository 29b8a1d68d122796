/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that probes pass for methods, and their entries in the session's dictionary. A method has
 * the same number in all sessions, and so its class has the same constants: the JVM would keep
 * those of each rewriting. */
#ifndef AGENT_RECORDS_METHOD_NUMBERS_H
#define AGENT_RECORDS_METHOD_NUMBERS_H

#include "agent/base/tracer.h"

#define METHOD_PAGE_NUMBERS 4096u
#define METHOD_PAGES 32768u
#define METHOD_SESSION_SHIFT 40u
#define METHOD_ID_MASK ((UINT64_C(1) << METHOD_SESSION_SHIFT) - 1)

/* For each number: session << 40 | the method's entry in the session's dictionary. The entry is 0
 * for a method that the session does not trace, or that the JVM cannot name. */
struct method_page {
    _Atomic uint64_t methods[METHOD_PAGE_NUMBERS];
    _Atomic(jmethodID) ids[METHOD_PAGE_NUMBERS];
    _Atomic uint64_t classes[METHOD_PAGE_NUMBERS]; /* of constructors: session << 40 | class */
    _Atomic uint32_t names[METHOD_PAGE_NUMBERS];   /* a hash of its name; 0: unknown */
    _Atomic uint8_t triggers[METHOD_PAGE_NUMBERS]; /* agent/bytecode/watched_methods.c */
};

extern _Atomic(struct method_page *) method_pages[METHOD_PAGES]
    __attribute__((visibility("hidden")));

/* Returns a number for a method that is being rewritten; 0: none are left. */
uint32_t method_new_number(void);
/* Same, by the method's name; `loader` distinguishes class loaders. Not for classes of which a
 * loader may have several with one name. */
uint32_t method_number_of(uint64_t loader, const char *class_name, const char *method_name,
                          const char *descriptor);

/* Sets the name of a new number's method, with which the method found on the stack is compared. */
void method_name_number(uint32_t number, const char *class_name, const char *method_name,
                        const char *descriptor);

/* Registers a probe in Java, which is between a method and its native probe. */
void method_called_through(jmethodID probe);
/* Called at the first use of a number: returns the entry of the method on the stack that called its
 * probe. 0: it is not traced, or not visible, as the JVM hides the frames of a virtual thread that
 * changes its carrier. */
uint64_t method_find(struct session *session, uint32_t number);

/* Returns NULL if there is no such number. */
static inline struct method_page *method_page_of(uint32_t number)
{
    return atomic_load_explicit(&method_pages[number / METHOD_PAGE_NUMBERS % METHOD_PAGES],
                                memory_order_relaxed);
}

/* Returns the place of the number's entry, or NULL if there is no such number. */
static inline _Atomic uint64_t *method_known(uint32_t number)
{
    struct method_page *page = method_page_of(number);
    return page != NULL ? &page->methods[number % METHOD_PAGE_NUMBERS] : NULL;
}

/* Returns the method's entry in the session's dictionary; 0: it is not traced. Called by its own
 * probe. */
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

/* Sets the method of a number if it cannot be seen on the stack. Returns false if it is not
 * traced. */
bool method_know(struct session *session, uint32_t number, jmethodID method);
/* The class of a method that has been called: a local reference or NULL, and its number in the
 * session's dictionary. */
jclass method_declaring_class(uint32_t number);
uint64_t method_class_of(struct session *session, uint32_t number);

#endif
