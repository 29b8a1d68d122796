/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent takes of the program's time: processor time of the agent's own threads, and how
 * long it stops the program. guards.c compares both with max-cpu= and max-pause=. Any thread. */
#ifndef AGENT_BASE_OWN_SHARE_H
#define AGENT_BASE_OWN_SHARE_H

#include <stdint.h>

/* What stops the program, in words for messages. */
#define OWN_STOPS(X)                                                                               \
    X(NONE, "nothing")                                                                             \
    X(COLLECTION, "its work in a collection")                                                      \
    X(FORCED, "a collection that it asked for")                                                    \
    X(HEAP, "a walk of the heap")                                                                  \
    X(CLASSES, "a change of classes")

enum own_stop {
#define OWN_STOP(name, text) OWN_STOP_##name,
    OWN_STOPS(OWN_STOP)
#undef OWN_STOP
        OWN_STOP_COUNT
};

/* The calling thread is one of the agent's until it says that it ends. More threads than the agent
 * has at a time are not counted before they end. */
void own_share_thread_begins(void);
void own_share_thread_ends(void);
/* Adds processor time of the agent in a thread of the program. */
void own_share_add(uint64_t ns);
/* Returns all processor time until now. A thread that is ending may be missing for a moment. */
uint64_t own_share_ns(void);

/* Notes for how long the agent has stopped the program. */
void own_share_stopped(enum own_stop stop, uint64_t ns);

/* A call of the JVM that stops the program for a part of its time. */
struct own_call {
    uint64_t from_ns, collected_ns;
};
struct own_call own_share_calls(void);
/* Notes the call's time, without that of collections meanwhile, for which it waited. It may have
 * waited for the program to stand still, too: this is the most that the agent can have stopped it.
 */
void own_share_called(enum own_stop stop, const struct own_call *call);
/* The same, where it is known for how long the program stood still in the call. */
void own_share_called_for(enum own_stop stop, const struct own_call *call, uint64_t ns);

/* In a pause, where a collection begins, and where it ends. Pauses may be nested. */
void own_share_collection_begins(void);
void own_share_collection_ends(void);
/* Returns how long the program has stood still for collections that were announced. */
uint64_t own_share_collected_ns(void);

/* Returns the longest one since the last call, and sets *stop. */
uint64_t own_share_take_stop(enum own_stop *stop);
const char *own_stop_text(enum own_stop stop);

#endif
