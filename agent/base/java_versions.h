/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that depends on the version of the JDK. Properties that can be queried from the JVM
 * are queried (agent/base/internals.h). */
#ifndef AGENT_BASE_JAVA_VERSIONS_H
#define AGENT_BASE_JAVA_VERSIONS_H

/* The oldest supported JDK: JVMTI 11, and java.base as the agent expects it. */
#define JAVA_OLDEST 17
/* All tests were run with these JDKs. Only there are internals without a self-test used. */
#define JAVA_TESTED                                                                                \
    {                                                                                              \
        17, 21, 25, 26, 27                                                                         \
    }
#define JAVA_NEWEST_TESTED 27
/* Serial and Parallel also announce the collections of class histograms and heap dumps. */
#define JAVA_ANNOUNCES_ALL 25
/* Once its end has begun, the JVM sends no event except VMDeath (JDK-8355631). */
#define JAVA_SILENT_AT_DEATH 26
/* ZGC is always generational. */
#define JAVA_ZGC_IS_GENERATIONAL 24

/* Where the JVM has the flag LockingMode, it says how an object's header shows that it is locked.
 * Before, by the lock's address; where the flag is gone again, by two bits. */
#define JAVA_LOCKS_BY_FLAG 21
/* Monitors are always found by a table, never by an address in an object's header; before, the flag
 * UseObjectMonitorTable says it, where there is one. */
#define JAVA_MONITORS_IN_TABLE 28
/* Virtual threads and their events. */
#define JAVA_VIRTUAL_THREADS 21
/* What fills gaps in the heap has classes of its own; before, it is int[] or java.lang.Object. */
#define JAVA_NAMES_FILLERS 20
/* The first version in which tagging an object draws an identity hash, tags are looked up by that
 * hash, and classes of the CDS archive contain resolved calls. */
#define JAVA_TAGS_BY_HASH 18
/* Linking a class draws an identity hash for its mirror, on 25 to 28. On 21 the mirror gets one
 * when it is requested; 22 to 24 are untested. */
#define JAVA_LINKS_WITH_HASH 25
/* Threads that exist before sampling is enabled also sample what they allocate in buffers that they
 * already had: on 25 to 28, not on 17 and 21; 22 to 24 are untested. */
#define JAVA_SAMPLES_ALL 25
/* Value classes, whose objects have no identity (with --enable-preview). */
#define JAVA_VALUE_CLASSES 28
/* Continuations: frames of a virtual thread may be in the heap. */
#define JAVA_CONTINUATIONS 19
/* A virtual thread's timed wait needs no classes while the thread changes its carrier: on 25 to 28,
 * not on 21; 22 to 24 are untested. */
#define JAVA_WAITS_OPENLY 25
/* JVMTI returns a thread's own frames without waiting (agent/base/jvm_classes.h). */
#define JAVA_OWN_FRAMES_AT_ONCE 22
/* Numbers in the debug information of compiled code contain no zero byte. */
#define JAVA_NUMBERS_WITHOUT_ZERO 20

#endif
