/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a verb's option table with another printer than its help. */
#include "converter/verbs/explain_verbs.h"

void explain_verb(const struct verb *verb, arguments_printer print)
{
    static char word[] = "--help";
    char *arguments[] = {word, NULL};
    arguments_print_with(print);
    verb->run(1, arguments);
    arguments_print_with(arguments_print_help);
}
