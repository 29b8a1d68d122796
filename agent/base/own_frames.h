/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling thread's own frames, as JVMTI has them.
 *
 * JDK 19 to 21 let a call that names the thread NULL wait until no virtual thread of the process
 * changes its carrier: for ever, where the caller itself does, in a probe of VirtualThread's own
 * methods.  There the thread is named, which waits for none but that thread.
 */
#ifndef AGENT_BASE_OWN_FRAMES_H
#define AGENT_BASE_OWN_FRAMES_H

#include <jvmti.h>

/* GetStackTrace(); how many there are, 0 where the JVM has none. */
jint own_frames(jint first, jint most, jvmtiFrameInfo *frames);
/* GetFrameLocation(): the method; NULL: none. */
jmethodID own_frame_method(jint depth);
/* GetLocalInstance() of the innermost frame; NULL: none. */
jobject own_frame_object(void);

#endif
