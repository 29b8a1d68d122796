/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of start= and stop=, by the numbers of their probes. */
#ifndef AGENT_BYTECODE_WATCHED_METHODS_H
#define AGENT_BYTECODE_WATCHED_METHODS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

enum trigger { TRIGGER_START = 1, TRIGGER_STOP = 2 };

/* Actions of the triggers. */
struct watch_actions {
    void (*entered)(JNIEnv *jni, unsigned triggers);
    void (*left)(unsigned triggers);
};

/* Sets the actions, once, before such methods have probes; `actions` must stay valid. */
void watched_methods_act(const struct watch_actions *actions);
/* Marks probes with this number, of method_new_number(), as those of such a method, in this
 * session. */
void watched_method_add(uint32_t number, unsigned triggers);
/* Removes all triggers; when a session begins or is armed. */
void watched_methods_forget(void);
/* Called first in a method with probes, before its entry is recorded; may begin the trace. */
void watched_method_entered(JNIEnv *jni, uint32_t number);
/* Called last in such a method, after its exit was recorded; may end the trace. */
void watched_method_left(uint32_t number);

#endif
