/* SPDX-License-Identifier: Apache-2.0 */
/* A text with the texts that it includes put in their places, and where each line came from. */
#ifndef FORMAT_LANGUAGE_DL_INCLUDE_H
#define FORMAT_LANGUAGE_DL_INCLUDE_H

#include "format/language/dl_tree.h"

/* Reads `path` into the arena.  NULL with `error`. */
const char *dl_read_file(struct step_arena *arena, const char *path, size_t *length,
                         struct step_error *error);

/* Fills parse->expansion; faults are reported, and what is at fault left out.  False: memory ran
 * out. */
bool dl_expand(struct dl_parse *parse, const char *text, size_t length);

#endif
