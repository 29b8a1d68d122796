/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The class file rewriter: puts calls to the probes into the methods of a class.
 *
 * Pure functions over bytes: no JVM, no global state, no locks, nothing printed; any number of
 * threads may rewrite at once.  A class file is hostile input: it is checked as far as it is used.
 *
 * The probes are static methods of PROBE_CLASS, which the agent defines in the boot loader
 * (probe_class_file()) and whose native methods it registers before the first rewritten class runs.
 * Where they are called:
 *
 * - alloc(Object): a new object, each once: last thing in Object.<init>, after newarray and
 *   anewarray, after calls whose result the VM makes (alloc_call.h lists them); may be null where
 *   the callee returned null.
 * - allocCloned(Object,Object): after clone() of a class that may have its own: the object that it
 *   was called of, its result.  It is new, and nobody has reported it, if the first one's class has
 *   Object's clone().
 * - allocSuperCloned(Object,Object): the same after super.clone(); there the superclass of the
 *   calling class decides.
 * - allocUnless(Object,Object): the first is new unless it is the second.
 * - allocString(Object): a new string and its array.
 * - allocTrace(Object): a throwable whose native fillInStackTrace(int) has given it new arrays.
 * - allocMessage(Object,Object): a throwable, and what the constructor Throwable(String) got, which
 *   is new if the VM calls it.
 * - allocArrays(Object,int): an array of arrays and all sub-arrays of that many dimensions (1: only
 *   the array itself).
 * - entry(int): first thing in a static method; its number is request->method_number().
 * - entryThis(int,Object): first thing in an instance method.
 * - entryNew(int): first thing in a constructor (`this` may not be passed on yet).
 * - superCall(int): in a constructor, before its super() or this() is called; what runs from there
 *   on until it returns is the construction of the same object.
 * - entrySuper(int): entryNew() and superCall() in one, where nothing that runs code of any other
 *   method lies between them.
 * - constructed(int,Object): in a constructor, directly after its super() or this() returned; null
 *   in the odd class file that keeps `this` in no local variable.
 *   Where the request says that nobody asks for the object, entry(int) takes the place of all these
 *   but constructed(), and there is none of that.
 * - exit(int): before each return instruction.
 * - unwind(int): an exception leaves the method (which then throws it on).
 * - caught(int): first thing in each exception handler of a method with a number: what this method
 *   called is gone.
 * - call(int): before each return instruction of a leaf method, if the request says so
 *   (leaf_method.c says which are): it is entered, and left at once; callUnwind(int): an exception
 *   leaves it.  It has no entry(), exit() or unwind().
 * - storeField(Object,Object,int): after putfield of a reference: the object, what was stored, the
 *   field's number, request->field_number(); storeStatic(Object,int): after putstatic;
 *   storeElement(Object,int,Object): after aastore: array, index, what was stored.
 * - storeClone(Object,Object): after a clone() that is Object's for sure: what was cloned, the new
 *   object, which nobody has reported.
 * - storeCopy(Object,Object,int): after Arrays.copyOf() and copyOfRange() with a class: the new
 *   array, the old one, the first index.
 * - storeRange(Object,int,Object,int,int): after System.arraycopy() of references, through
 *   copied(), which is not native.
 * - storeOffset(Object,long,Object), storeSet(boolean,Object,long,Object),
 *   storeExchanged(Object,Object,Object,long,Object): after methods of Unsafe: holder, offset, what
 *   was stored, with what compareAndSet() said, or what compareAndExchange() found and wanted.
 * - storesOf(Object), storesOfElements(Object), storesOfStatics(Object): after native methods that
 *   store into an object, into the elements of an array, into static fields of a class.
 *   keep(Object)             before toString() of a StringBuilder or StringBuffer; does nothing,
 * but C2 takes a builder whose uses it knows all out of the code, and makes the string and its
 * array without a constructor; not native
 *
 * What caught() and unwind() throw is dropped: see struct guard in method_code.h.
 *
 * What an exception thrown by or before super() leaves has no unwind(): the verifier lets no
 * handler cover that part of a constructor.  Whoever keeps a shadow stack closes such a frame
 * (entryNew() without constructed()) when the next caught(), unwind() or exit() of a frame below it
 * comes.  The same rule closes frames whose probes could not run because the stack was full, and
 * that of Object.<init>, which has no unwind().  There the order is entryNew, alloc, constructed,
 * exit.
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
    X(STORES_OF_STATICS, "storesOfStatics", "(Ljava/lang/Object;)V")

enum probe {
#define PROBE_NAME(name, text, descriptor) PROBE_##name,
    PROBE_METHODS(PROBE_NAME)
#undef PROBE_NAME
        PROBE_COUNT,
    PROBE_KEEP = PROBE_COUNT, /* keep(Object), in Java */
    PROBE_COPIED,             /* copied(Object,int,Object,int,int): storeRange(), in Java */
    PROBES_CALLED             /* how many there are to call */
};

