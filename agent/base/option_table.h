/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the agent, a row each: parsing, help and faults all go by it. */
#ifndef AGENT_BASE_OPTION_TABLE_H
#define AGENT_BASE_OPTION_TABLE_H

#include "agent/base/option_values.h"

#define OPTION_FILE_DEFAULT "steptrace-%p.step"

struct option {
    const char *key;
    const char *values;
    const char *fallback;
    const char *meaning;
    /* Faults are logged and counted. */
    void (*set)(struct option_parse *parse, const char *key, const char *value);
    bool shared; /* with the recorder of native programs; the rest are of Java only */
};

extern const struct option option_table[];
extern const size_t option_count;

/* Sets what stands in `text`: `key=value` and commands, cut at these separators.  Faults are logged
 * and counted. */
void options_parse_text(struct option_parse *parse, char *text, const char *separators);

#endif
