/* SPDX-License-Identifier: Apache-2.0 */
/* Masks what looks like a secret in a command line, before it is written into a trace. */
#ifndef CAPTURE_SECRETS_H
#define CAPTURE_SECRETS_H

#include <stddef.h>

/* `text` has words, separated by `separator` (0 or a space), and a 0 byte after `length` bytes.
 * Replaces by *** in place, and returns the new length:
 * - the rest of a word from the value of a secret's name on (password, token, authorization, names
 *   that end with key..): -Ddb.password=x, --api-key=x, ?a=1&token=x, {"token":"x"};
 * - the word after an option of such a name, after "Authorization:" and "Bearer": --password x;
 * - the password of a URL: jdbc://user:x@host;
 * - the same within an argument that has blanks, and, where blanks separate the arguments, all
 *   words up to the closing quote of a value, and up to the next option.
 * What it masks too much (-Dsort.key=name) costs a word of a property. It allocates nothing. */
size_t secrets_mask(char *text, size_t length, char separator);

#endif
