/* SPDX-License-Identifier: Apache-2.0 */
/* Options as they are written: `key=value` and commands, with commas between or in a file. */
#ifndef AGENT_BASE_OPTION_TEXT_H
#define AGENT_BASE_OPTION_TEXT_H

#include "agent/base/option_values.h"

/* Sets what stands in `text`, which is cut at its separators.  Faults are logged and counted. */
void option_text_parse(struct option_parse *parse, char *text, const char *separators);
/* The same with a file: separated by commas or white space, # begins a comment. */
void option_text_parse_file(struct option_parse *parse, const char *key, const char *path);

#endif
