/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to an agent in a running JVM: start, stop, flush, status, snapshot. */
#ifndef AGENT_SESSION_ATTACH_COMMANDS_H
#define AGENT_SESSION_ATTACH_COMMANDS_H

#include "agent/base/tracer.h"

jint attach_command(struct options *options);
/* Begins a trace. Java threads only. */
jint attach_start(struct options *options);

#endif
