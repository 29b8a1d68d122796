/* SPDX-License-Identifier: Apache-2.0 */
/* The JVM's start and death, which begin and end the trace of an agent that was loaded with it. */
#ifndef AGENT_SESSION_VM_LIFE_H
#define AGENT_SESSION_VM_LIFE_H

#include "agent/base/tracer.h"

/* Before a session: calls engine_prepare() for these options, with the callbacks of the VM's start
 * and death. */
bool vm_life_prepare_engine(const struct options *options);
/* At load: creates the session that begins when the VM is initialised. Returns false on failure. */
bool vm_life_prepare_session(void);

#endif
