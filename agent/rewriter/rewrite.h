/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class file rewriter: inserts calls of probes into the methods of a class.
 *
 * Pure functions over bytes: no JVM, no global state, no locks, no output.  Any number of threads
 * may rewrite at the same time.  A class file is hostile input: it is checked as far as it is used.
 *
 * The probes are static methods of PROBE_CLASS, which the agent defines in the boot loader
 * (probe_class_file()) and whose native methods it registers before the first rewritten class runs.
 * Where they are called:
 *
 * - alloc(Object): a new object, each once: at the end of Object.<init>, after newarray and
 *   anewarray, after calls whose result the VM makes (alloc_call.c lists them); null if the callee
 *   returned null.
 * - allocCloned(Object,Object): after clone() of a class that may have its own: the cloned object
 *   and the result, which is new and not reported yet if the cloned object's class has Object's
 *   clone().
 * - allocSuperCloned(Object,Object): the same after super.clone(); there the superclass of the
 *   calling class decides.
 * - allocUnless(Object,Object): the first is new unless it is the second.
 * - allocString(Object): a new string and its array.
 * - allocTrace(Object): a throwable whose native fillInStackTrace(int) has given it new arrays.
 * - allocMessage(Object,Object): a throwable, and what the constructor Throwable(String) got, which
 *   is new if the VM calls it.
 * - allocArrays(Object,int): an array of arrays and all sub-arrays of that many dimensions (1: only
 *   the array itself).
 * - entry(int): at the start of a static method; its number is request->method_number().
 * - entryThis(int,Object): at the start of an instance method.
 * - entryNew(int): at the start of a constructor (`this` must not be passed on yet).
 * - superCall(int): in a constructor, before its super() or this() is called; all code until that
 *   returns constructs the same object.
 * - entrySuper(int): entryNew() and superCall() in one, if no code of another method runs between
 *   them.
 * - constructed(int,Object): in a constructor, directly after its super() or this() returned; null
 *   in the rare class file that keeps `this` in no local variable.
 *   With request->nameless, entry(int) replaces the other entry probes and superCall(), and
 *   constructed() is omitted.
 * - exit(int): before each return instruction.
 * - unwind(int): an exception leaves the method (which then rethrows it).
 * - caught(int): at the start of each exception handler of a method with a number: the calls that
 *   this method made have ended.
 * - call(int): before each return instruction of a leaf method, with request->leaf
 *   (method_scan.c selects them): entry and exit at once; callUnwind(int): an exception
 *   leaves it.  It has no entry(), exit() or unwind().
 * - storeField(Object,Object,int): after putfield of a reference: the object, the stored value, the
 *   field's number, request->field_number(); storeStatic(Object,int): after putstatic;
 *   storeElement(Object,int,Object): after aastore: array, index, stored value.
 * - storeClone(Object,Object): after a clone() that is certainly Object's: the cloned object, and
 *   the new one, which is not reported yet.
 * - storeCopy(Object,Object,int): after Arrays.copyOf() and copyOfRange() with a class: the new
 *   array, the old one, the first index.
 * - storeRange(Object,int,Object,int,int): after System.arraycopy() of references, through
 *   copied(), which is not native.
 * - storeOffset(Object,long,Object), storeSet(boolean,Object,long,Object),
 *   storeExchanged(Object,Object,Object,long,Object): after methods of Unsafe: holder, offset,
 *   stored value, and the result of compareAndSet(), or the found and the expected value of
 *   compareAndExchange().
 * - storesOf(Object), storesOfElements(Object), storesOfStatics(Object): after native methods that
 *   store into an object, into the elements of an array, into static fields of a class.
 * - phaseEntry(int), phaseExit(int), phaseUnwind(int), phaseCaught(int): the same four with
 *   request->phases; in a constructor, phaseEntry() comes after super() or this().
 * - phaseEntryOf(int,Object): in place of phaseEntry() if the number names a local variable.
 * - keep(Object): before toString() of a StringBuilder or StringBuffer; not native, and does
 *   nothing.  Without it, C2 removes a builder if it knows all its uses, and creates the string and
 *   its array without a constructor.
 *
 * Exceptions that caught() and unwind() throw are dropped: see struct guard in method_code.h.
 *
 * A constructor that an exception leaves before or in super() has no unwind(): the verifier allows
 * no handler for that part.  A shadow stack closes such a frame (entryNew() without constructed())
 * at the next caught(), unwind() or exit() of a frame below it.  The same rule closes frames whose
 * probes could not run because the stack was full, and that of Object.<init>, which has no
 * unwind().  There the order is entryNew, alloc, constructed, exit.
 */
