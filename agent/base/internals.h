/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent does beyond JVMTI and JNI: which of it the options and the JVM allow, what was
 * used and why the rest was not (docs/hotspot-internals.md).  Everything has a way without it.
 */
#ifndef AGENT_BASE_INTERNALS_H
#define AGENT_BASE_INTERNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enumerator, name in options and traces, proves itself at load */
#define INTERNALS(X)                                                                               \
    X(FRAMES, "frames", false)  /* the machine's frames, read with the JVM's tables */             \
    X(ARCHIVE, "archive", true) /* the classes in the archive (CDS) */                             \
    X(TAN, "tan", true)         /* probes in the place of Math.tan()'s routine */                  \
    X(SIGHT, "sight", true)     /* objects shown to leaf calls by Unsafe's copying */              \
    X(HASH, "hash", true)       /* the words from which identity hashes are drawn */               \
    X(NATIVES, "natives", true) /* stubs before native methods */                                  \
    X(DEFINE, "define", true)   /* ClassLoader.defineClass0() */                                   \
    X(REFLECT, "reflect", true) /* native methods of Class */                                      \
    X(SLOTS, "slots", true)     /* what the JVM keeps where a reference points to */               \
    X(HEADERS, "headers", true) /* the class and the length in an object's header */               \
    X(RECYCLE, "recycle", true) /* the references of dead objects are used again */                \
    X(FIELDS, "fields", true)   /* the offsets in identifiers of fields */

enum internal {
#define INTERNAL_ENUMERATOR(name, text, proves) INTERNAL_##name,
    INTERNALS(INTERNAL_ENUMERATOR)
#undef INTERNAL_ENUMERATOR
        INTERNAL_COUNT
};

#define INTERNALS_ALL ((UINT32_C(1) << INTERNAL_COUNT) - 1)
/* Those that write into the JVM's memory, or onto a thread's stack: a fault of theirs is a fault of
 * the JVM's, minutes later. */
#define INTERNALS_WRITES                                                                           \
    (UINT32_C(1) << INTERNAL_TAN | UINT32_C(1) << INTERNAL_SIGHT | UINT32_C(1) << INTERNAL_HASH |  \
     UINT32_C(1) << INTERNAL_NATIVES | UINT32_C(1) << INTERNAL_RECYCLE)
/* Those that are right only while each move of an object is announced: as a collection is. */
#define INTERNALS_OF_ADDRESSES                                                                     \
    (UINT32_C(1) << INTERNAL_SIGHT | UINT32_C(1) << INTERNAL_SLOTS |                               \
     UINT32_C(1) << INTERNAL_HEADERS | UINT32_C(1) << INTERNAL_RECYCLE)
#define INTERNALS_SAFE (INTERNALS_ALL & ~INTERNALS_WRITES)
#define INTERNALS_TEXT 1024u

/* Before a session: what its options allow, a bit for each; `proven`: only what proves itself in
 * this JVM, as where the JDK is none of those that the rest was tested with. */
void internals_begin(uint32_t allowed, bool proven);

/* Whether it may be tried; if not, why is recorded. */
bool internal_try(enum internal internal);
/* The same, nothing recorded: for hot paths. */
bool internal_is_allowed(enum internal internal);
/* It must prove itself even where it was tested. */
bool internals_are_to_be_proven(void);
/* What came of it; the reason lives for ever. */
void internal_used(enum internal internal);
void internal_refused(enum internal internal, const char *reason);

/* Disallows INTERNALS_WRITES for the rest of the process, in sessions to come too; the first reason
 * is kept, and lives for ever.  Any thread.  What runs already is the engine's to end (end_writes
 * in agent/events/engine.h). */
void internals_switch_off_writes(const char *reason);
/* That reason; NULL: they were not switched off. */
const char *internals_writes_fault(void);

/* "tan hash; not archive (the JVM uses none), ...": what was decided so far. */
void internals_describe(char text[INTERNALS_TEXT]);

/* From now on the text is kept up to date there, too; NULL: no more. */
void internals_publish(char *text);

#endif
