/* SPDX-License-Identifier: Apache-2.0 */
/* What options ask of each other. */
#ifndef AGENT_BASE_OPTION_RULES_H
#define AGENT_BASE_OPTION_RULES_H

#include "agent/base/option_values.h"

/* Adds what some options imply; what contradicts is logged and counted. */
void option_rules_apply(struct option_parse *parse);

/* Whether engine=jvmti may take the place of engine=bytecode: the latter was not asked for, and
 * nothing was that needs it. */
bool option_rules_allow_jvmti(const struct options *options);

#endif
