/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last words: what an engine has to add to a trace when no probe finds its session any more.  They
 * need JNI, which the drain thread does not have; so a Java thread of the agent's says them, while
 * the drain thread goes on to drain.  Where it does not come in time, the trace ends without.
 */
#ifndef AGENT_EVENTS_LAST_WORDS_H
#define AGENT_EVENTS_LAST_WORDS_H

#include "agent/base/tracer.h"

/* The drain thread's: before no probe finds the session any more, and after that when it waits for
 * them no longer, said or not. */
void last_words_expect(const struct session *session);
void last_words_end(struct session *session);
/* The drain thread's, again and again until it is true: they are said, or there are none.  The
 * first call asks for them. */
bool last_words_are_said(struct session *session);
/* Says them, if a session waits for them; any Java thread may call this at any time. */
void last_words_say(JNIEnv *jni);
/* A thread of which they have to speak is about to end: says them, or waits until they are said.
 * False: that took too long, and what the agent keeps of the thread must stay. */
bool last_words_pass(JNIEnv *jni, uint64_t session);

#endif
