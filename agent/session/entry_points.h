/* SPDX-License-Identifier: Apache-2.0 */
/* What the JVM calls when it starts and ends. */
#ifndef AGENT_SESSION_ENTRY_POINTS_H
#define AGENT_SESSION_ENTRY_POINTS_H

#include "agent/base/tracer.h"

/* Before a session: engine_prepare() for these options, with the callbacks of the VM's life. */
bool entry_points_prepare(const struct options *options);

#endif
