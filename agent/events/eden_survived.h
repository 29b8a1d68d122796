/* SPDX-License-Identifier: Apache-2.0 */
/* What a young collection has left of the objects of a walk, by class, and all survivors by class
 * and age. Called while the program stands still, between eden_rows_clear() and the next one. */
#ifndef AGENT_EVENTS_EDEN_SURVIVED_H
#define AGENT_EVENTS_EDEN_SURVIVED_H

#include "agent/events/eden_rows.h"
#include "agent/hotspot/eden_spaces.h"
#include "agent/hotspot/eden_survivors.h"

/* Of a class. */
struct survived_class {
    uint64_t objects[OBJECT_AGES], bytes[OBJECT_AGES]; /* by age; [0]: moved into the old space
                                                        * when they were in eden */
    uint64_t outside_objects, outside_bytes; /* were allocated outside of eden, and live */
    bool is_unclear; /* of [0] it is not known whether they were in eden, or the JVM's */
};

/* Begins: nothing has survived. */
void eden_survived_begin(void);
/* Before the collection and its walk: returns whether what the last collection has
 * put into the survivor space still has its age. Biased locks of JDK 17, and a walk of references
 * there by another agent (JVMTI's FollowReferences), take ages away; then objects would be taken
 * for those of eden. */
bool eden_survived_have_ages(void);
/* Before the collection: takes what was allocated outside of eden. Returns false if out of memory.
 */
bool eden_survived_take_outside(const struct eden_piece *pieces, size_t count);
/* After it: counts all that has survived. Returns false if what is there is no object, or not as
 * old as it should be, or if out of memory. */
bool eden_survived_count(const struct eden_survivors *survivors);
/* Returns what has survived of a class; NULL: nothing. */
const struct survived_class *eden_survived_of(const struct eden_row *row);

#endif
