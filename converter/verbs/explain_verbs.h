/* SPDX-License-Identifier: Apache-2.0 */
/* Generates shell completion and man pages from the option tables of the verbs. */
#ifndef CONVERTER_VERBS_EXPLAIN_VERBS_H
#define CONVERTER_VERBS_EXPLAIN_VERBS_H

#include "converter/verbs/verb.h"

/* Makes the verb print its option table with `print` instead of its help. */
void explain_verb(const struct verb *verb, arguments_printer print);

/* Prints a completion script for "bash", "zsh" or "fish" on standard output.  Returns false for
 * other shells. */
bool completion_print(const char *shell);

/* Prints a man page (mdoc) of the verb: NAME, SYNOPSIS, DESCRIPTION and OPTIONS. */
void manual_print(const struct verb *verb);

#endif