#ifndef AGENT_REWRITER_REWRITE_H
#define AGENT_REWRITER_REWRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_CLASS "java/lang/StepTraceProbe"

/* Name and descriptor of each probe, in the order of enum probe. */
#define PROBE_METHODS(X)                                                                           \
    X(ALLOC, "alloc", "(Ljava/lang/Object;)V")                                                     \
    X(ALLOC_CLONED, "allocCloned", "(Ljava/lang/Object;Ljava/lang/Object;)V")                      \
    X(ALLOC_SUPER_CLONED, "allocSuperCloned", "(Ljava/lang/Object;Ljava/lang/Object;)V")           \
    X(ALLOC_UNLESS, "allocUnless", "(Ljava/lang/Object;Ljava/lang/Object;)V")                      \
    X(ALLOC_STRING, "allocString", "(Ljava/lang/Object;)V")                                        \
    X(ALLOC_TRACE, "allocTrace", "(Ljava/lang/Object;)V")                                          \
    X(ALLOC_MESSAGE, "allocMessage", "(Ljava/lang/Object;Ljava/lang/Object;)V")                    \
    X(ALLOC_ARRAYS, "allocArrays", "(Ljava/lang/Object;I)V")                                       \
    X(ENTRY, "entry", "(I)V")                                                                      \
    X(ENTRY_THIS, "entryThis", "(ILjava/lang/Object;)V")                                           \
    X(ENTRY_NEW, "entryNew", "(I)V")                                                               \
    X(ENTRY_SUPER, "entrySuper", "(I)V")                                                           \
    X(SUPER, "superCall", "(I)V")                                                                  \
    X(CONSTRUCTED, "constructed", "(ILjava/lang/Object;)V")                                        \
    X(EXIT, "exit", "(I)V")                                                                        \
    X(UNWIND, "unwind", "(I)V")                                                                    \
    X(CAUGHT, "caught", "(I)V")                                                                    \
    X(CALL, "call", "(I)V")                                                                        \
    X(CALL_UNWIND, "callUnwind", "(I)V")                                                           \
    X(STORE_FIELD, "storeField", "(Ljava/lang/Object;Ljava/lang/Object;I)V")                       \
    X(STORE_STATIC, "storeStatic", "(Ljava/lang/Object;I)V")                                       \
    X(STORE_ELEMENT, "storeElement", "(Ljava/lang/Object;ILjava/lang/Object;)V")                   \
    X(STORE_CLONE, "storeClone", "(Ljava/lang/Object;Ljava/lang/Object;)V")                        \
    X(STORE_COPY, "storeCopy", "(Ljava/lang/Object;Ljava/lang/Object;I)V")                         \
    X(STORE_RANGE, "storeRange", "(Ljava/lang/Object;ILjava/lang/Object;II)V")                     \
    X(STORE_OFFSET, "storeOffset", "(Ljava/lang/Object;JLjava/lang/Object;)V")                     \
    X(STORE_SET, "storeSet", "(ZLjava/lang/Object;JLjava/lang/Object;)V")                          \
    X(STORE_EXCHANGED, "storeExchanged",                                                           \
      "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;JLjava/lang/Object;)V")              \
    X(STORES_OF, "storesOf", "(Ljava/lang/Object;)V")                                              \
    X(STORES_OF_ELEMENTS, "storesOfElements", "(Ljava/lang/Object;)V")                             \
    X(STORES_OF_STATICS, "storesOfStatics", "(Ljava/lang/Object;)V")                               \
    X(PHASE_ENTRY, "phaseEntry", "(I)V")                                                           \
    X(PHASE_ENTRY_OF, "phaseEntryOf", "(ILjava/lang/Object;)V")                                    \
    X(PHASE_EXIT, "phaseExit", "(I)V")                                                             \
    X(PHASE_UNWIND, "phaseUnwind", "(I)V")                                                         \
    X(PHASE_CAUGHT, "phaseCaught", "(I)V")

