/* SPDX-License-Identifier: Apache-2.0 */
/* The start snapshot: records everything that exists when a trace starts. */
#ifndef AGENT_RECORDS_SNAPSHOT_H
#define AGENT_RECORDS_SNAPSHOT_H

#include "agent/base/tracer.h"

void snapshot_take(struct session *session, JNIEnv *jni);

#endif
