/* SPDX-License-Identifier: Apache-2.0 */
/* What exists already when a trace starts. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "agent/base/tracer.h"

void snapshot_take(struct session *session, JNIEnv *jni);

#endif