/* What a method does without; the last one has all probes, and is not compiled. */
enum rewrite_loss { LOSS_METHOD_EVENTS, LOSS_STORES, LOSS_ALLOCATIONS, LOSS_COMPILATION };

/* Class, method and descriptor as in the class file (modified UTF-8), ended by a 0 byte. */
struct rewrite_request {
    const uint8_t *class_file;
    size_t size_bytes;
    bool alloc, method; /* which probes */
    bool references;    /* of stores of references, too */
    bool nameless;      /* instance methods get entry(): nobody asks for their object */
    bool leaf;          /* leaf methods get call(): where no objects are traced at all */
    bool apart;         /* methods with a number are made too large to be inlined by C2 */
    /* The JVM compiles no larger method: one that probes would make larger goes without those of
     * its events, if it is small enough then.  0: it compiles all. */
    uint32_t compiled_bytes;
    /* The number that a method's probes pass; 0: no method probes in it.  Called once for each
     * method with code, in the order of the class file.  Needed where `method` is set. */
    uint32_t (*method_number)(void *context, const char *class_name, const char *method_name,
                              const char *descriptor, uint16_t access_flags);
    /* The number that a store into this field passes, once for each constant of a field; `owner` as
     * the class file has it, which may be a class below the one that declares it.  Used where
     * `references` is set; NULL: all are 0. */
    uint32_t (*field_number)(void *context, const char *owner, const char *name,
                             const char *descriptor, bool is_static);
    /* Called for each method that stays without probes though it should have some, because it would
     * be too large or is written in a way that can't be changed: first without those of its
     * events, then of its stores, at last not even those of its allocations; NULL: nobody asks. */
    void (*left_alone)(void *context, const char *class_name, const char *method_name,
                       const char *descriptor, const char *reason, enum rewrite_loss loss);
    void *context;
};

enum rewrite_result {
    REWRITE_CHANGED,     /* *out is the new class file */
    REWRITE_UNCHANGED,   /* nothing to put in */
    REWRITE_MALFORMED,   /* not a class file that a JVM would take */
    REWRITE_UNSUPPORTED, /* newer than this rewriter, or its tables are full */
    REWRITE_NO_MEMORY
};

struct rewrite_error {
    size_t offset; /* in the class file */
    char message[96];
};

/*
 * Rewrites one class.  REWRITE_CHANGED: *out, *out_bytes are the result, which the caller frees
 * with free(); otherwise *out is NULL, *out_bytes 0, and the class stays as it is.  `error` may be
 * NULL; it is filled for all results but the first two.
 */
enum rewrite_result class_rewrite(const struct rewrite_request *request, uint8_t **out,
                                  size_t *out_bytes, struct rewrite_error *error);

/*
 * A copy, of the same size, of a class that the JVM has loaded already, without those NaN constants
 * that nothing in it refers to: see nan_constants.c.  The caller frees it with free().  NULL: there
 * are none, or it is no class file, or no memory.
 */
uint8_t *class_without_spare_nans(const uint8_t *class_file, size_t size_bytes);

/* What probes in Java may count on: leaf calls, and that these can be shown objects. */
#define PROBES_LEAF 1u
#define PROBES_SHOW 2u     /* with PROBES_LEAF only: objects of methods */
#define PROBES_SHOW_NEW 4u /* the same: new objects */

/*
 * The class file of PROBE_CLASS; the caller frees it with free().  NULL: out of memory.  Its
 * methods are native, but with PROBES_LEAF the probes that have a number and nothing else
 * (LEAF_PROBES) are in Java: each calls Math.tan() with a NaN whose bits are its number and
 * leaf_bits(), and its native method only if the answer is not 0.  With PROBES_SHOW those that
 * have a number and an object (SHOW_PROBES) do so as well, after they have called show() of
 * PROBE_SIGHT_FIELD with both, where it is not NULL; with PROBES_SHOW_NEW alloc(), with number 0.
 */
uint8_t *probe_class_file(unsigned ways, size_t *size_bytes);
/* What the native method of a probe is called there. */
const char *probe_native_name(enum probe probe, unsigned ways);

/* A hidden class of PROBE_CLASS's kind and Unsafe's nest: its show() has Unsafe copy no byte from
 * the object to the address that the number is.  As above. */
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

/* A quiet NaN: the tag, which probe, the method's number. */
#define LEAF_NUMBER_BITS 27u
#define LEAF_TAG_SHIFT 31u
#define LEAF_TAG UINT64_C(0x1fffab7d3)

static inline uint64_t leaf_bits(enum leaf_probe probe)
{
    return LEAF_TAG << LEAF_TAG_SHIFT | (uint64_t) probe << LEAF_NUMBER_BITS;
}

/* Newest class file version that is known (JDK 28).  A newer one is read as this one; what is in it
 * that this one does not have is not taken for anything known: REWRITE_UNSUPPORTED. */
#define REWRITE_NEWEST_VERSION 72

#endif
