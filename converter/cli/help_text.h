/* SPDX-License-Identifier: Apache-2.0 */
/* Prints help in lines that fit a terminal of 80 columns. */
#ifndef CONVERTER_CLI_HELP_TEXT_H
#define CONVERTER_CLI_HELP_TEXT_H

#include <stddef.h>

/* Prints a text and ends its last line.  The cursor is at column `indent`, where the lines that
 * follow begin, too.  Lines of the text are joined and broken anew, except those that begin with a
 * space, such as the rows of a table. */
void help_print_text(const char *text, size_t indent);

#endif
