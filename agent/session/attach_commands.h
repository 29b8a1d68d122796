/* SPDX-License-Identifier: Apache-2.0 */
/* What a later attach may ask of the agent: start, stop, flush, status. */
#ifndef ATTACH_COMMANDS_H
#define ATTACH_COMMANDS_H

#include "agent/base/tracer.h"

jint attach_command(struct options *options);

#endif
