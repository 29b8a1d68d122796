/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the calling thread's own frames with JVMTI.
 *
 * On JDK 19 to 21, a call that passes NULL for the current thread waits until no virtual thread of
 * the process changes its carrier. That is for ever if the caller itself changes it, in a probe of
 * VirtualThread's own methods. On these JDKs the thread is passed explicitly; then the call waits
 * for that thread only. */
#ifndef AGENT_BASE_OWN_FRAMES_H
#define AGENT_BASE_OWN_FRAMES_H

#include <jvmti.h>

/* Calls GetStackTrace(). Returns the number of frames, 0 if the JVM returns none. */
jint own_frames(jint first, jint most, jvmtiFrameInfo *frames);
/* Calls GetFrameLocation(). Returns the method, or NULL. */
jmethodID own_frame_method(jint depth);
/* Calls GetLocalInstance() for the innermost frame. Returns a local reference, or NULL. */
jobject own_frame_object(void);

#endif
