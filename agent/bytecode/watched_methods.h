/* SPDX-License-Identifier: Apache-2.0 */
/* The methods of start= and stop=, by the numbers that their probes pass. */
#ifndef AGENT_BYTECODE_WATCHED_METHODS_H
#define AGENT_BYTECODE_WATCHED_METHODS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

enum trigger { TRIGGER_START = 1, TRIGGER_STOP = 2 };

/* What they set off. */
struct watch_actions {
    void (*entered)(JNIEnv *jni, unsigned triggers);
    void (*left)(unsigned triggers);
};

/* Once, before the first of them has probes; `actions` stay. */
void watched_methods_act(const struct watch_actions *actions);
/* The probes with this number belong to such a method, in this session; false: the table is full.
 */
bool watched_method_add(uint32_t number, unsigned triggers);
/* A session begins, or is armed: no method sets anything off. */
void watched_methods_forget(void);
/* First thing in a method with probes, before its entry is recorded; may begin the trace. */
void watched_method_entered(JNIEnv *jni, uint32_t number);
/* Last thing in it, after its exit was recorded; may end the trace. */
void watched_method_left(uint32_t number);

#endif
