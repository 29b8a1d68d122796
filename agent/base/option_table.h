/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the agent's options, which drives parsing, help and error messages. */
#ifndef AGENT_BASE_OPTION_TABLE_H
#define AGENT_BASE_OPTION_TABLE_H

#include "agent/base/option_values.h"

#define OPTION_FILE_DEFAULT "steptrace-%p.step"

struct option {
    const char *key;
    const char *values;
    const char *fallback;
    const char *meaning;
    /* Logs and counts faults. */
    void (*set)(struct option_parse *parse, const char *key, const char *value);
    bool shared; /* also for recorders of native programs, not only for Java */
};

extern const struct option option_table[];
extern const size_t option_count;

/* Parses `key=value` pairs and commands in `text`, which are separated by any of `separators`, and
 * modifies `text`. Logs and counts faults. */
void options_parse_text(struct option_parse *parse, char *text, const char *separators);

/* Constraints between options. */

/* Logs and counts contradictions, then applies implied options. */
void option_rules_apply(struct option_parse *parse);

/* Returns true if engine=jvmti may replace engine=bytecode: the user named no engine, and no option
 * that needs engine=bytecode. */
bool option_rules_allow_jvmti(const struct options *options);

#endif
