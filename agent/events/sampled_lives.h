/* SPDX-License-Identifier: Apache-2.0 */
/* engine=sampled: the objects whose deaths are awaited, live= of them at most.
 *
 * Each sample draws a lot, a number below 2^53, and is awaited if that is below a threshold, which
 * is 2^53 at first. If there is one object too many, the one with the largest lot is given up, and
 * its lot is the threshold from then on. When half of them have died, the threshold doubles. So an
 * object's death is known with the probability (least threshold during its life) / 2^53, whatever
 * its class and age: readers divide by it (converter/trace/sample_weights.h). Objects that are
 * given up, and changes of the threshold, are recorded. */
#ifndef AGENT_EVENTS_SAMPLED_LIVES_H
#define AGENT_EVENTS_SAMPLED_LIVES_H

#include "agent/base/tracer.h"

/* Before events are enabled. Returns false if out of memory. */
bool sampled_lives_begin(struct session *session);
/* Awaits the death of a tagged object, or gives it up. */
void sampled_lives_add(struct session *session, JNIEnv *jni, jobject object, uint64_t id);
/* Between event_frees_enter() and event_frees_leave(): the object is dead. Returns true if that was
 * awaited. */
bool sampled_lives_take(const struct session *session, uint64_t id);
/* After events were disabled: removes all tags and references. Java threads only. */
void sampled_lives_end(void);
/* The same if the next file of rotate= begins soon: all objects stay awaited. */
void sampled_lives_pause(const struct session *session);
/* Returns true between these files: then they are awaited until the next one begins, or the end. */
bool sampled_lives_are_paused(void);

#endif
