/* SPDX-License-Identifier: Apache-2.0 */
/* engine=bytecode. */
#ifndef AGENT_BYTECODE_ENGINE_BYTECODE_H
#define AGENT_BYTECODE_ENGINE_BYTECODE_H

#include "agent/events/engine.h"

extern const struct engine engine_bytecode;

#endif
