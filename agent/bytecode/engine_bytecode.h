/* SPDX-License-Identifier: Apache-2.0 */
/* engine=bytecode. */
#ifndef ENGINE_BYTECODE_H
#define ENGINE_BYTECODE_H

#include "agent/events/engine.h"

extern const struct engine engine_bytecode;

#endif
