/* SPDX-License-Identifier: Apache-2.0 */
/* What the JVM's threads have allocated, by its own counters, and their open allocation buffers.
 * All but eden_threads_ended() is called while the program stands still. */
#ifndef AGENT_HOTSPOT_EDEN_THREADS_H
#define AGENT_HOTSPOT_EDEN_THREADS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of memory. */
struct eden_span {
    uintptr_t from, to;
};

struct eden_threads {
    uint64_t bytes;          /* all threads, those that have ended included, have allocated */
    struct eden_span *rests; /* of open buffers: no objects there; by address */
    size_t rest_count;
    /* Buffers that were closed since the last reading, each with a filler. Of JVMs whose fillers
     * have no classes of their own. */
    uint64_t fillers, filler_bytes;
    bool fillers_are_known;
};

/* Begins anew: forgets all threads. */
void eden_threads_begin(void);
/* Reads all threads. `collected`: there was a collection since the last reading, which closes all
 * buffers and begins their statistics anew. Returns false if out of memory. */
bool eden_threads_read(struct eden_threads *out, bool collected);
/* While the program stands still: finds where a thread, by its number in Java, has its JNIEnv.
 * Returns false if there is no such thread. */
bool eden_threads_find(int64_t number, const JNIEnv *jni);
/* Call in a thread that ends: keeps what it has allocated. */
void eden_threads_ended(JNIEnv *jni, jthread thread);

#endif
