/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that depends on the number of a JDK.  What a JVM does or has is asked of it where it can be
 * (agent/base/internals.h); this is what cannot be asked.
 */
#ifndef AGENT_BASE_JAVA_VERSIONS_H
#define AGENT_BASE_JAVA_VERSIONS_H

/* JVMTI 11 and what the agent expects of java.base. */
#define JAVA_OLDEST 17
/* All tests were run with these: what cannot be proven at load is used there. */
#define JAVA_TESTED                                                                                \
    {                                                                                              \
        17, 21, 25, 26, 27                                                                         \
    }
#define JAVA_NEWEST_TESTED 27
/* Serial and Parallel announce the collections of class histograms and heap dumps, too. */
#define JAVA_ANNOUNCES_ALL 25
/* The JVM sends no event but VMDeath from the beginning of its end on (JDK-8355631). */
#define JAVA_SILENT_AT_DEATH 26
/* ZGC has no mode without generations. */
#define JAVA_ZGC_IS_GENERATIONAL 24

/* Virtual threads and their events. */
#define JAVA_VIRTUAL_THREADS 21
/* The first in which an object that is tagged draws an identity hash, tags are found by that, and
 * classes of the CDS archive come with calls that are resolved already. */
#define JAVA_TAGS_BY_HASH 18
/* A class is linked with an identity hash for its mirror: so on 25 to 28, not on 21, where the
 * mirror gets one when it is asked for; 22 to 24 were not tried. */
#define JAVA_LINKS_WITH_HASH 25
/* Threads that exist before sampling is on sample what they allocate in buffers that they had then:
 * so on 25 to 28, not on 17 and 21; 22 to 24 were not tried. */
#define JAVA_SAMPLES_ALL 25
/* With --enable-preview: value classes, whose objects have no identity. */
#define JAVA_VALUE_CLASSES 28
/* Continuations: frames of a virtual thread may lie in the heap. */
#define JAVA_CONTINUATIONS 19
/* A virtual thread's wait with a time limit needs no classes while the thread changes its carrier:
 * so on 25 to 28, not on 21; 22 to 24 were not tried. */
#define JAVA_WAITS_OPENLY 25
/* Of its own frames JVMTI tells a thread at once (agent/base/own_frames.h). */
#define JAVA_OWN_FRAMES_AT_ONCE 22
/* Numbers in debugging information of compiled code have no byte that is 0. */
#define JAVA_NUMBERS_WITHOUT_ZERO 20

#endif
