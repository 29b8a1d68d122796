/* SPDX-License-Identifier: Apache-2.0 */
/* What a later attach may ask of the agent: start, stop, flush, status. */
#ifndef AGENT_SESSION_ATTACH_COMMANDS_H
#define AGENT_SESSION_ATTACH_COMMANDS_H

#include "agent/base/tracer.h"

jint attach_command(struct options *options);

#endif
