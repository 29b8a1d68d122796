/* SPDX-License-Identifier: Apache-2.0 */
/* Policy for HotSpot internals, that is, for what the agent uses beyond JVMTI and JNI. It records
 * which ones the options and the JVM allow, which were used, and why the others were not
 * (docs/hotspot-internals.md). Each has a fallback. */
#ifndef AGENT_BASE_INTERNALS_H
#define AGENT_BASE_INTERNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* enumerator, name in options and traces */
#define INTERNALS(X)                                                                               \
    X(FRAMES, "frames")       /* machine frames, read with the JVM's tables */                     \
    X(ARCHIVE, "archive")     /* classes in the CDS archive */                                     \
    X(TAN, "tan")             /* probes in place of Math.tan()'s routine */                        \
    X(SIGHT, "sight")         /* objects passed to leaf calls by Unsafe's copying */               \
    X(HASH, "hash")           /* the state that identity hashes are drawn from */                  \
    X(NATIVES, "natives")     /* stubs before native methods */                                    \
    X(DEFINE, "define")       /* ClassLoader.defineClass0() */                                     \
    X(REFLECT, "reflect")     /* native methods of Class */                                        \
    X(SLOTS, "slots")         /* what the JVM stores where a reference points to */                \
    X(HEADERS, "headers")     /* class and length from an object's header */                       \
    X(RECYCLE, "recycle")     /* reuse of the references of dead objects */                        \
    X(FIELDS, "fields")       /* field offsets in field identifiers */                             \
    X(COUNTERS, "counters")   /* bytes that threads have allocated, by the management functions */ \
    X(BOXES, "boxes")         /* the flag by which C2 removes boxes */                             \
    X(EDEN, "eden")           /* the objects in eden, and the threads' buffers there */            \
    X(SURVIVORS, "survivors") /* the objects that a young collection has moved, and their ages */

enum internal {
#define INTERNAL_ENUMERATOR(name, text) INTERNAL_##name,
    INTERNALS(INTERNAL_ENUMERATOR)
#undef INTERNAL_ENUMERATOR
        INTERNAL_COUNT
};

#define INTERNALS_ALL ((UINT32_C(1) << INTERNAL_COUNT) - 1)
/* Internals that write to the JVM's memory or onto a thread's stack. Their faults appear as faults
 * of the JVM, possibly minutes later. */
#define INTERNALS_WRITES                                                                           \
    (UINT32_C(1) << INTERNAL_TAN | UINT32_C(1) << INTERNAL_SIGHT | UINT32_C(1) << INTERNAL_HASH |  \
     UINT32_C(1) << INTERNAL_NATIVES | UINT32_C(1) << INTERNAL_RECYCLE)
/* Internals that are correct only if every move of an object is announced, as collections are. */
#define INTERNALS_OF_ADDRESSES                                                                     \
    (UINT32_C(1) << INTERNAL_SIGHT | UINT32_C(1) << INTERNAL_SLOTS |                               \
     UINT32_C(1) << INTERNAL_HEADERS | UINT32_C(1) << INTERNAL_RECYCLE)
#define INTERNALS_SAFE (INTERNALS_ALL & ~INTERNALS_WRITES)
#define INTERNALS_TEXT 1024u

/* Begins a session. `allowed` has a bit for each internal that the options allow. `proven`
 * demands the thorough self-tests, as an untested JVM does, too. */
void internals_begin(uint32_t allowed, bool proven);

/* Returns true if the options and the JVM allow the internal. Records nothing; for hot paths. */
bool internal_is_allowed(enum internal internal);
/* Returns true if self-tests are to be thorough, since nothing else says that the internals work:
 * internals=proven, or an untested JVM. */
bool internals_are_to_be_proven(void);
/* Returns why this JVM never gets it, whatever the option `internals` says; NULL if it may. */
const char *internal_never_reason(enum internal internal);
/* Records the outcome: why the internal is refused, which must stay valid for ever, or NULL: it is
 * used. */
void internal_settled(enum internal internal, const char *refused);

/* Disallows INTERNALS_WRITES for the rest of the process, including later sessions. Keeps the first
 * reason, which must stay valid for ever. Any thread. The engine ends writes in progress
 * (end_writes in agent/events/engine.h). */
void internals_switch_off_writes(const char *reason);
/* Returns that reason, or NULL if the writes were not switched off. */
const char *internals_writes_fault(void);

/* Writes the decisions so far, such as "tan hash; not archive (the JVM uses none), ...". */
void internals_describe(char text[INTERNALS_TEXT]);

/* Also keeps that description up to date in `text` from now on; NULL ends it. */
void internals_publish(char *text);

#endif