enum probe {
#define PROBE_NAME(name, text, descriptor) PROBE_##name,
    PROBE_METHODS(PROBE_NAME)
#undef PROBE_NAME
        PROBE_COUNT,
    PROBE_KEEP = PROBE_COUNT, /* keep(Object), in Java */
    PROBE_COPIED,             /* copied(Object,int,Object,int,int): storeRange(), in Java */
    PROBES_CALLED             /* how many there are to call */
};

/* The probes that a method is left without. With the last one it has all, and is not compiled. */
enum rewrite_loss { LOSS_METHOD_EVENTS, LOSS_STORES, LOSS_ALLOCATIONS, LOSS_COMPILATION };

/* With request->phases: a method's number has 1 + the local variable that phaseEntryOf() passes, of
 * the first four, in its low bits; 0: phaseEntry(). */
#define PHASE_VARIABLE_BITS 3u
#define PHASE_VARIABLE_MASK ((1u << PHASE_VARIABLE_BITS) - 1)

/* Class, method and descriptor are as in the class file (modified UTF-8), with a terminating 0. */
struct rewrite_request {
    const uint8_t *class_file;
    size_t size_bytes;
    bool alloc, method; /* which probes */
    bool references;    /* also probes of reference stores */
    bool nameless;      /* instance methods get entry(): their objects are not recorded */
    bool leaf;          /* leaf methods get call(); only if no objects are traced */
    bool phases;        /* the probes of phases, and no others; `method` and `nameless` are set */
    bool apart;         /* methods with a number are made too large for C2 to inline */
    /* The JVM compiles no larger method: one that probes would make larger gets no event probes, if
     * it is small enough then. 0: the JVM compiles all. */
    uint32_t compiled_bytes;
    /* Returns the number that a method's probes pass; 0: no method probes. Called once for each
     * method with code, in the order of the class file. Required if `method` is set. */
    uint32_t (*method_number)(void *context, const char *class_name, const char *method_name,
                              const char *descriptor, uint16_t access_flags);
    /* Returns the number that a store into this field passes. Called once for each constant of a
     * field; `owner` is as in the class file, which may be a subclass of the declaring class. Used
     * if `references` is set; NULL: all are 0. */
    uint32_t (*field_number)(void *context, const char *owner, const char *name,
                             const char *descriptor, bool is_static);
    /* Called for each method that stays without some probes because it would be too large or cannot
     * be changed: first without those of its events, then of its stores, and finally of its
     * allocations. May be NULL. */
    void (*left_alone)(void *context, const char *class_name, const char *method_name,
                       const char *descriptor, const char *reason, enum rewrite_loss loss);
    /* Called for each method without line numbers that gets probes, and each constructor that
     * creates an object of its own class, with the length of its new code (or that of the old).
     * `places` has varints for each instruction of the old code, in its order: how far behind that
     * of the instruction before it and its probes begin in the new code; twice its size; if that is
     * odd it calls a constructor, and the third says how far before it the `new` is. May be NULL.
     */
    void (*places)(void *context, const char *class_name, const char *method_name,
                   const char *descriptor, uint32_t code_bytes, const uint8_t *places, size_t size);
    void *context;
};

enum rewrite_result {
    REWRITE_CHANGED,     /* *out is the new class file */
    REWRITE_UNCHANGED,   /* there are no probes to add */
    REWRITE_MALFORMED,   /* not a class file that a JVM would accept */
    REWRITE_UNSUPPORTED, /* newer than this rewriter, or its tables are full */
    REWRITE_NO_MEMORY
};

struct rewrite_error {
    size_t offset; /* in the class file */
    char message[96];
};

