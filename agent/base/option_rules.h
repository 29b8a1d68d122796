/* SPDX-License-Identifier: Apache-2.0 */
/* Constraints between options. */
#ifndef AGENT_BASE_OPTION_RULES_H
#define AGENT_BASE_OPTION_RULES_H

#include "agent/base/option_values.h"

/* Logs and counts contradictions, then applies implied options. */
void option_rules_apply(struct option_parse *parse);

/* Returns true if engine=jvmti may replace engine=bytecode: the user named no engine, and no option
 * that needs engine=bytecode. */
bool option_rules_allow_jvmti(const struct options *options);

#endif
