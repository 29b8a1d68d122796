/* SPDX-License-Identifier: Apache-2.0 */
/* Holds facts about classes without probes that are found before their session is published: a
 * gentle session changes the loaded classes before that. */
#ifndef AGENT_BYTECODE_HELD_FACTS_H
#define AGENT_BYTECODE_HELD_FACTS_H

#include "agent/base/tracer.h"

/* Facts are held from now on. */
void held_facts_begin(void);
/* Arguments as of fact_not_probed(). Returns false if no facts are held, or this one cannot be. */
bool held_facts_add(const char *class_name, const char *method_name, const char *descriptor,
                    const char *reason, uint64_t missing);
/* Records them in the session, or drops them if it is NULL. Facts are not held any more. */
void held_facts_end(struct session *session);

#endif
