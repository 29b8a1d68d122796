/* SPDX-License-Identifier: Apache-2.0 */
/* What shells and man pages want to know of the verbs: all of it out of their tables of options. */
#ifndef CONVERTER_VERBS_EXPLAIN_VERBS_H
#define CONVERTER_VERBS_EXPLAIN_VERBS_H

#include "converter/verbs/verb.h"

/* Lets the verb show its table in this way, and not as help. */
void explain_verb(const struct verb *verb, arguments_printer print);

/* The script that completes command lines in "bash", "zsh" or "fish", on standard output; false:
 * there is none for that shell. */
bool completion_print(const char *shell);

/* A man page (mdoc) of the verb: NAME, SYNOPSIS, DESCRIPTION and OPTIONS. */
void manual_print(const struct verb *verb);

#endif
