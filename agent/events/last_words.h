/* SPDX-License-Identifier: Apache-2.0 */
/* Last words: records that an engine adds when no probe finds the session any more. They need JNI,
 * which the drain thread does not have. A Java thread of the agent therefore writes them while the
 * drain thread continues to drain. If that takes too long, the trace ends without them. */
#ifndef AGENT_EVENTS_LAST_WORDS_H
#define AGENT_EVENTS_LAST_WORDS_H

#include "agent/base/tracer.h"

/* Called by the drain thread: last_words_expect() before probes cease to find the session, and
 * last_words_end() when it no longer waits for the last words. */
void last_words_expect(const struct session *session);
void last_words_end(struct session *session);
/* Called by the drain thread until it returns true: they are written, or there are none. The first
 * call requests them. */
bool last_words_are_said(struct session *session);
/* Writes them if a session waits for them. Any Java thread, at any time. */
void last_words_say(JNIEnv *jni);
/* Called when a thread that they mention is about to end: writes them, or waits until they are
 * written. Returns false if that took too long; then the agent's state of the thread must be
 * kept. */
bool last_words_pass(JNIEnv *jni, uint64_t session);

#endif
