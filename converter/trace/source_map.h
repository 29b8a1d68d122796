/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attribute SourceDebugExtension of a class (JSR 45, "SMAP"): which lines of a class file are
 * lines of other source files.  Compilers of Kotlin, Scala and JSP write it, for code that they put
 * into a class from elsewhere.  Only the map's default stratum is used.
 */
#ifndef CONVERTER_TRACE_SOURCE_MAP_H
#define CONVERTER_TRACE_SOURCE_MAP_H

#include "converter/cli/stack_text.h"

struct source_map;

/* Parses the text, which has to live as long as the map.  NULL: it is not a source map that can be
 * used, or memory ran out; lines then stay as they are. */
struct source_map *source_map_create(struct step_bytes text);
void source_map_destroy(struct source_map *map); /* NULL is ignored */
/* Sets line and file of a place.  It stays as it is if the map (NULL: there is none) does not have
 * the line. */
void source_map_find(const struct source_map *map, struct frame_place *place);

#endif