/* Rewrites one class. REWRITE_CHANGED: *out and *out_bytes are the result, which the caller frees
 * with free(). Otherwise *out is NULL, *out_bytes is 0, and the class stays as it is. `error` may
 * be NULL; it is set for all results but the first two. */
enum rewrite_result class_rewrite(const struct rewrite_request *request, uint8_t **out,
                                  size_t *out_bytes, struct rewrite_error *error);

/* Returns a copy, of the same size, of a class that the JVM has already loaded, without NaN
 * constants to which nothing in it refers: see nan_constants.c. The caller frees it with free().
 * NULL: there are none, it is not a class file, or out of memory. */
uint8_t *class_without_spare_nans(const uint8_t *class_file, size_t size_bytes);

/* Features that probes in Java may use: leaf calls, and that objects can be shown to these. */
#define PROBES_LEAF 1u
#define PROBES_SHOW 2u     /* only with PROBES_LEAF: objects of methods */
#define PROBES_SHOW_NEW 4u /* same: new objects */

/* Returns the class file of PROBE_CLASS, which the caller frees with free(). NULL: out of memory.
 * Its methods are native. With PROBES_LEAF, those with only a number (LEAF_PROBES) are in Java:
 * each calls Math.tan() with a NaN whose bits are its number and leaf_bits(), and its native method
 * if the result is not 0. With PROBES_SHOW, so do those with a number and an object (SHOW_PROBES),
 * after they have called show() of PROBE_SIGHT_FIELD with both, unless it is NULL; with
 * PROBES_SHOW_NEW also alloc(), with number 0. */
uint8_t *probe_class_file(unsigned ways, size_t *size_bytes);
/* Returns the name of a probe's native method in that class. */
const char *probe_native_name(enum probe probe, unsigned ways);

/* Returns the class file, to be freed like the one above, of a hidden subclass of PROBE_CLASS in
 * Unsafe's nest. Its show() lets Unsafe copy zero bytes from the object to the address that is the
 * number. */
uint8_t *sight_class_file(size_t *size_bytes);
#define SIGHT_CLASS "jdk/internal/misc/StepTraceSight"
#define SIGHT_HOST "jdk/internal/misc/Unsafe"
#define PROBE_SIGHT_FIELD "sight"
#define SIGHT_METHOD "show"
#define SIGHT_DESCRIPTOR "(Ljava/lang/Object;J)V"

/* Probe, name of its native method. */
#define LEAF_PROBES(X)                                                                             \
    X(ENTRY, "entryAside")                                                                         \
    X(EXIT, "exitAside")                                                                           \
    X(CALL, "callAside")                                                                           \
    X(ENTRY_NEW, "entryNewAside")                                                                  \
    X(ENTRY_SUPER, "entrySuperAside")
#define SHOW_PROBES(X)                                                                             \
    X(ENTRY_THIS, "entryThisAside")                                                                \
    X(CONSTRUCTED, "constructedAside")
#define SHOW_NEW_PROBES(X) X(ALLOC, "allocAside")

enum leaf_probe {
#define LEAF_PROBE_NAME(name, aside) LEAF_##name,
    LEAF_PROBES(LEAF_PROBE_NAME) SHOW_PROBES(LEAF_PROBE_NAME) SHOW_NEW_PROBES(LEAF_PROBE_NAME)
#undef LEAF_PROBE_NAME
        LEAF_PROBE_COUNT
};

/* A quiet NaN: the tag, the probe, the method's number. */
#define LEAF_NUMBER_BITS 27u
#define LEAF_TAG_SHIFT 31u
#define LEAF_TAG UINT64_C(0x1fffab7d3)

static inline uint64_t leaf_bits(enum leaf_probe probe)
{
    return LEAF_TAG << LEAF_TAG_SHIFT | (uint64_t) probe << LEAF_NUMBER_BITS;
}

/* The newest known class file version (JDK 28). A newer one is read like this one; if it contains
 * anything unknown, the result is REWRITE_UNSUPPORTED. */
#define REWRITE_NEWEST_VERSION 72

#endif
