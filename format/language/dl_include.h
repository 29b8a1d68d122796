/* SPDX-License-Identifier: Apache-2.0 */
/* Expansion of includes in a definition's text, with the origin of each line. */
#ifndef FORMAT_LANGUAGE_DL_INCLUDE_H
#define FORMAT_LANGUAGE_DL_INCLUDE_H

#include "format/language/dl_tree.h"

/* Reads `path` into the arena.  Returns NULL and fills `error` on failure. */
const char *dl_read_file(struct step_arena *arena, const char *path, size_t *length,
                         struct step_error *error);

/* Fills parse->expansion.  Faulty includes are reported and left out.  Returns false if memory runs
 * out. */
bool dl_expand(struct dl_parse *parse, const char *text, size_t length);

#endif
