/* SPDX-License-Identifier: Apache-2.0 */
/* What options ask of each other. */
#ifndef AGENT_BASE_OPTION_RULES_H
#define AGENT_BASE_OPTION_RULES_H

#include "agent/base/option_values.h"

/* Adds what some options imply; what contradicts is logged and counted. */
void option_rules_apply(struct option_parse *parse);

#endif
